package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"gofer/backend/engine"
	"gofer/backend/fault"
)

//go:embed all:frontend/dist
var dist embed.FS

// page is the built front end.
func page() (fs.FS, error) { return fs.Sub(dist, "frontend/dist") }

// policy is the second wall behind the cleaned Markdown: nothing is loaded
// from outside, no frame, no form target, no inline script. The page carries
// the same in a meta element.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guarded adds the headers that keep the page to itself.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

// pictures are the media types a blob may be shown as. All else is sent as a
// plain download, so that stored pages and SVG files never run as ours.
var pictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// blobs serves GET /blob/<key>.
func blobs(read func(ctx context.Context, key string) (engine.Bytes, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, ok := strings.CutPrefix(r.URL.Path, "/blob/")
		if !ok || r.Method != http.MethodGet || !blobKey(key) {
			http.NotFound(w, r)
			return
		}
		b, err := read(r.Context(), key)
		if err != nil {
			status := http.StatusInternalServerError
			if fault.From(err).Code == fault.NotFound {
				status = http.StatusNotFound
			}
			http.Error(w, fault.From(err).Message, status)
			return
		}
		media := b.Media
		if !pictures[media] {
			media = "application/octet-stream"
			w.Header().Set("Content-Disposition", "attachment")
		}
		w.Header().Set("Content-Type", media)
		w.Header().Set("Content-Length", fmt.Sprint(len(b.Data)))
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		_, _ = w.Write(b.Data)
	})
}

// blobKey reports whether key can be the name of a blob.
func blobKey(key string) bool {
	if key == "" || len(key) > 128 {
		return false
	}
	return !strings.ContainsFunc(key, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	})
}
