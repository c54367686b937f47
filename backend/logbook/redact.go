package logbook

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// shortest is the length below which a secret is left alone: replacing "ollama"
// or "1234" everywhere would hide more than it protects.
const shortest = 6

// Redactor replaces secrets in text that is about to leave: those it was told,
// in the forms they travel in, and whatever looks like a credential. The zero
// value works; it is safe for use by several goroutines.
type Redactor struct {
	mu      sync.RWMutex
	known   map[string]bool
	forms   []string
	replace *strings.Replacer
}

// Hide makes a secret unreadable from now on.
func (r *Redactor) Hide(secret string) {
	secret = strings.TrimSpace(secret)
	if len(secret) < shortest {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[secret] {
		return
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	r.known[secret] = true
	// Long forms first, so that no piece of one stays beside a shorter one. The
	// list is a new one: the old may be in use.
	r.forms = slices.Concat(r.forms, forms(secret))
	slices.SortStableFunc(r.forms, func(a, b string) int { return len(b) - len(a) })
	r.forms = slices.Compact(r.forms)
	pairs := make([]string, 0, 2*len(r.forms))
	for _, f := range r.forms {
		pairs = append(pairs, f, Mark)
	}
	r.replace = strings.NewReplacer(pairs...)
}

// nothing reports whether no secret is known.
func (r *Redactor) nothing() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.forms) == 0
}

// Known returns text without the secrets it was told, and otherwise as it is.
func (r *Redactor) Known(text string) string {
	r.mu.RLock()
	forms, replace := r.forms, r.replace
	r.mu.RUnlock()
	// Nearly every text has none, and then nothing is copied.
	if !slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(text, form) }) {
		return text
	}
	return replace.Replace(text)
}

// Redact returns text without secrets.
func (r *Redactor) Redact(text string) string {
	text = r.Known(text)
	for _, p := range patterns {
		text = p.ReplaceAllString(text, "${1}"+Mark)
	}
	return text
}

// patterns find credentials nobody told us about. The first group stays.
var patterns = []*regexp.Regexp{
	regexp.MustCompile(`(?i)((?:proxy-)?authorization\\?["']?\s*[:=]\s*\[?\\?["']?(?:(?:bearer|basic|token|digest)\s+)?)[^\s"'\\,\]]{3,}`),
	regexp.MustCompile(`(?i)((?:x-)?(?:goog-)?api[-_]?key\\?["']?\s*[:=]\s*\[?\\?["']?)[^\s"'\\,&\]]{3,}`),
	regexp.MustCompile(`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`(?i)([?&](?:key|token|access_token|secret|password)=)[^&\s"'\\]{3,}`),
	regexp.MustCompile(`(?i)((?:set-)?cookie\\?["']?\s*[:=]\s*\[?\\?["']?)[^\s"'\\,\]][^"'\\\]\n]*`),
	regexp.MustCompile(`(\b)(?:sk|pk|rk|gsk|xai|ghp|gho|glpat|hf)[-_][A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(`(\b)AIza[A-Za-z0-9_-]{30,}`),
}

// forms lists how a secret may appear: as it is, quoted, in hex, in an address,
// backwards, and in base64 at each of the three places it can have in a longer
// text.
func forms(secret string) []string {
	raw := []byte(secret)
	quoted := strconv.Quote(secret)
	asJSON, _ := json.Marshal(secret) // a string always can
	hexed := hex.EncodeToString(raw)
	backwards := []rune(secret)
	slices.Reverse(backwards)
	list := []string{
		secret, quoted[1 : len(quoted)-1], string(asJSON[1 : len(asJSON)-1]),
		hexed, strings.ToUpper(hexed),
		url.QueryEscape(secret), url.PathEscape(secret), string(backwards),
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		list = append(list, encoding.EncodeToString(raw))
		for shift := range 3 {
			list = append(list, inside(encoding.WithPadding(base64.NoPadding), raw, shift))
		}
	}
	return slices.DeleteFunc(list, func(f string) bool { return len(f) < shortest })
}

// inside is the part of the base64 of a text that depends on the secret alone
// when shift bytes stand before it.
func inside(encoding *base64.Encoding, secret []byte, shift int) string {
	whole := encoding.EncodeToString(append(make([]byte, shift), secret...))
	first := (shift*8 + 5) / 6
	last := (shift + len(secret)) * 8 / 6
	return whole[first:last]
}
