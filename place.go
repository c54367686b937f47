package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

const (
	minWidth, minHeight = 720, 560
	width, height       = 1200, 800
)

// place is where the window was when it was last closed. It lives in a file of
// its own; one that cannot be read or written only costs the memory of it.
type place struct {
	Width     int  `json:"width"`
	Height    int  `json:"height"`
	X         int  `json:"x"`
	Y         int  `json:"y"`
	Maximised bool `json:"maximised"`
	Known     bool `json:"known"` // X and Y were seen

	file string
}

// readPlace returns the remembered place, or the default one. An empty file
// name remembers nothing.
func readPlace(file string) *place {
	p := place{Width: width, Height: height}
	if raw, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(raw, &p)
	}
	if p.Width < minWidth || p.Height < minHeight || p.Width > 1<<14 || p.Height > 1<<14 {
		p = place{Width: width, Height: height}
	}
	p.file = file
	return &p
}

func (p *place) state() options.WindowStartState {
	if p.Maximised {
		return options.Maximised
	}
	return options.Normal
}

// restore moves the window where it was, unless that is off the screen now.
func (p *place) restore(ctx context.Context) {
	if !p.Known || p.Maximised {
		return
	}
	screens, err := runtime.ScreenGetAll(ctx)
	if err != nil {
		return
	}
	for _, s := range screens {
		if s.IsCurrent && p.fits(s.Size.Width, s.Size.Height) {
			runtime.WindowSetPosition(ctx, p.X, p.Y)
			return
		}
	}
}

// fits reports whether enough of the window to take hold of lies on a screen of this size.
func (p *place) fits(width, height int) bool {
	return p.X >= 0 && p.Y >= 0 && p.X+minWidth/2 <= width && p.Y+minHeight/2 <= height
}

// remember notes the place for the next start.
func (p *place) remember(ctx context.Context) {
	if p.file == "" {
		return
	}
	p.Maximised = runtime.WindowIsMaximised(ctx)
	if !p.Maximised {
		p.Width, p.Height = runtime.WindowGetSize(ctx)
		p.X, p.Y = runtime.WindowGetPosition(ctx)
		p.Known = true
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(p.file), 0o700); err == nil {
		_ = os.WriteFile(p.file, raw, 0o600)
	}
}
