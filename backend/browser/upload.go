package browser

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// Upload gives files to a file field, or to the button that asks for them.
func (s *Session) Upload(ctx context.Context, ref string, paths []string) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.upload(ctx, ref, paths)
	return r, s.explain(ctx, t, err)
}

func (t *tab) upload(ctx context.Context, ref string, paths []string) (Report, error) {
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return Report{}, problem(InvalidRequest, "%s is not an absolute path", p)
		}
		if info, err := os.Stat(p); err != nil || info.IsDir() {
			return Report{}, problem(NotFound, "there is no file %s", p)
		}
	}
	f, id, err := t.locate(ref)
	if err != nil {
		return Report{}, err
	}
	var k struct{ Kind, Role, Name string }
	if err := t.js(ctx, f, "kind", args{"ref": id}, &k); err != nil {
		return Report{}, err
	}
	r := Report{Did: "Gave " + quoted(paths) + " to " + named(k.Role, k.Name, ref)}
	give := map[string]any{"files": paths}
	session := f.session
	if k.Kind == "file" {
		if err := t.js(ctx, f, "arm", args{"ref": id}, nil); err != nil {
			return r, err
		}
		object, _, err := t.object(ctx, f, id, false)
		if err != nil {
			return r, err
		}
		give["objectId"] = object
	} else {
		t.mu.Lock()
		asked := t.files
		t.mu.Unlock()
		if asked == nil {
			if _, err := t.click(ctx, Click{Target: Target{Ref: ref}}); err != nil {
				return r, err
			}
			soon, cancel := context.WithTimeout(ctx, 2*time.Second)
			_ = t.until(soon, func() bool { return t.files != nil })
			cancel()
			t.mu.Lock()
			asked = t.files
			t.mu.Unlock()
		}
		if asked == nil {
			return r, problem(NotInteractable, "%s did not ask for a file", named(k.Role, k.Name, ref))
		}
		if len(paths) > 1 && !asked.multi {
			return r, problem(InvalidRequest, "the page takes one file")
		}
		if err := t.js(ctx, f, "arm", args{"ref": id}, nil); err != nil {
			return r, err
		}
		give["backendNodeId"], session = asked.backend, asked.session
	}
	m := t.mark()
	if err := t.call(ctx, session, "DOM.setFileInputFiles", give, nil); err != nil {
		return r, err
	}
	return r, t.after(ctx, f, m, &r, true)
}
