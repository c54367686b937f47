// Package errand is what the acceptance tests need: a local site made from a
// seed that counts what is done to it, scripts that do errands on it knowing
// nothing but tool results, a desk of pretended tools, and a checker that
// compares the files of a workspace with the site.
package errand

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Page is one page of the site.
type Page struct {
	Path   string // /pages/…
	Title  string
	Code   string   // a word that stands on this page only
	Text   []string // paragraphs
	Images []Image
}

// Image is a picture of a page.
type Image struct {
	Path string
	PNG  []byte
	Sum  [32]byte
}

// Options shape a site. The zero value takes 30 pages on one list.
type Options struct {
	Seed    uint64
	Pages   int
	PerList int           // links on one list page; 0 puts all on one
	Slow    time.Duration // added to every answer
}

// Site is the running site.
type Site struct {
	Origin string // http://127.0.0.1:port
	Pages  []Page

	options Options
	server  *http.Server
	done    chan struct{}

	mu    sync.Mutex
	hits  map[string]int
	posts map[string]int
}

// Start makes a site and serves it on this machine.
func Start(o Options) (*Site, error) {
	if o.Pages == 0 {
		o.Pages = 30
	}
	if o.PerList == 0 {
		o.PerList = o.Pages
	}
	s := &Site{options: o, hits: map[string]int{}, posts: map[string]int{}, done: make(chan struct{})}
	s.Pages = makePages(o)
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.Origin = "http://" + l.Addr().String()
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(l)
	}()
	return s, nil
}

// Close ends the site.
func (s *Site) Close() error {
	err := s.server.Close()
	<-s.done
	return err
}

// Hits returns how often each path was fetched.
func (s *Site) Hits() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.hits)
}

// Posts returns how often each page was marked read: the effects of acting
// calls.
func (s *Site) Posts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.posts)
}

// URL returns the address of a page.
func (s *Site) URL(p Page) string { return s.Origin + p.Path }

// ServeHTTP serves lists, pages and pictures, and takes form posts.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.options.Slow > 0 {
		select {
		case <-time.After(s.options.Slow):
		case <-r.Context().Done():
			return
		}
	}
	path := r.URL.Path
	s.mu.Lock()
	if r.Method == http.MethodPost {
		s.posts[strings.TrimSuffix(path, "/read")]++
	} else {
		s.hits[path]++
	}
	s.mu.Unlock()
	if r.Method == http.MethodPost && strings.HasSuffix(path, "/read") {
		http.Redirect(w, r, strings.TrimSuffix(path, "/read"), http.StatusSeeOther)
		return
	}
	for i := 0; i*s.options.PerList < len(s.Pages); i++ {
		if path == listPath(i) {
			s.list(w, i)
			return
		}
	}
	for _, p := range s.Pages {
		if path == p.Path {
			s.page(w, p)
			return
		}
		for _, im := range p.Images {
			if path == im.Path {
				w.Header().Set("Content-Type", "image/png")
				_, _ = w.Write(im.PNG)
				return
			}
		}
	}
	http.NotFound(w, r)
}

func listPath(i int) string {
	if i == 0 {
		return "/"
	}
	return fmt.Sprintf("/list/%d", i+1)
}

var listTemplate = template.Must(template.New("list").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Reading list</title><link rel="icon" href="data:,"></head>
<body><header><a href="/">Reading list</a></header>
<main><h1>Reading list</h1>
<ul>{{range .Pages}}<li><a href="{{.Path}}">{{.Title}}</a></li>
{{end}}</ul>
{{if .Next}}<p><a href="{{.Next}}">More pages</a></p>{{end}}</main></body></html>`))

func (s *Site) list(w http.ResponseWriter, i int) {
	end := min((i+1)*s.options.PerList, len(s.Pages))
	next := ""
	if end < len(s.Pages) {
		next = listPath(i + 1)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = listTemplate.Execute(w, map[string]any{"Pages": s.Pages[i*s.options.PerList : end], "Next": next})
}

var pageTemplate = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Title}}</title><link rel="icon" href="data:,"></head>
<body><header><a href="/">Reading list</a></header>
<main><article><h1>{{.Title}}</h1>
{{range .Text}}<p>{{.}}</p>
{{end}}<p>The code word of this page is {{.Code}}.</p>
{{range .Images}}<figure><a href="{{.Path}}"><img src="{{.Path}}" alt="Drawing" width="96" height="64"></a><figcaption><a href="{{.Path}}">Drawing {{.Path}}</a></figcaption></figure>
{{end}}<p>Marked read: {{if .Read}}yes{{else}}no{{end}}.</p>
<form method="post" action="{{.Path}}/read"><button type="submit">Mark read</button></form>
</article></main></body></html>`))

