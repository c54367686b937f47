package browser_test

import (
	"os"
	"testing"

	"gofer/backend/browser/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }
