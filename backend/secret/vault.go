package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gofer/backend/fault"
	"gofer/backend/home"
)

// vault is the index of all keys and the encrypted ones among them.
type vault struct{ dir string }

// entry is what the index says about one key.
type entry struct {
	Place  Place  `json:"place"`
	Hint   string `json:"hint,omitempty"`
	Sealed []byte `json:"sealed,omitempty"` // nonce and ciphertext, place file only
}

func (v *vault) indexPath() string { return filepath.Join(v.dir, "keys.json") }
func (v *vault) keyPath() string   { return filepath.Join(v.dir, "keys.key") }

func (v *vault) load() (map[string]entry, error) {
	raw, err := os.ReadFile(v.indexPath())
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]entry{}, nil
	}
	all := map[string]entry{}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Broken, fmt.Sprintf("The list of keys %s cannot be read.", v.indexPath()),
			"Move it away and enter the keys anew.", err)
	}
	return all, nil
}

func (v *vault) save(all map[string]entry) error {
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return home.WriteFile(v.indexPath(), raw, 0o600)
}

func (v *vault) entry(id string) (entry, error) {
	all, err := v.load()
	if err != nil {
		return entry{Place: None}, err
	}
	if e, ok := all[id]; ok {
		return e, nil
	}
	return entry{Place: None}, nil
}

func (v *vault) put(id string, e entry) error {
	all, err := v.load()
	if err != nil {
		return err
	}
	all[id] = e
	return v.save(all)
}

func (v *vault) remove(id string) error {
	all, err := v.load()
	if err != nil {
		return err
	}
	delete(all, id)
	if err := v.save(all); err != nil {
		return fault.Wrap(fault.Unavailable, fmt.Sprintf("The key of %s was not forgotten: %s cannot be written.", id, v.indexPath()),
			"Look at the folder's permissions and the free space.", err)
	}
	return nil
}

// usable fails where what is there cannot be read. Whether the folder can be
// written was found out when the home was opened.
func (v *vault) usable() error {
	if _, err := v.load(); err != nil {
		return err
	}
	if _, err := v.cipher(false); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// cipher reads the key file, or makes it when it may.
func (v *vault) cipher(create bool) (cipher.AEAD, error) {
	raw, err := os.ReadFile(v.keyPath())
	if errors.Is(err, fs.ErrNotExist) && create {
		raw = make([]byte, 32)
		if _, err = rand.Read(raw); err == nil {
			err = home.WriteFile(v.keyPath(), raw, 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal encrypts a key, bound to its provider so that entries cannot be swapped.
func (v *vault) seal(id, key string) ([]byte, error) {
	aead, err := v.cipher(true)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return aead.Seal(nonce, nonce, []byte(key), []byte(id)), nil
}

func (v *vault) open(id string, e entry) (string, error) {
	aead, err := v.cipher(false)
	if err == nil && len(e.Sealed) < aead.NonceSize() {
		err = errors.New("too short")
	}
	var plain []byte
	if err == nil {
		n := aead.NonceSize()
		plain, err = aead.Open(nil, e.Sealed[:n], e.Sealed[n:], []byte(id))
	}
	if err != nil {
		return "", fault.Wrap(fault.Broken, fmt.Sprintf("The stored key of %s cannot be decrypted.", id), "Enter the key anew in the settings.", err)
	}
	return string(plain), nil
}
