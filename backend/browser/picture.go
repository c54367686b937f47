package browser

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// Picture is a screenshot.
type Picture struct {
	JPEG          []byte
	Width, Height int
	URL           string
	Note          string
}

// A picture with at most this side and these pixels is taken by the models known
// today as it is. They scale a larger one down themselves, or refuse it.
const (
	pictureSide = 1568
	pictureArea = 1_150_000
)

// Screenshot takes a picture of the viewport, the whole page, or an element.
func (s *Session) Screenshot(ctx context.Context, scope, ref string) (Picture, error) {
	ctx, t, done, err := s.begin(ctx, 20*time.Second, false)
	if err != nil {
		return Picture{}, err
	}
	defer done()
	p, err := t.picture(ctx, scope, ref)
	return p, s.explain(ctx, t, err)
}

func (t *tab) picture(ctx context.Context, scope, ref string) (Picture, error) {
	var dpr struct{ DPR float64 }
	if err := t.js(ctx, t.root(), "hello", nil, &dpr); err != nil {
		return Picture{}, err
	}
	var box struct{ X, Y, W, H float64 }
	if ref != "" {
		f, id, err := t.locate(ref)
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
	var lay struct {
		View struct{ PageX, PageY, ClientWidth, ClientHeight float64 } `json:"cssVisualViewport"`
		Size struct{ Width, Height float64 }                           `json:"cssContentSize"`
	}
	if err := t.call(ctx, t.session, "Page.getLayoutMetrics", nil, &lay); err != nil {
		return Picture{}, err
	}
	clip := proto.PageViewport{X: lay.View.PageX, Y: lay.View.PageY, Width: lay.View.ClientWidth, Height: lay.View.ClientHeight, Scale: 1}
	note := ""
	switch {
	case ref != "":
		clip.X, clip.Y, clip.Width, clip.Height = lay.View.PageX+box.X, lay.View.PageY+box.Y, math.Max(box.W, 1), math.Max(box.H, 1)
	case scope == "full":
		clip.X, clip.Y, clip.Width, clip.Height = 0, 0, lay.Size.Width, math.Min(lay.Size.Height, lay.Size.Width*4)
		if clip.Height < lay.Size.Height {
			note = fmt.Sprintf("the first %.0f of %.0f px of the page", clip.Height, lay.Size.Height)
		}
	}
	side := math.Max(clip.Width, clip.Height)
	clip.Scale = math.Min(1, pictureSide/side) / math.Max(dpr.DPR, 0.1)
	quality := 80
	req := proto.PageCaptureScreenshot{
		Format: proto.PageCaptureScreenshotFormatJpeg, Quality: &quality, Clip: &clip,
		CaptureBeyondViewport: scope == "full" && ref == "", OptimizeForSpeed: true,
	}
	var got proto.PageCaptureScreenshotResult
	if err := t.call(ctx, t.session, req.ProtoReq(), req, &got); err != nil {
		return Picture{}, err
	}
	raw := got.Data
	k := clip.Scale * dpr.DPR
	t.mu.Lock()
	defer t.mu.Unlock()
	return Picture{JPEG: raw, Width: int(math.Round(clip.Width * k)), Height: int(math.Round(clip.Height * k)), URL: t.url, Note: note}, nil
}
