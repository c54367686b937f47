package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/llm"
)

func secure(t *testing.T) (*httptest.Server, string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(okReply)) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are what is tested
	s.StartTLS()
	t.Cleanup(s.Close)
	sum := sha256.Sum256(s.Certificate().Raw)
	return s, hex.EncodeToString(sum[:])
}

func TestAnUnknownCertificateIsRefusedWithItsFingerprint(t *testing.T) {
	s, print := secure(t)
	_, err := New(Options{BaseURL: s.URL}).Stream(t.Context(), ask("hi"), nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Unreachable || e.Retryable || e.Certificate != print || !strings.Contains(e.Hint, print) {
		t.Errorf("got %+v, want the fingerprint %s", e, print)
	}
}

func TestAnAcceptedCertificateIsThatOneOnly(t *testing.T) {
	s, print := secure(t)
	with := strings.ToUpper(print[:2]) + ":" + print[2:]
	if _, err := New(Options{BaseURL: s.URL, Network: Network{Fingerprint: with}}).Stream(t.Context(), ask("hi"), nil); err != nil {
		t.Error(err)
	}
	other := strings.Repeat("0", 64)
	_, err := New(Options{BaseURL: s.URL, Network: Network{Fingerprint: other}}).Stream(t.Context(), ask("hi"), nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Certificate != print {
		t.Errorf("got %v, want a refusal naming %s", err, print)
	}
}

func TestAnExtraCAFileIsTrusted(t *testing.T) {
	s, _ := secure(t)
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{BaseURL: s.URL, Network: Network{CAFile: path}}).Stream(t.Context(), ask("hi"), nil); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{path + ".none", os.Args[0]} {
		_, err := New(Options{BaseURL: s.URL, Network: Network{CAFile: bad}}).Stream(t.Context(), ask("hi"), nil)
		var e *llm.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, bad) || e.Hint == "" {
			t.Errorf("%s: got %v, want it named", bad, err)
		}
	}
}

func TestAProxyIsUsedButNeverForThisMachine(t *testing.T) {
	for _, c := range []struct{ setting, env string }{{"http://proxy.test:3128", ""}, {"", "http://proxy.test:3128"}} {
		t.Setenv("HTTPS_PROXY", c.env)
		choose, err := proxyFor(c.setting)
		if err != nil {
			t.Fatal(err)
		}
		for address, want := range map[string]string{
			"https://api.example.com/v1": "http://proxy.test:3128", "http://127.0.0.1:11434/v1": "", "https://localhost:1/v1": "", "http://[::1]:8080/v1": "",
		} {
			u, _ := url.Parse(address)
			got, err := choose(&http.Request{URL: u})
			text := ""
			if got != nil {
				text = got.String()
			}
			if err != nil || text != want {
				t.Errorf("setting %q, environment %q: %s goes by %q, %v; want %q", c.setting, c.env, address, text, err, want)
			}
		}
	}
	_, err := New(Options{BaseURL: "http://192.0.2.1/v1", Network: Network{Proxy: "nonsense"}}).Stream(t.Context(), ask("hi"), nil)
	var e *llm.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "proxy") {
		t.Errorf("got %v", err)
	}
}

func TestRequestsToARemoteServerGoThroughTheProxy(t *testing.T) {
	var asked string
	proxy := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		_, _ = w.Write([]byte(okReply))
	})
	if _, err := New(Options{BaseURL: "http://models.test/v1", Network: Network{Proxy: proxy}}).Stream(t.Context(), ask("hi"), nil); err != nil || asked != "http://models.test/v1/chat/completions" {
		t.Errorf("the proxy was asked for %q, %v", asked, err)
	}
}
