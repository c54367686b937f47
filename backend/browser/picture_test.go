package browser_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

func shot(t *testing.T, s *browser.Session, q browser.Shot) (browser.Picture, image.Image) {
	t.Helper()
	p, err := s.Screenshot(context.Background(), q)
	if err != nil {
		t.Fatalf("screenshot: %v", err)
	}
	img, _, err := image.Decode(bytes.NewReader(p.JPEG))
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	if b := img.Bounds(); b.Dx() != p.Width || b.Dy() != p.Height {
		t.Errorf("the picture is %v, said to be %d x %d", b, p.Width, p.Height)
	}
	return p, img
}

// red reports the box of the red pixels of a picture.
func red(img image.Image) image.Rectangle {
	var box image.Rectangle
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); r > 0xd000 && g < 0x4000 && b < 0x4000 {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

const redBox = `<!doctype html><body style="margin:0;height:3000px"><div id=r style="position:absolute;left:700px;top:300px;width:60px;height:40px;background:#f00"></div>
<p id=o>none</p><script>r.onclick=e=>{o.textContent='hit '+Math.round(e.offsetX)+','+Math.round(e.offsetY)}</script>`

// A point of the picture is the point that is pressed, whatever the density of
// the screen, the zoom of the browser and the scale of the picture.
func TestPointsOfAPictureArePressedWhereTheyAreSeen(t *testing.T) {
	zoomed := func(profile string) {
		if err := os.MkdirAll(filepath.Join(profile, "Default"), 0o700); err != nil {
			t.Fatal(err)
		}
		// The browser keeps zoom as a power of 1.2: this is 125 %.
		if err := os.WriteFile(filepath.Join(profile, "Default", "Preferences"), []byte(`{"partition":{"default_zoom_level":{"x":1.2239010857415449}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		flags []string
		zoom  bool
	}{
		"plain":                {},
		"two pixels for one":   {flags: []string{"--force-device-scale-factor=2"}},
		"a large window":       {flags: []string{"--window-size=2000,1500"}},
		"zoomed":               {zoom: true},
		"zoomed, dense, large": {flags: []string{"--force-device-scale-factor=1.5", "--window-size=1900,1300"}, zoom: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			profile := filepath.Join(dir, "profile")
			if c.zoom {
				zoomed(profile)
			}
			b := browser.New(browser.Options{Profile: profile, Headless: true, Flags: c.flags})
			t.Cleanup(func() { _ = b.Close() })
			s := b.Session("points")
			site := browsertest.Site(t, map[string]string{"/": redBox})
			browsertest.Open(t, s, site.URL)
			p, img := shot(t, s, browser.Shot{})
			if p.Width > 1568 || p.Height > 1568 || p.Width*p.Height > 1_152_000 {
				t.Errorf("a picture of %d x %d is scaled by models", p.Width, p.Height)
			}
			box := red(img)
			if box.Empty() {
				t.Fatal("nothing red in the picture")
			}
			middle := browser.Point{X: float64(box.Min.X+box.Max.X) / 2, Y: float64(box.Min.Y+box.Max.Y) / 2}
			r, err := s.ClickAt(context.Background(), browser.Press{Point: middle})
			if err != nil {
				t.Fatal(err)
			}
			m := regexp.MustCompile(`hit (\d+),(\d+)`).FindStringSubmatch(strings.Join(r.Changes, "\n"))
			var x, y int
			if m == nil {
				t.Fatalf("the press missed: %+v", r)
			}
			fmt.Sscan(m[1]+" "+m[2], &x, &y)
			if x < 28 || x > 32 || y < 18 || y > 22 {
				t.Errorf("the press came to %d, %d of 60 x 40", x, y)
			}
			// A visual view tells the same pixels.
			v := snap(t, s, browser.Query{View: "visual"})
			at := regexp.MustCompile(`red rectangle" \[ref=\w+\] at (\d+),(\d+) (\d+)x(\d+)`).FindStringSubmatch(v)
			if at == nil {
				t.Fatalf("no red box in\n%s", v)
			}
			var b2 [4]int
			for i := range b2 {
				fmt.Sscan(at[i+1], &b2[i])
			}
			if d := image.Rect(b2[0], b2[1], b2[0]+b2[2], b2[1]+b2[3]); abs(d.Min.X-box.Min.X)+abs(d.Max.Y-box.Max.Y) > 4 {
				t.Errorf("told %v, seen at %v", d, box)
			}
		})
	}
}

func abs(n int) int { return max(n, -n) }

func TestAPressOutsideOrAfterScrollingIsSaid(t *testing.T) {
	s := browsertest.Page(t, redBox)
	ctx := context.Background()
	_, err := s.ClickAt(ctx, browser.Press{Point: browser.Point{X: 30, Y: 5000}})
	fails(t, err, browser.InvalidRequest, "outside the viewport")
	shot(t, s, browser.Shot{})
	if _, err := s.Scroll(ctx, browser.Scroll{Direction: "down", Amount: 200}); err != nil {
		t.Fatal(err)
	}
	r, err := s.ClickAt(ctx, browser.Press{Point: browser.Point{X: 730, Y: 120}})
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, "scrolled by 0, 200 px")
	says(t, r, "hit 30,20")
}

