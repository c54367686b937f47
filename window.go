package main

import (
	"context"
	"fmt"
	"io/fs"

	"gofer/backend/event"
	"gofer/backend/fault"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// channel is the one name under which events reach the page.
const channel = "agent:event"

// openWindow shows the window and returns when it was closed. With the build
// tag bindings it writes the front end's bindings instead and touches nothing else.
func openWindow(app *App, place *place) error {
	files, err := page()
	if err != nil {
		return fmt.Errorf("read the built page: %w", err)
	}
	return wails.Run(windowOptions(app, place, files))
}

// windowOptions say what the window is and what its page may do. Bindings are
// answered to the page's own origin only, as no other is named.
func windowOptions(app *App, place *place, files fs.FS) *options.App {
	var end context.CancelFunc
	done := make(chan struct{})
	return &options.App{
		Title:            "Gofer",
		Width:            place.Width,
		Height:           place.Height,
		MinWidth:         minWidth,
		MinHeight:        minHeight,
		WindowStartState: place.state(),
		BackgroundColour: options.NewRGB(0xFA, 0xFA, 0xF8),
		AssetServer: &assetserver.Options{
			Assets:     files,
			Handler:    blobs(app.readBlob),
			Middleware: guarded,
		},
		OnStartup: func(ctx context.Context) {
			ctx, end = context.WithCancel(ctx)
			app.ctx = ctx
			app.mu.Lock()
			app.shown = ctx
			app.mu.Unlock()
			place.restore(ctx)
			go func() {
				defer close(done)
				forward(ctx, func(ctx context.Context) (<-chan event.Envelope, error) { return app.service.Events(ctx, "") },
					func(batch []event.Envelope) { runtime.EventsEmit(ctx, channel, batch) })
			}()
		},
		OnBeforeClose: func(ctx context.Context) bool {
			place.remember(ctx)
			return false
		},
		OnShutdown: func(context.Context) {
			end()
			<-done
		},
		Bind:           []any{app},
		ErrorFormatter: func(err error) any { return fault.From(err) },
		// A file dropped on the page would replace it.
		DragAndDrop: &options.DragAndDrop{EnableFileDrop: false, DisableWebViewDrop: true},
		Linux: &linux.Options{
			Icon:             icon,
			ProgramName:      "gofer",
			WebviewGpuPolicy: linux.WebviewGpuPolicyNever,
		},
	}
}
