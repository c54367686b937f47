package secret

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"gofer/backend/fault"
	"gofer/backend/home"
)

const key = "sk-test-0123456789abcdef"

// ring is a keychain for tests: a map that can be silent or refuse.
type ring struct {
	keys  map[string]string
	err   error
	wait  chan struct{}
	calls atomic.Int64
}

func (r *ring) before() error {
	r.calls.Add(1)
	if r.wait != nil {
		<-r.wait
	}
	return r.err
}

func (r *ring) Set(_, user, key string) error {
	if err := r.before(); err != nil {
		return err
	}
	r.keys[user] = key
	return nil
}

func (r *ring) Get(_, user string) (string, error) {
	if err := r.before(); err != nil {
		return "", err
	}
	if k, ok := r.keys[user]; ok {
		return k, nil
	}
	return "", keyring.ErrNotFound
}

func (r *ring) Delete(_, user string) error {
	if err := r.before(); err != nil {
		return err
	}
	delete(r.keys, user)
	return nil
}

func TestAKeyGoesToTheKeychain(t *testing.T) {
	h, r := newHome(t), &ring{keys: map[string]string{}}
	var seen []string
	s := Open(h, Options{Keyring: r, Seen: func(k string) { seen = append(seen, k) }})
	place, err := s.Set("openai", key)
	if err != nil || place != Keychain {
		t.Fatalf("got %s, %v, want keychain", place, err)
	}
	again := Open(h, Options{Keyring: r, Seen: func(k string) { seen = append(seen, k) }})
	check(t, again, "openai", key, Keychain, "cdef")
	if len(seen) != 2 || seen[1] != key {
		t.Errorf("keys told for redaction: got %d, want 2", len(seen))
	}
	noTrace(t, h.Dir())
	if err := again.Delete("openai"); err != nil {
		t.Fatal(err)
	}
	check(t, Open(h, Options{Keyring: r}), "openai", "", None, "")
	if len(r.keys) != 0 {
		t.Errorf("the keychain still holds %d keys", len(r.keys))
	}
}

