// Package secret keeps the keys of model providers: in the keychain of the
// operating system where there is one that answers, else in an encrypted file,
// else in memory only. It always says which.
//
// A small index in the data folder remembers where each key went, so that a
// start without a keychain costs nothing and a silent keychain is told apart
// from a key that was never given. Keys are never logged, and errors do not
// hold them. The store is safe for use by several goroutines.
package secret

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"gofer/backend/fault"
	"gofer/backend/home"
)

// Place says where a key is.
type Place string

// The places a key can be in.
const (
	Keychain Place = "keychain"
	File     Place = "file"
	Memory   Place = "memory"
	None     Place = "none"
)

// About is the honest sentence about a place, for settings and doctor.
func (p Place) About() string {
	switch p {
	case Keychain:
		return "In the keychain of this computer."
	case File:
		return "In an encrypted file in the data folder. Its own key lies beside it, so it protects against a look at the file, not against somebody who can read all your files."
	case Memory:
		return "In memory only: it is gone when Gofer ends."
	}
	return "No key is stored."
}

// EnvKeyring names the environment variable that switches the keychain off
// when it says off.
const EnvKeyring = "GOFER_KEYRING"

// Options change how a store works; the zero value is the usual one.
type Options struct {
	Seen     func(key string) // told every key that is read or stored, for redaction
	ReadOnly bool             // new keys stay in memory
	Keyring  Keyring          // nil takes the operating system's
	Limit    time.Duration    // how long the keychain may take; 0 takes 2 s
}

// Keyring is the keychain of the operating system.
type Keyring interface {
	Set(service, user, key string) error
	Get(service, user string) (string, error)
	Delete(service, user string) error
}

// Store holds the keys of one home.
type Store struct {
	o     Options
	chain *chain
	file  *vault

	mu     sync.Mutex
	memory map[string]held // keys read or stored in this process
}

type held struct {
	key   string
	place Place
}

// Open makes a store over the keys of a home. A throwaway home reads the keys
// of the home it was made from and writes none.
func Open(h *home.Home, o Options) *Store {
	o.ReadOnly = o.ReadOnly || h.Throwaway()
	if o.Seen == nil {
		o.Seen = func(string) {}
	}
	if o.Limit == 0 {
		o.Limit = 2 * time.Second
	}
	return &Store{
		o:      o,
		chain:  newChain(o.Keyring, o.Limit, home.HashDir(h.Keys())),
		file:   &vault{dir: h.Keys()},
		memory: map[string]held{},
	}
}

// Key returns the key of a provider, "" when none is stored. A key that is
// stored and cannot be had is a fault.
func (s *Store) Key(id string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.memory[id]; ok {
		return h.key, nil
	}
	entry, err := s.file.entry(id)
	if err != nil {
		return "", err
	}
	var key string
	switch entry.Place {
	case Keychain:
		key, err = s.chain.get(id)
		if errors.Is(err, keyring.ErrNotFound) {
			return "", nil // somebody removed it there
		}
		if err != nil {
			return "", fault.Wrap(fault.Unavailable, fmt.Sprintf("The keychain of this computer does not give out the key of %s: %v.", id, err),
				"Unlock the keychain and try again, or enter the key anew.", err)
		}
	case File:
		if key, err = s.file.open(id, entry); err != nil {
			return "", err
		}
	default:
		return "", nil
	}
	s.o.Seen(key)
	s.memory[id] = held{key, entry.Place}
	return key, nil
}

// Set stores the key of a provider in the best place there is and says where
// that was. An empty key forgets it.
func (s *Store) Set(id, key string) (Place, error) {
	if key == "" {
		return None, s.Delete(id)
	}
	s.o.Seen(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	place := s.put(id, key)
	s.memory[id] = held{key, place}
	return place, nil
}

func (s *Store) put(id, key string) Place {
	if s.o.ReadOnly {
		return Memory
	}
	if s.chain.set(id, key) == nil {
		if s.file.put(id, entry{Place: Keychain, Hint: hint(key)}) == nil {
			return Keychain
		}
		_ = s.chain.delete(id) // without the index nobody would find it again
		return Memory
	}
	sealed, err := s.file.seal(id, key)
	if err == nil && s.file.put(id, entry{Place: File, Hint: hint(key), Sealed: sealed}) == nil {
		return File
	}
	return Memory
}

// Delete forgets the key of a provider everywhere.
func (s *Store) Delete(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.memory, id)
	if s.o.ReadOnly {
		s.memory[id] = held{place: None}
		return nil
	}
	entry, err := s.file.entry(id)
	if err != nil || entry.Place == None {
		return err
	}
	if entry.Place == Keychain {
		if err := s.chain.delete(id); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return fault.Wrap(fault.Unavailable, fmt.Sprintf("The keychain of this computer does not let go of the key of %s: %v.", id, err),
				"Unlock the keychain and try again.", err)
		}
	}
	return s.file.remove(id)
}

// Place says where the key of a provider is, without asking the keychain.
func (s *Store) Place(id string) Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.memory[id]; ok {
		return h.place
	}
	entry, err := s.file.entry(id)
	if err != nil {
		return None
	}
	return entry.Place
}

// Hint returns the last four characters of a key, "" without one or when it is
// so short that they would tell too much.
func (s *Store) Hint(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.memory[id]; ok {
		return hint(h.key)
	}
	entry, err := s.file.entry(id)
	if err != nil {
		return ""
	}
	return entry.Hint
}

func hint(key string) string {
	r := []rune(key)
	if len(r) < 12 {
		return ""
	}
	return string(r[len(r)-4:])
}

// BestPlace says where a new key would go, and why not into the keychain.
func (s *Store) BestPlace() (Place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.o.ReadOnly {
		return Memory, nil
	}
	why := s.chain.probe()
	if why == nil {
		return Keychain, nil
	}
	if err := s.file.usable(); err != nil {
		return Memory, errors.Join(why, err)
	}
	return File, why
}
