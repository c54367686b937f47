package preset

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"gofer/backend/llm"
)

func TestPresetsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All() {
		if p.ID == "" || p.Name == "" || seen[p.ID] {
			t.Errorf("preset %+v has no id or name of its own", p)
		}
		seen[p.ID] = true
		if p.ID == Custom {
			continue
		}
		u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(p.BaseURL))
		if err != nil || u.Host == "" || strings.HasSuffix(p.BaseURL, "/") {
			t.Errorf("%s: base URL %q", p.ID, p.BaseURL)
		}
		if local := u.Hostname() == "127.0.0.1"; !local && (u.Scheme != "https" || !p.NeedsKey || !strings.HasPrefix(p.KeyPage, "https://")) {
			t.Errorf("%s: a server on the network needs https, a key and a page for it", p.ID)
		}
		if p.Local && (len(p.Ports) == 0 || p.NeedsKey) {
			t.Errorf("%s: a local server has a port and needs no key", p.ID)
		}
	}
	if p, ok := Get("nonesuch"); ok || p.ID != Custom {
		t.Errorf("got %v, %v for an unknown id", p, ok)
	}
	if p, _ := Get("ollama"); p.Limits() != llm.LocalLimits() {
		t.Errorf("Ollama gets %v", p.Limits())
	}
}

func TestEveryNamedProviderHasAPreset(t *testing.T) {
	for _, id := range strings.Fields("openai deepseek bigmodel zai quickrouter litellm orcarouter openrouter groq mistral gemini anthropic xai moonshot dashscope azure ollama lmstudio llamacpp vllm custom") {
		if _, ok := Get(id); !ok {
			t.Errorf("there is no preset %s", id)
		}
	}
}

func TestModelsAreKnownByTheirNamesAndVariants(t *testing.T) {
	for _, c := range []struct {
		preset, name  string
		input         int
		vision, price bool
	}{
		{"openai", "gpt-5.1", 272_000, true, true},
		{"openai", "gpt-5.1-2025-11-13", 272_000, true, true},
		{"openai", "gpt-5.4-pro", 922_000, true, false},
		{"openai", "gpt-5-mini-2025-08-07", 272_000, true, true},
		{"xai", "grok-4.20-0309-reasoning", 1_000_000, true, true},
		{"openrouter", "openai/gpt-5.1", 272_000, true, false},
		{"custom", "deepseek-chat", 1_000_000, false, false},
		{"groq", "openai/gpt-oss-120b", 131_072, false, true},
		{"ollama", "qwen2.5vl:7b", 0, true, false},
		{"ollama", "qwen3:8b", 0, false, false},
	} {
		p, _ := Get(c.preset)
		f := p.Facts(c.name)
		if f.Name != c.name || f.Input != c.input || f.Vision != c.vision || (f.Price != nil) != c.price {
			t.Errorf("%s %s: got %+v", c.preset, c.name, f)
		}
	}
}

func TestLocalServersAreFoundInUnderASecond(t *testing.T) {
	port := func(h http.HandlerFunc) []int {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		_, p, _ := strings.Cut(s.Listener.Addr().String(), ":")
		n, _ := strconv.Atoi(p)
		return []int{n}
	}
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	list := []Preset{
		{ID: "web", Ports: port(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") })},
		{ID: "stuck", Ports: port(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-release:
			}
		})},
		{ID: "json", Ports: port(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"hello":1}`) })},
		{ID: "empty", Ports: port(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"object":"list","data":null}`) })},
		{ID: "good", Ports: port(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/models" {
				fmt.Fprint(w, `{"object":"list","data":[{"id":"llama"},{"id":"qwen"}]}`)
			}
		})},
		{ID: "closed", Ports: []int{1}},
	}
	started := time.Now()
	got := find(t.Context(), list)
	if took := time.Since(started); took >= time.Second {
		t.Errorf("took %s", took)
	}
	if len(got) != 2 || got[0].Preset != "empty" || got[1].Preset != "good" || strings.Join(got[1].Models, " ") != "llama qwen" {
		t.Errorf("got %+v", got)
	}
}
