package secret

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/zalando/go-keyring"
)

const service = "gofer"

var (
	errOff    = errors.New("the keychain is switched off by " + EnvKeyring)
	errSilent = errors.New("the keychain does not answer")
)

// chain asks the keychain with a limit. A keychain that was silent once is not
// asked again in this process: each call would leave one more waiting goroutine.
type chain struct {
	ring   Keyring
	limit  time.Duration
	suffix string // keeps the keys of two homes apart
	silent bool
}

func newChain(ring Keyring, limit time.Duration, suffix string) *chain {
	if ring == nil {
		ring = system{}
	}
	return &chain{ring: ring, limit: limit, suffix: suffix}
}

func (c *chain) user(id string) string { return id + "@" + c.suffix }

func (c *chain) get(id string) (string, error) {
	return c.ask(func() (string, error) { return c.ring.Get(service, c.user(id)) })
}

func (c *chain) set(id, key string) error {
	_, err := c.ask(func() (string, error) { return "", c.ring.Set(service, c.user(id), key) })
	return err
}

func (c *chain) delete(id string) error {
	_, err := c.ask(func() (string, error) { return "", c.ring.Delete(service, c.user(id)) })
	return err
}

// probe says why the keychain cannot be used, nil when it can.
func (c *chain) probe() error {
	_, err := c.get("probe")
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

func (c *chain) ask(call func() (string, error)) (string, error) {
	if os.Getenv(EnvKeyring) == "off" {
		return "", errOff
	}
	if c.silent {
		return "", errSilent
	}
	type answer struct {
		key string
		err error
	}
	got := make(chan answer, 1)
	go func() {
		key, err := call()
		got <- answer{key, err}
	}()
	limit := time.NewTimer(c.limit)
	defer limit.Stop()
	select {
	case a := <-got:
		return a.key, a.err
	case <-limit.C:
		c.silent = true
		return "", fmt.Errorf("%w within %v", errSilent, c.limit)
	}
}

type system struct{}

func (system) Set(service, user, key string) error      { return keyring.Set(service, user, key) }
func (system) Get(service, user string) (string, error) { return keyring.Get(service, user) }
func (system) Delete(service, user string) error        { return keyring.Delete(service, user) }
