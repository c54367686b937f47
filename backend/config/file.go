package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"gofer/backend/fault"
	"gofer/backend/home"
)

// File is the settings file of a home. It is safe for use by several
// goroutines; only the host of the home may save.
type File struct {
	path string
	now  func() time.Time

	mu       sync.Mutex
	settings Settings
	extra    map[string]json.RawMessage // fields of a later version, kept as they are
	notices  []*fault.Fault
}

// Open reads the settings. A missing file means defaults. A file that cannot
// be read as settings is moved aside, never overwritten, and a notice says
// where it is; so is a value that makes no sense, which counts as its default.
func Open(path string) (*File, error) {
	f := &File{path: path, now: time.Now, settings: Defaults()}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Broken, fmt.Sprintf("The settings file %s cannot be read.", path), "Make it readable for you.", err)
	}
	settings, extra, err := parse(raw)
	if err != nil {
		return f, f.setAside(err)
	}
	f.extra = extra
	mended := settings
	for _, problem := range settings.problems(&mended) {
		f.notices = append(f.notices, fault.New(fault.Broken, "A setting in "+path+" makes no sense and counts as unset. "+problem, "Correct it in the settings."))
	}
	f.settings = mended
	return f, nil
}

func (f *File) setAside(cause error) error {
	aside := f.path + ".broken-" + f.now().Format("20060102-150405.000")
	if err := os.Rename(f.path, aside); err != nil {
		return fault.Wrap(fault.Broken, fmt.Sprintf("The settings file %s is broken (%v) and cannot be moved aside.", f.path, cause),
			"Move it away or repair it.", err)
	}
	f.notices = append(f.notices, fault.Wrap(fault.Broken, fmt.Sprintf("The settings file was broken (%v), so the defaults are in use.", cause),
		"It was kept as "+aside+".", cause))
	return nil
}

// Parse reads settings without touching a file. What is wrong with them is a
// fault.
func Parse(raw []byte) (Settings, error) {
	s, _, err := parse(raw)
	if err != nil {
		return Defaults(), fault.Wrap(fault.Broken, fmt.Sprintf("The settings file is broken (%v).", err),
			"Repair it, or start Gofer: it keeps the file aside and takes the defaults.", err)
	}
	return s, s.Validate()
}

// parse reads settings over the defaults and keeps the fields it does not know.
func parse(raw []byte) (Settings, map[string]json.RawMessage, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")) // some editors on Windows put it there
	if len(bytes.TrimSpace(raw)) == 0 {
		return Settings{}, nil, errors.New("it is empty")
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &all); err != nil {
		return Settings{}, nil, err
	}
	if all == nil {
		return Settings{}, nil, errors.New("it holds no object")
	}
	s := Defaults()
	if err := json.Unmarshal(raw, &s); err != nil {
		return Settings{}, nil, err
	}
	for field := range all {
		if slices.ContainsFunc(fields, func(known string) bool { return strings.EqualFold(known, field) }) {
			delete(all, field)
		}
	}
	return s, all, nil
}

// fields are the names Settings has in the file.
var fields = func() []string {
	var names []string
	for f := range reflect.TypeFor[Settings]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// Settings returns the settings as they are now.
func (f *File) Settings() Settings {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settings.clone()
}

// Notices says what was wrong with the file when it was opened.
func (f *File) Notices() []*fault.Fault { return f.notices }

// Path is where the settings lie.
func (f *File) Path() string { return f.path }

// Save checks the settings and writes them. When either fails, both the file
// and what Settings returns stay as they were.
func (f *File) Save(s Settings) error {
	return f.Change(func(now *Settings) error { *now = s; return nil })
}

// Change lets edit change the current settings and saves the outcome, with
// nobody else in between.
func (f *File) Change(edit func(*Settings) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.settings.clone()
	if err := edit(&s); err != nil {
		return err
	}
	if err := s.Validate(); err != nil {
		return err
	}
	raw, err := f.marshal(s)
	if err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	if err := home.WriteFile(f.path, raw, 0o600); err != nil {
		return fault.Wrap(fault.Unavailable, "The settings were not saved: "+f.path+" cannot be written.",
			"Look at the folder's permissions and the free space, then save again.", err)
	}
	f.settings = s.clone()
	return nil
}

// marshal writes the known fields in their order and the unknown ones after
// them, sorted.
func (f *File) marshal(s Settings) ([]byte, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if len(f.extra) > 0 {
		more, err := json.Marshal(f.extra)
		if err != nil {
			return nil, err
		}
		raw = append(append(raw[:len(raw)-1], ','), more[1:]...)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (s Settings) clone() Settings {
	s.Providers = slices.Clone(s.Providers)
	for i := range s.Providers {
		s.Providers[i] = s.Providers[i].clone()
	}
	s.Routes = slices.Clone(s.Routes)
	for i := range s.Routes {
		s.Routes[i].Legs = slices.Clone(s.Routes[i].Legs)
	}
	return s
}