func (s *Site) page(w http.ResponseWriter, p Page) {
	s.mu.Lock()
	read := s.posts[p.Path] > 0
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pageTemplate.Execute(w, struct {
		Page
		Read bool
	}{p, read})
}

var (
	firstWords  = []string{"Quiet", "Copper", "Winding", "Northern", "Hollow", "Early", "Painted", "Salt", "Broken", "Silver", "Green", "Narrow"}
	secondWords = []string{"Harbour", "Orchard", "Bridge", "Mill", "Lantern", "Meadow", "Quarry", "Ferry", "Garden", "Tower", "Well", "Railway"}
	subjects    = []string{"The keeper", "A traveller", "The council", "An old map", "The neighbours", "A late train", "The river", "One letter"}
	verbs       = []string{"remembers", "crosses", "counts", "repairs", "describes", "forgets", "follows", "measures"}
	objects     = []string{"the stone steps", "a row of poplars", "twelve blue doors", "the market bell", "an empty workshop", "the winter road", "a box of keys", "the lower field"}
)

func makePages(o Options) []Page {
	rng := rand.New(rand.NewPCG(o.Seed, 0x5eed))
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	var out []Page
	seen := map[string]bool{}
	for n := 1; len(out) < o.Pages; n++ {
		title := fmt.Sprintf("%s %s", pick(firstWords), pick(secondWords))
		if seen[title] {
			if title = fmt.Sprintf("%s %d", title, n); seen[title] {
				continue
			}
		}
		seen[title] = true
		p := Page{Path: fmt.Sprintf("/pages/%d-%s", len(out)+1, strings.ReplaceAll(strings.ToLower(title), " ", "-")), Title: title, Code: fmt.Sprintf("%s-%06d", strings.ToLower(pick(secondWords)), rng.IntN(1e6))}
		for range 2 + rng.IntN(2) {
			var text []string
			for range 2 + rng.IntN(3) {
				text = append(text, fmt.Sprintf("%s %s %s, %d of them in all.", pick(subjects), pick(verbs), pick(objects), 2+rng.IntN(97)))
			}
			p.Text = append(p.Text, strings.Join(text, " "))
		}
		for i := range 1 + rng.IntN(2) {
			raw := drawing(rng)
			p.Images = append(p.Images, Image{Path: fmt.Sprintf("/images/%d-%d.png", len(out)+1, i+1), PNG: raw, Sum: sha256.Sum256(raw)})
		}
		out = append(out, p)
	}
	return out
}

// drawing makes a picture nobody else has: a few coloured boxes.
func drawing(rng *rand.Rand) []byte {
	colour := func() color.RGBA {
		return color.RGBA{uint8(rng.IntN(256)), uint8(rng.IntN(256)), uint8(rng.IntN(256)), 255}
	}
	im := image.NewRGBA(image.Rect(0, 0, 96, 64))
	fill := func(r image.Rectangle, c color.RGBA) {
		draw.Draw(im, r, image.NewUniform(c), image.Point{}, draw.Src)
	}
	fill(im.Bounds(), colour())
	for range 6 {
		x, y := rng.IntN(80), rng.IntN(50)
		fill(image.Rect(x, y, x+6+rng.IntN(24), y+6+rng.IntN(20)).Intersect(im.Bounds()), colour())
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, im); err != nil {
		panic(err) // a picture in memory always encodes
	}
	return b.Bytes()
}
