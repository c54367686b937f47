package mcpserver

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"gofer/backend/fault"
	"gofer/backend/home"
)

// tokenBytes is 256 bits of chance.
const tokenBytes = 32

// Client is a program that may use the tools over HTTP, by a token of its own.
type Client struct {
	Name      string       `json:"-"`
	Mode      string       `json:"mode"`  // the most it may do
	Allow     []string     `json:"allow"` // grants as --allow takes them
	TokenFile string       `json:"-"`
	Fault     *fault.Fault `json:"-"` // why its token opens nothing

	sum [sha256.Size]byte // of the token
}

// same reports whether two are one client with one token and one leave.
func (x Client) same(y Client) bool {
	return x.Name == y.Name && x.sum == y.sum && x.Mode == y.Mode && slices.Equal(x.Allow, y.Allow) && (x.Fault == nil) == (y.Fault == nil)
}

// Clients are the clients of a home: a folder with two files for each, the
// token and what the client may do. It is read anew each time, so that what is
// taken back counts at once. A token that others could have read opens nothing
// until a new one is made.
type Clients struct{ dir string }

// OpenClients returns the clients kept in a folder. It need not be there yet.
func OpenClients(dir string) Clients { return Clients{dir} }

// List returns the clients by name. One whose files cannot be trusted has a
// fault.
func (c Clients) List() ([]Client, error) {
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the clients: %w", err)
	}
	var list []Client
	for _, e := range entries {
		name, ok := strings.CutSuffix(strings.TrimPrefix(e.Name(), prefix), tokenEnd)
		if ok && e.Name() == prefix+name+tokenEnd && clientName.MatchString(name) {
			list = append(list, c.read(name))
		}
	}
	return list, nil
}

// Client returns one client.
func (c Clients) Client(name string) (Client, bool) {
	if _, err := os.Lstat(c.path(name, tokenEnd)); err != nil || !clientName.MatchString(name) {
		return Client{}, false
	}
	return c.read(name), true
}

// Save keeps what a client may do. It makes the token when there is none, and
// another one when renew is set.
func (c Clients) Save(x Client, renew bool) (Client, error) {
	if !clientName.MatchString(x.Name) {
		return Client{}, fault.New(fault.Invalid, fmt.Sprintf("A client cannot be called %q.", x.Name), "Use up to 40 small letters, digits, - and _, such as my-editor.")
	}
	x.Mode = lower(x.Mode, "full") // plan when it was not said
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return Client{}, fmt.Errorf("keep the client %s: %w", x.Name, err)
	}
	raw, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return Client{}, fmt.Errorf("keep the client %s: %w", x.Name, err)
	}
	if err := home.WriteFile(c.path(x.Name, rulesEnd), append(raw, '\n'), 0o600); err != nil {
		return Client{}, fmt.Errorf("keep the client %s: %w", x.Name, err)
	}
	if _, known := c.Client(x.Name); !known || renew {
		if err := c.makeToken(x.Name); err != nil {
			return Client{}, err
		}
	}
	return c.read(x.Name), nil
}

// makeToken replaces whatever lies in the token's place, and does not follow a
// link there.
func (c Clients) makeToken(name string) error {
	secret := make([]byte, tokenBytes)
	_, _ = rand.Read(secret) // never fails
	path := c.path(name, tokenEnd)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make a token for %s: %w", name, err)
	}
	if err := home.WriteFile(path, []byte(base64.RawURLEncoding.EncodeToString(secret)+"\n"), 0o600); err != nil {
		return fmt.Errorf("make a token for %s: %w", name, err)
	}
	return nil
}

// Remove takes a client's token and all its leave away.
func (c Clients) Remove(name string) error {
	if _, known := c.Client(name); !known {
		return fault.New(fault.NotFound, fmt.Sprintf("There is no client %q.", name), "List them with: gofer mcp token")
	}
	if err := os.Remove(c.path(name, tokenEnd)); err != nil {
		return fmt.Errorf("remove the client %s: %w", name, err)
	}
	if err := os.Remove(c.path(name, rulesEnd)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the client %s: %w", name, err)
	}
	return nil
}

// find returns the client a token belongs to. How long it takes says nothing
// about the tokens there are.
func (c Clients) find(token string) (Client, bool) {
	list, err := c.List()
	if err != nil {
		return Client{}, false
	}
	sum, found := sha256.Sum256([]byte(token)), -1
	for i, x := range list {
		if subtle.ConstantTimeCompare(sum[:], x.sum[:]) == 1 && x.Fault == nil {
			found = i
		}
	}
	if found < 0 {
		return Client{}, false
	}
	return list[found], true
}

const (
	prefix   = "client-" // so that no name is one the system keeps for itself
	tokenEnd = ".token"
	rulesEnd = ".json"
)

var clientName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

func (c Clients) path(name, end string) string { return filepath.Join(c.dir, prefix+name+end) }

func (c Clients) read(name string) Client {
	x := Client{Name: name, TokenFile: c.path(name, tokenEnd)}
	raw, err := os.ReadFile(c.path(name, rulesEnd))
	if err == nil {
		err = json.Unmarshal(raw, &x)
	}
	if err != nil || !slices.Contains(modes, x.Mode) {
		x.Mode, x.Allow = modes[0], nil
		x.Fault = fault.Wrap(fault.Broken, fmt.Sprintf("What the client %s may do cannot be read from %s.", name, c.path(name, rulesEnd)),
			"Say it again with: gofer mcp token "+name+" --mode plan", err)
		return x
	}
	token, err := readToken(x.TokenFile)
	if err != nil {
		x.Fault = fault.Wrap(fault.Denied, fmt.Sprintf("The token of the client %s is not used: %v.", name, err),
			"Make a new one with: gofer mcp token "+name+" --renew", err)
		return x
	}
	x.sum = sha256.Sum256([]byte(token))
	return x
}

// readToken refuses a token that may not be the person's own secret any more.
// Mending the permissions would not take back what others have read.
func readToken(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a plain file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("other users may use %s", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(raw))
	if secret, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(secret) != tokenBytes {
		return "", fmt.Errorf("%s holds no token", path)
	}
	return token, nil
}

// modes from the one that may least.
var modes = []string{"plan", "ask", "auto", "full"}

// lower returns the mode that may less; a word that is no mode counts as the
// least.
func lower(a, b string) string {
	return modes[max(0, min(slices.Index(modes, a), slices.Index(modes, b)))]
}
