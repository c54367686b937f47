package browser

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// Shot says what to take a picture of.
type Shot struct {
	Full  bool   // the whole page instead of the viewport
	Ref   string // only this element
	Marks bool   // draw the refs of what can be acted on
}

// Picture is a screenshot.
type Picture struct {
	JPEG          []byte
	Width, Height int
	URL           string
	Note          string // what the picture does not show, or what it is no good for
}

// A picture with at most this side and these pixels is taken by the models known
// today as it is. They scale a larger one down themselves, or refuse it.
const (
	pictureSide = 1568
	pictureArea = 1_150_000
)

// tallest is how many times as high as wide a picture of a whole page may be, so
// that its words can still be read.
const tallest = 2.5

// sight is what the viewport was like when the last picture of it was taken.
type sight struct {
	DPR    float64
	K      float64 // pixels of the picture for one of the page
	W, H   float64 // of the viewport, in pixels of the page
	SX, SY float64 // how far it was scrolled
}

// Screenshot takes a picture of the viewport, the whole page, or an element,
// scaled to what models take as it is.
func (s *Session) Screenshot(ctx context.Context, q Shot) (Picture, error) {
	ctx, t, done, err := s.begin(ctx, 20*time.Second, false)
	if err != nil {
		return Picture{}, err
	}
	defer done()
	p, err := t.picture(ctx, q)
	return p, s.explain(ctx, t, err)
}

// sight asks what the viewport is like now.
func (t *tab) sight(ctx context.Context) (sight, error) {
	var now sight
	err := t.js(ctx, t.root(), "hello", nil, &now)
	return now, err
}

func (t *tab) picture(ctx context.Context, q Shot) (Picture, error) {
	var box struct{ X, Y, W, H float64 }
	if q.Ref != "" {
		f, id, err := t.locate(q.Ref)
		if err != nil {
			return Picture{}, err
		}
		if err := t.js(ctx, f, "box", args{"ref": id}, &box); err != nil {
			return Picture{}, err
		}
		at := aimed{X: box.X, Y: box.Y}
		if err := t.lift(ctx, f, &at); err != nil && !isProblem(err) {
			return Picture{}, err
		}
		box.X, box.Y = at.X, at.Y
	}
	now, err := t.sight(ctx)
	if err != nil {
		return Picture{}, err
	}
	var lay struct {
		View struct{ PageX, PageY, Zoom float64 } `json:"cssVisualViewport"`
		Size struct{ Width, Height float64 }      `json:"cssContentSize"`
	}
	if err := t.call(ctx, t.session, "Page.getLayoutMetrics", nil, &lay); err != nil {
		return Picture{}, err
	}
	clip := proto.PageViewport{X: lay.View.PageX, Y: lay.View.PageY, Width: now.W, Height: now.H}
	note := ""
	switch {
	case q.Ref != "":
		clip.X, clip.Y, clip.Width, clip.Height = lay.View.PageX+box.X, lay.View.PageY+box.Y, math.Max(box.W, 1), math.Max(box.H, 1)
	case q.Full:
		clip.X, clip.Y, clip.Width, clip.Height = 0, 0, lay.Size.Width, math.Min(lay.Size.Height, lay.Size.Width*tallest)
		if clip.Height < lay.Size.Height {
			note = fmt.Sprintf("the first %.0f of %.0f px of the page", clip.Height, lay.Size.Height)
		}
	}
	k := now.K
	if q.Ref != "" || q.Full {
		k = min(1, pictureSide/max(clip.Width, clip.Height), math.Sqrt(pictureArea/(clip.Width*clip.Height)))
	}
	// The browser wants the clip as it is after its own zoom.
	region, zoom := clip, max(lay.View.Zoom, 0.1)
	clip.X, clip.Y, clip.Width, clip.Height = clip.X*zoom, clip.Y*zoom, clip.Width*zoom, clip.Height*zoom
	clip.Scale = k / max(now.DPR, 0.1)
	quality := 80
	req := proto.PageCaptureScreenshot{
		Format: proto.PageCaptureScreenshotFormatJpeg, Quality: &quality, Clip: &clip,
		CaptureBeyondViewport: q.Full && q.Ref == "", OptimizeForSpeed: true,
	}
	var got proto.PageCaptureScreenshotResult
	if err := t.call(ctx, t.session, req.ProtoReq(), req, &got); err != nil {
		return Picture{}, err
	}
	p := Picture{JPEG: got.Data, Width: int(math.Round(region.Width * k)), Height: int(math.Round(region.Height * k)), Note: note}
	if q.Marks {
		marks, err := t.marks(ctx, now, region.X-lay.View.PageX, region.Y-lay.View.PageY, k/now.K)
		if err != nil {
			return Picture{}, err
		}
		if p.JPEG, err = drawMarks(p.JPEG, marks); err != nil {
			return Picture{}, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.Ref == "" && !q.Full {
		t.seen = now
	}
	p.URL = t.url
	return p, nil
}

// pixels maps a document to the pixels of a viewport picture.
type pixels struct {
	X  float64 `json:"x"` // where the document begins
	Y  float64 `json:"y"`
	KX float64 `json:"kx"` // pixels of the picture for one of the document
	KY float64 `json:"ky"`
}

// pixels finds where the document of a frame is in a picture of the viewport.
func (t *tab) pixels(ctx context.Context, f *frame, now sight) (pixels, error) {
	p := pixels{0, 0, 1, 1}
	for g := f; g.no > 0; {
		t.mu.Lock()
		parent := t.frames[g.parent]
		t.mu.Unlock()
		if parent == nil {
			return p, problem(Detached, "the frame is no longer on the page")
		}
		var at struct{ X, Y, SX, SY float64 }
		if err := t.js(ctx, parent, "frameBox", args{"frame": g.no}, &at); err != nil {
			return p, err
		}
		p = pixels{at.X + p.X*at.SX, at.Y + p.Y*at.SY, p.KX * at.SX, p.KY * at.SY}
		g = parent
	}
	return pixels{p.X * now.K, p.Y * now.K, p.KX * now.K, p.KY * now.K}, nil
}
