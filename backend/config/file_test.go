package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gofer/backend/fault"
)

func TestAMissingFileMeansDefaults(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "settings.json"))
	if got, want := f.Settings(), Defaults(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n := f.Notices(); len(n) != 0 {
		t.Errorf("notices: got %v, want none", n)
	}
}

func TestSavedSettingsComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	f := open(t, path)
	want := Defaults()
	want.Theme = "dark"
	want.Providers = []Provider{{ID: "a", Name: "A", BaseURL: "http://127.0.0.1:9/v1", Model: "m", Models: []string{"m", "n"}}}
	want.DefaultProvider = "a"
	if err := f.Save(want); err != nil {
		t.Fatal(err)
	}
	for _, got := range []Settings{f.Settings(), open(t, path).Settings()} {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	info, _ := os.Stat(path)
	if got, want := info.Mode().Perm(), os.FileMode(0o600); got != want {
		t.Errorf("permissions: got %o, want %o", got, want)
	}
}

func TestABrokenFileIsKeptAside(t *testing.T) {
	for name, text := range map[string]string{
		"cut":        `{"theme": "da`,
		"not json":   "hello",
		"empty":      "",
		"null":       "null",
		"list":       "[]",
		"wrong type": `{"zoom": "big"}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "settings.json")
			write(t, path, text)
			f := open(t, path)
			if got, want := f.Settings(), Defaults(); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want the defaults", got)
			}
			if n := f.Notices(); len(n) != 1 || n[0].Code != fault.Broken || !strings.Contains(n[0].Hint, ".broken-") {
				t.Fatalf("notices: got %v, want one that names the copy", n)
			}
			if err := f.Save(Defaults()); err != nil {
				t.Fatal(err)
			}
			kept, _ := filepath.Glob(path + ".broken-*")
			if len(kept) != 1 {
				t.Fatalf("copies: got %v, want one", kept)
			}
			if raw, _ := os.ReadFile(kept[0]); string(raw) != text {
				t.Errorf("copy: got %q, want %q", raw, text)
			}
		})
	}
}

func TestASenselessValueCountsAsItsDefault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	write(t, path, `{"theme":"pink","zoom":120,"maxIterations":-3,"defaultProvider":"gone","providers":[{"id":"a"},{"id":"a"},{"id":"b","baseUrl":"ftp://x"}]}`)
	f := open(t, path)
	got := f.Settings()
	if got.Theme != "system" || got.Zoom != 120 || got.MaxIterations != 100 || got.DefaultProvider != "" || len(got.Providers) != 1 {
		t.Errorf("got %+v, want defaults for the wrong values only", got)
	}
	if got, want := len(f.Notices()), 5; got != want {
		t.Errorf("notices: got %d, want %d: %v", got, want, f.Notices())
	}
}

func TestFieldsOfALaterVersionSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	write(t, path, `{"theme":"dark","hologram":{"on":true},"aaa":[1]}`)
	f := open(t, path)
	s := f.Settings()
	s.Zoom = 110
	if err := f.Save(s); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(path)
	for _, want := range []string{`"hologram": {`, `"aaa": [`, `"zoom": 110`, `"theme": "dark"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the file lacks %s:\n%s", want, raw)
		}
	}
	if n := open(t, path).Notices(); len(n) != 0 {
		t.Errorf("read again: %v", n)
	}
}

func TestWrongSettingsAreNotSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	f := open(t, path)
	s := f.Settings()
	s.Mode = "yolo"
	err := f.Save(s)
	if got := fault.From(err); got == nil || got.Code != fault.Invalid || !strings.Contains(got.Message, `"yolo"`) {
		t.Fatalf("got %v, want an invalid fault that names the value", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file was written: %v", err)
	}
	if got := f.Settings().Mode; got != "ask" {
		t.Errorf("mode: got %s, want ask", got)
	}
}

func TestAPasswordInAnAddressIsRefused(t *testing.T) {
	s := Defaults()
	s.Providers = []Provider{{ID: "a", BaseURL: "https://me:secret@example.org/v1"}}
	if err := s.Validate(); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want a refusal that does not repeat it", err)
	}
}

func TestSettingsAreCopies(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "settings.json"))
	s := Defaults()
	s.Providers = []Provider{{ID: "a", Models: []string{"m"}}}
	if err := f.Save(s); err != nil {
		t.Fatal(err)
	}
	s.Providers[0].Models[0] = "changed"
	f.Settings().Providers[0].ID = "changed"
	if got := f.Settings().Providers[0]; got.ID != "a" || got.Models[0] != "m" {
		t.Errorf("got %+v, want it untouched", got)
	}
}

func open(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyABrowserOfThisComputerCanBeAttachedTo(t *testing.T) {
	for address, want := range map[string]bool{
		"": true, "127.0.0.1:9222": true, "localhost:9222": true, "[::1]:9222": true,
		"example.org:9222": false, "10.0.0.1:9222": false, "0.0.0.0:9222": false, "127.0.0.1": false, "localhost:0": false, "http://127.0.0.1:9222": false,
	} {
		s := Defaults()
		s.BrowserAttach = address
		if err := s.Validate(); (err == nil) != want {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestModelsAndRoutesThatMakeNoSenseAreNamed(t *testing.T) {
	for _, c := range []struct {
		change func(*Settings)
		word   string
	}{
		{func(s *Settings) { s.Providers[0].Known = []Model{{}} }, "no name"},
		{func(s *Settings) { s.Providers[0].Known = []Model{{Name: "m", Thinking: "deep"}} }, "thinking"},
		{func(s *Settings) { s.Providers[0].ActiveKey = "k" }, "key in use"},
		{func(s *Settings) { s.Routes = []Route{{ID: "r", Name: "R", Legs: []Leg{{Provider: "gone"}}}} }, "gone"},
		{func(s *Settings) { s.Routes = []Route{{ID: "r", Name: "R"}} }, "names no model"},
		{func(s *Settings) { s.DefaultRoute = "r" }, "default route"},
		{func(s *Settings) { s.Network.Proxy = "proxy.example.com" }, "proxy"},
		{func(s *Settings) { s.Budget.Day = -1 }, "budget"},
		{func(s *Settings) { s.Titles = "poet" }, "poet"},
		{func(s *Settings) { s.Computer = "toaster" }, "toaster"},
	} {
		s := Defaults()
		s.Providers = []Provider{{ID: "a"}}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		if c.change(&s); s.Validate() == nil || !strings.Contains(s.Validate().Error(), c.word) {
			t.Errorf("got %v, want a sentence with %q", s.Validate(), c.word)
		}
		mended := s
		s.problems(&mended)
		if err := mended.Validate(); err != nil {
			t.Errorf("%s: mended it is still wrong: %v", c.word, err)
		}
	}
}

func TestALegOfGreaterWeightGoesFirst(t *testing.T) {
	r := Route{Legs: []Leg{{Provider: "a"}, {Provider: "b", Weight: 200}, {Provider: "c", Off: true}, {Provider: "d"}, {Provider: "e", Weight: 1}}}
	got := ""
	for _, l := range r.Ordered() {
		got += l.Provider
	}
	if got != "bade" {
		t.Errorf("got %s, want bade", got)
	}
}

func TestTheFilterIsOnOrOff(t *testing.T) {
	for word, want := range map[string]bool{"on": true, "off": true, "": false, "maybe": false} {
		s := Defaults()
		s.BrowserFilter = word
		if err := s.Validate(); (err == nil) != want {
			t.Errorf("%q: %v", word, err)
		}
	}
	if Defaults().BrowserFilter != On {
		t.Error("it is off in a new home")
	}
}