func TestWithoutAKeychainAKeyGoesToAnEncryptedFile(t *testing.T) {
	h, r := newHome(t), &ring{err: errors.New("no such service")}
	place, err := Open(h, Options{Keyring: r}).Set("openai", key)
	if err != nil || place != File {
		t.Fatalf("got %s, %v, want file", place, err)
	}
	check(t, Open(h, Options{Keyring: r}), "openai", key, File, "cdef")
	noTrace(t, h.Dir())
	for _, name := range []string{"keys.json", "keys.key"} {
		info, err := os.Stat(filepath.Join(h.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := info.Mode().Perm(), os.FileMode(0o600); runtime.GOOS != "windows" && got != want {
			t.Errorf("%s: got %o, want %o", name, got, want)
		}
	}
}

func TestASilentKeychainCostsOneLimitOnly(t *testing.T) {
	r := &ring{wait: make(chan struct{}), err: errors.New("ended")}
	t.Cleanup(func() { close(r.wait) })
	s := Open(newHome(t), Options{Keyring: r, Limit: 20 * time.Millisecond})
	for _, id := range []string{"a", "b"} {
		if place, err := s.Set(id, key); err != nil || place != File {
			t.Fatalf("%s: got %s, %v, want file", id, place, err)
		}
	}
	if place, why := s.BestPlace(); place != File || !errors.Is(why, errSilent) {
		t.Errorf("best place: got %s, %v, want file because the keychain is silent", place, why)
	}
	if r.calls.Load() != 1 {
		t.Errorf("calls: got %d, want 1", r.calls.Load())
	}
}

func TestAKeyInASilentKeychainIsAFaultNotAMissingKey(t *testing.T) {
	h, r := newHome(t), &ring{keys: map[string]string{}}
	if _, err := Open(h, Options{Keyring: r}).Set("openai", key); err != nil {
		t.Fatal(err)
	}
	r.err = errors.New("locked")
	s := Open(h, Options{Keyring: r})
	_, err := s.Key("openai")
	if f := fault.From(err); f == nil || f.Code != fault.Unavailable || !strings.Contains(f.Message, "locked") {
		t.Fatalf("got %v, want a fault that says why", err)
	}
	if got := s.Place("openai"); got != Keychain {
		t.Errorf("place: got %s, want keychain", got)
	}
}

func TestAMissingKeyDoesNotAskTheKeychain(t *testing.T) {
	r := &ring{keys: map[string]string{}}
	check(t, Open(newHome(t), Options{Keyring: r}), "openai", "", None, "")
	if r.calls.Load() != 0 {
		t.Errorf("calls: got %d, want 0", r.calls.Load())
	}
}

func TestTheKeychainCanBeSwitchedOff(t *testing.T) {
	t.Setenv(EnvKeyring, "off")
	r := &ring{keys: map[string]string{}}
	if place, err := Open(newHome(t), Options{Keyring: r}).Set("a", key); err != nil || place != File || r.calls.Load() != 0 {
		t.Errorf("got %s, %v after %d calls, want file after none", place, err, r.calls.Load())
	}
}

func TestWhereNothingCanBeWrittenAKeyStaysInMemory(t *testing.T) {
	h := newHome(t)
	s := Open(h, Options{Keyring: &ring{err: errors.New("none")}})
	if err := os.Remove(h.Dir()); err != nil {
		t.Fatal(err)
	}
	place, err := s.Set("a", key)
	if err != nil || place != Memory {
		t.Fatalf("got %s, %v, want memory", place, err)
	}
	check(t, s, "a", key, Memory, "cdef")
}

func TestAThrowawayHomeReadsKeysAndStoresNone(t *testing.T) {
	h, r := newHome(t), &ring{err: errors.New("none")}
	if _, err := Open(h, Options{Keyring: r}).Set("a", key); err != nil {
		t.Fatal(err)
	}
	e, remove, err := h.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	s := Open(e, Options{Keyring: r})
	check(t, s, "a", key, File, "cdef")
	if place, err := s.Set("b", key); err != nil || place != Memory {
		t.Errorf("got %s, %v, want memory", place, err)
	}
	if err := s.Delete("a"); err != nil {
		t.Fatal(err)
	}
	check(t, s, "a", "", None, "")
	check(t, Open(h, Options{Keyring: r}), "a", key, File, "cdef")
}

func TestSwappedEntriesAreNotDecrypted(t *testing.T) {
	h, r := newHome(t), &ring{err: errors.New("none")}
	s := Open(h, Options{Keyring: r})
	if _, err := s.Set("a", key); err != nil {
		t.Fatal(err)
	}
	all, err := s.file.load()
	if err != nil {
		t.Fatal(err)
	}
	all["b"] = all["a"]
	if err := s.file.save(all); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Key("b"); fault.From(err) == nil || fault.From(err).Code != fault.Broken {
		t.Errorf("got %v, want a broken fault", err)
	}
}

func TestAnUnreadableIndexIsNotOverwritten(t *testing.T) {
	h := newHome(t)
	path := filepath.Join(h.Dir(), "keys.json")
	if err := os.WriteFile(path, []byte("{cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Open(h, Options{Keyring: &ring{err: errors.New("none")}})
	if place, err := s.Set("a", key); err != nil || place != Memory {
		t.Errorf("got %s, %v, want memory", place, err)
	}
	if raw, _ := os.ReadFile(path); string(raw) != "{cut" {
		t.Errorf("the file was changed to %q", raw)
	}
}

func TestAShortKeyHasNoHint(t *testing.T) {
	s := Open(newHome(t), Options{Keyring: &ring{keys: map[string]string{}}})
	if _, err := s.Set("a", "short"); err != nil {
		t.Fatal(err)
	}
	if got := s.Hint("a"); got != "" {
		t.Errorf("got %q, want none", got)
	}
}

func check(t *testing.T, s *Store, id, wantKey string, wantPlace Place, wantHint string) {
	t.Helper()
	if got := s.Place(id); got != wantPlace {
		t.Errorf("place: got %s, want %s", got, wantPlace)
	}
	if got := s.Hint(id); got != wantHint {
		t.Errorf("hint: got %q, want %q", got, wantHint)
	}
	if got, err := s.Key(id); err != nil || got != wantKey {
		t.Errorf("key: got %d bytes, %v, want %d bytes", len(got), err, len(wantKey))
	}
}

// noTrace fails when a file holds the key in a form that can be read off.
func noTrace(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, form := range []string{key, hex.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte(key))} {
			if strings.Contains(string(raw), form) {
				t.Errorf("%s holds the key", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func newHome(t *testing.T) *home.Home {
	t.Helper()
	h, err := home.Open(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}
