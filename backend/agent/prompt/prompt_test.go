package prompt

import (
	"strings"
	"testing"
	"time"
)

func TestTheModeIsTold(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for mode, want := range map[string]bool{"plan": true, "ask": false, "full": false} {
		for _, own := range []string{"", "You are brief."} {
			text := System(own, "/home/ann/work", mode, now)
			if strings.Contains(text, "The mode is Plan") != want || !strings.Contains(text, "Sunday, 1 March 2026") || !strings.Contains(text, "/home/ann/work") {
				t.Errorf("%s with %q: %s", mode, own, text)
			}
		}
	}
}
