package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Upload gives files to a file field, to the button that asks for them, or to
// the place that takes them when they are dropped on it.
func (s *Session) Upload(ctx context.Context, ref string, paths []string) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.upload(ctx, ref, paths)
	return r, t.remember(Target{Ref: ref}, s.explain(ctx, t, err))
}

func (t *tab) upload(ctx context.Context, ref string, paths []string) (Report, error) {
	f, id, err := t.locate(ref)
	if err != nil {
		return Report{}, err
	}
	var k struct {
		Kind, Role, Name string
		Own, Folder      bool
	}
	if err := t.js(ctx, f, "kind", args{"ref": id}, &k); err != nil {
		return Report{}, err
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return Report{}, problem(InvalidRequest, "%s is not an absolute path", p)
		}
		if info, err := os.Stat(p); err != nil || info.IsDir() && !k.Folder {
			return Report{}, problem(NotFound, "there is no file %s", p)
		} else if k.Folder && !info.IsDir() {
			return Report{}, problem(InvalidRequest, "%s takes a folder, and %s is a file", named(k.Role, k.Name, ref), p)
		}
	}
	r := Report{Did: "Gave " + quoted(paths) + " to " + named(k.Role, k.Name, ref)}
	give := map[string]any{"files": paths}
	if k.Kind == "file" && k.Own {
		if err := t.js(ctx, f, "arm", args{"ref": id}, nil); err != nil {
			return r, err
		}
		object, _, err := t.object(ctx, f, id, false)
		if err != nil {
			return r, err
		}
		give["objectId"] = object
		m := t.mark()
		if err := t.call(ctx, f.session, "DOM.setFileInputFiles", give, nil); err != nil {
			return r, err
		}
		return r, t.holdsFiles(ctx, f, m, id, &r)
	}
	asked, err := t.askedForFiles(ctx, ref)
	if err != nil {
		return r, err
	}
	if asked == nil {
		return r, t.dropFiles(ctx, ref, paths, &r)
	}
	if len(paths) > 1 && !asked.multi {
		return r, problem(InvalidRequest, "the page takes one file")
	}
	if err := t.js(ctx, f, "arm", args{"ref": id}, nil); err != nil {
		return r, err
	}
	give["backendNodeId"] = asked.backend
	m := t.mark()
	if err := t.call(ctx, asked.session, "DOM.setFileInputFiles", give, nil); err != nil {
		return r, err
	}
	return r, t.after(ctx, f, m, &r, true)
}

// holdsFiles reads back what a file field holds now.
func (t *tab) holdsFiles(ctx context.Context, f *frame, m mark, id int, r *Report) error {
	var got struct {
		Names []string
		N     int
	}
	if err := t.js(ctx, f, "files", args{"ref": id}, &got); err != nil && !isProblem(err) && !errors.Is(err, errNavigated) {
		return err
	} else if err == nil && got.N > 0 {
		line := "it holds " + quoted(got.Names)
		if got.N > len(got.Names) {
			line += fmt.Sprintf(" and %d more", got.N-len(got.Names))
		}
		r.Changes = append(r.Changes, line)
	}
	return t.after(ctx, f, m, r, true)
}

// askedForFiles presses what a ref names and returns the chooser it opened, if any.
func (t *tab) askedForFiles(ctx context.Context, ref string) (*fileChooser, error) {
	chooser := func() *fileChooser {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.files
	}
	if asked := chooser(); asked != nil && asked.by == strings.TrimSpace(ref) {
		return asked, nil
	}
	if _, err := t.click(ctx, Click{Target: Target{Ref: ref}}); err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = t.until(soon, func() bool { return t.files != nil })
	return chooser(), nil
}

// dropFiles drags files onto an element, as from a file manager.
func (t *tab) dropFiles(ctx context.Context, ref string, paths []string, r *Report) error {
	at, err := t.place(ctx, ref, placed{})
	if err != nil {
		return err
	}
	if err := t.js(ctx, at.f, "arm", args{"ref": at.id}, nil); err != nil {
		return err
	}
	m := t.mark()
	for _, kind := range []string{"dragEnter", "dragOver", "dragOver", "drop"} {
		e := map[string]any{"type": kind, "x": at.X, "y": at.Y, "data": map[string]any{"items": []any{}, "files": paths, "dragOperationsMask": 1}}
		if err := t.call(ctx, t.session, "Input.dispatchDragEvent", e, nil); err != nil {
			return err
		}
	}
	var got struct{ Dropped bool }
	if err := t.js(ctx, at.f, "dropped", nil, &got); err == nil && !got.Dropped {
		return problem(NotInteractable, "%s neither asked for a file nor took one that was dropped on it", at.what)
	}
	r.Did = "Dropped " + quoted(paths) + " on " + at.what
	return t.after(ctx, at.f, m, r, false)
}