func TestAPressCanBeHeld(t *testing.T) {
	s := browsertest.Page(t, `<button style="width:90px;height:30px" onmousedown="window.t0=Date.now()" onmouseup="this.textContent=Date.now()-window.t0>=380?'long':'short'">Hold</button>`)
	r, err := s.ClickAt(context.Background(), browser.Press{Point: browser.Point{X: 40, Y: 18}, Hold: 400e6})
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, `Pressed and held at 40, 18: button "Hold"`)
	says(t, r, "long")
}

func TestPicturesOfThePageAndOfAnElement(t *testing.T) {
	s := browsertest.Page(t, redBox)
	p, img := shot(t, s, browser.Shot{Full: true})
	if red(img).Empty() || p.Height <= p.Width {
		t.Errorf("the whole page: %d x %d", p.Width, p.Height)
	}
	snap(t, s, browser.Query{})
	_, img = shot(t, s, browser.Shot{Ref: "e1"})
	if b := red(img); b.Dx() < 55 || b.Dx() > 62 || img.Bounds().Dx() > 64 {
		t.Errorf("the element is %v in %v", b, img.Bounds())
	}
}

func TestMarksAreDrawnWhereTheRefsAre(t *testing.T) {
	inner := browsertest.Site(t, map[string]string{"/": `<body style="margin:0"><button style="position:absolute;left:10px;top:20px">In</button>`})
	far := strings.Replace(inner.URL, "127.0.0.1", "localhost", 1)
	s := browsertest.Page(t, `<body style="margin:0"><button style="position:absolute;left:100px;top:60px;width:80px;height:30px">One</button>
<iframe src="`+far+`" style="position:absolute;left:300px;top:200px;width:200px;height:100px;border:0"></iframe>`)
	snap(t, s, browser.Query{})
	_, plain := shot(t, s, browser.Shot{})
	_, marked := shot(t, s, browser.Shot{Marks: true})
	differs := func(r image.Rectangle) bool {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				a, _, _, _ := plain.At(x, y).RGBA()
				b, _, _, _ := marked.At(x, y).RGBA()
				if max(a, b)-min(a, b) > 0x3000 {
					return true
				}
			}
		}
		return false
	}
	if !differs(image.Rect(98, 45, 120, 64)) || !differs(image.Rect(308, 208, 330, 222)) {
		t.Error("no marks at the buttons")
	}
	if differs(image.Rect(600, 300, 900, 500)) {
		t.Error("marks where nothing is")
	}
}

func TestAPressOnThePageItselfTellsWhatChangedInIt(t *testing.T) {
	s := browsertest.Page(t, `<p id=o>idle</p><script>addEventListener('click',()=>o.textContent='pressed')</script>`)
	snap(t, s, browser.Query{})
	r, err := s.ClickAt(context.Background(), browser.Press{Point: browser.Point{X: 600, Y: 400}})
	if err != nil || len(r.Changes) != 1 || !strings.Contains(r.Changes[0], `"pressed"`) {
		t.Errorf("got %q, %v", r.Changes, err)
	}
}
