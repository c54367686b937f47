package tour

import (
	"bytes"
	"embed"
	"fmt"
	"hash/fnv"
	"html/template"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"net/http"
	"strings"
	"sync"
)

//go:embed site/*.html site/style.css
var files embed.FS

var templates = template.Must(template.ParseFS(files, "site/*.html"))

// article is one page of the site.
type article struct {
	Slug, Title, Kind string // Kind is png or jpg
	Teaser            string
	Text              []string
}

// Picture is the path of the article's picture.
func (a article) Picture() string { return "/pictures/" + a.Slug + "." + a.Kind }

// Path is the path of the article.
func (a article) Path() string { return "/articles/" + a.Slug }

// site is what the tour walks through.
type site struct {
	articles []article
	perPage  int
}

// handler serves the site under the given host and no other, so that no page
// elsewhere can reach it under a name of its own.
func (s site) handler(host string) http.Handler {
	mux := http.NewServeMux()
	for i := 0; i == 0 || i*s.perPage < len(s.articles); i++ {
		mux.HandleFunc("GET "+listPattern(i), s.list(i))
	}
	for _, a := range s.articles {
		picture, media := sync.OnceValue(func() []byte { return draw(a) }), "image/png"
		if a.Kind == "jpg" {
			media = "image/jpeg"
		}
		mux.HandleFunc("GET "+a.Path(), func(w http.ResponseWriter, _ *http.Request) { show(w, "article.html", a) })
		mux.HandleFunc("GET "+a.Picture(), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			_, _ = w.Write(picture())
		})
	}
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "site/style.css") })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != host {
			http.Error(w, "not here", http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src 'self' data:; style-src 'self'")
		mux.ServeHTTP(w, r)
	})
}

func listPattern(i int) string {
	if i == 0 {
		return "/{$}"
	}
	return fmt.Sprintf("/page/%d", i+1)
}

func (s site) list(i int) http.HandlerFunc {
	path := func(i int) string { return strings.TrimSuffix(listPattern(i), "{$}") }
	page := struct {
		Articles     []article
		Number       int
		Older, Newer string
	}{Number: i + 1}
	end := min((i+1)*s.perPage, len(s.articles))
	page.Articles = s.articles[i*s.perPage : end]
	if end < len(s.articles) {
		page.Older = path(i + 1)
	}
	if i > 0 {
		page.Newer = path(i - 1)
	}
	return func(w http.ResponseWriter, _ *http.Request) { show(w, "list.html", page) }
}

func show(w http.ResponseWriter, name string, data any) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

// draw makes the picture of an article: rolling hills under a sky, in colours
// that come from its name.
func draw(a article) []byte {
	const width, height = 640, 360
	h := fnv.New64a()
	_, _ = h.Write([]byte(a.Slug))
	seed := h.Sum64()
	part := func(n uint) float64 { return float64(seed>>(n*8)&0xff) / 255 }
	im := image.NewRGBA(image.Rect(0, 0, width, height))
	hue := part(0)
	sunX, sunY := 80+part(1)*(width-160), 50+part(2)*70
	sun := hsl(0.13, 0.90, 0.70)
	var sky [height]color.RGBA
	for y := range sky {
		sky[y] = hsl(hue, 0.55, 0.90-0.30*float64(y)/height)
	}
	for x := range width {
		var crests [3]float64
		var hills [3]color.RGBA
		for layer := range crests {
			l := float64(layer)
			crests[layer] = 190 + l*48 + 26*math.Sin(float64(x)/(60+30*part(3))+l*2+6*part(4)) + 12*math.Sin(float64(x)/(23+10*part(5))+l)
			hills[layer] = hsl(hue+0.06+0.05*l, 0.42, 0.52-0.12*l)
		}
		for y := range height {
			c := sky[y]
			if dx, dy := float64(x)-sunX, float64(y)-sunY; dx*dx+dy*dy < 34*34 {
				c = sun
			}
			for layer, crest := range crests {
				if float64(y) > crest {
					c = hills[layer]
				}
			}
			copy(im.Pix[im.PixOffset(x, y):], []uint8{c.R, c.G, c.B, c.A})
		}
	}
	var b bytes.Buffer
	var err error
	if a.Kind == "jpg" {
		err = jpeg.Encode(&b, im, &jpeg.Options{Quality: 85})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, im)
	}
	if err != nil {
		panic(err) // a picture in memory always encodes
	}
	return b.Bytes()
}

// hsl turns hue, saturation and lightness (0 to 1) into a colour.
func hsl(h, s, l float64) color.RGBA {
	h -= math.Floor(h)
	channel := func(n float64) uint8 {
		k := math.Mod(n+h*12, 12)
		v := l - s*math.Min(l, 1-l)*math.Max(-1, math.Min(math.Min(k-3, 9-k), 1))
		return uint8(math.Round(v * 255))
	}
	return color.RGBA{channel(0), channel(8), channel(4), 255}
}
