package browser

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// mark is a ref and its box in a picture.
type marked struct {
	Ref string
	At  image.Rectangle
}

// marks lists what can be acted on. A picture that begins dx, dy pixels of the
// page into the viewport has k of its pixels for one of the viewport's picture.
func (t *tab) marks(ctx context.Context, now sight, dx, dy, k float64) ([]marked, error) {
	t.number(ctx)
	var out []marked
	for _, f := range t.allFrames() {
		at, err := t.pixels(ctx, f, now)
		if err != nil {
			continue
		}
		var got struct {
			Marks []struct {
				Ref        string
				X, Y, W, H float64
			}
		}
		err = t.js(ctx, f, "snapshot", args{"view": "controls", "budget": MaxBudget, "marks": true, "pixel": at}, &got)
		if err != nil && f.no == 0 {
			return nil, err
		}
		for _, m := range got.Marks {
			px := func(v, d float64) int { return int(math.Round((v - d*now.K) * k)) }
			out = append(out, marked{m.Ref, image.Rect(px(m.X, dx), px(m.Y, dy), px(m.X+m.W, dx), px(m.Y+m.H, dy))})
		}
	}
	return out, nil
}

// inks are told apart from each other and from most pages.
var inks = []color.RGBA{{200, 30, 30, 255}, {20, 90, 200, 255}, {0, 120, 60, 255}, {150, 50, 170, 255}, {160, 90, 0, 255}}

// drawMarks draws each box and its ref onto a picture.
func drawMarks(picture []byte, marks []marked) ([]byte, error) {
	src, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, fmt.Errorf("mark picture: %w", err)
	}
	img := image.NewRGBA(src.Bounds())
	draw.Draw(img, img.Bounds(), src, src.Bounds().Min, draw.Src)
	face := basicfont.Face7x13
	taken := []image.Rectangle{}
	for i, m := range marks {
		box := m.At.Intersect(img.Bounds())
		if box.Dx() < 2 || box.Dy() < 2 {
			continue
		}
		ink := image.NewUniform(inks[i%len(inks)])
		for _, r := range []image.Rectangle{
			{box.Min, image.Pt(box.Max.X, box.Min.Y+1)},
			{image.Pt(box.Min.X, box.Max.Y-1), box.Max},
			{box.Min, image.Pt(box.Min.X+1, box.Max.Y)},
			{image.Pt(box.Max.X-1, box.Min.Y), box.Max},
		} {
			draw.Draw(img, r, ink, image.Point{}, draw.Src)
		}
		label := spot(box, image.Pt(len(m.Ref)*face.Advance+2, face.Height-1), img.Bounds(), taken)
		taken = append(taken, label)
		draw.Draw(img, label, ink, image.Point{}, draw.Src)
		d := font.Drawer{Dst: img, Src: image.White, Face: face, Dot: fixed.P(label.Min.X+1, label.Min.Y+face.Ascent-1)}
		d.DrawString(m.Ref)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 85}); err != nil {
		return nil, fmt.Errorf("mark picture: %w", err)
	}
	return out.Bytes(), nil
}

// spot finds where a label hides least: at a corner of its box, outside of it
// if there is room, and on no other label.
func spot(box image.Rectangle, size image.Point, within image.Rectangle, taken []image.Rectangle) image.Rectangle {
	var first image.Rectangle
	for i, at := range []image.Point{
		{box.Min.X, box.Min.Y - size.Y}, {box.Max.X, box.Min.Y}, {box.Min.X - size.X, box.Min.Y},
		{box.Min.X, box.Max.Y}, {box.Min.X, box.Min.Y}, {box.Max.X - size.X, box.Max.Y - size.Y},
	} {
		r := image.Rectangle{at, at.Add(size)}
		if !r.In(within) {
			continue
		}
		if i == 0 || first.Empty() {
			first = r
		}
		free := true
		for _, o := range taken {
			free = free && !o.Overlaps(r)
		}
		if free {
			return r
		}
	}
	if first.Empty() {
		return image.Rectangle{box.Min, box.Min.Add(size)}
	}
	return first
}
