//go:build unix

package files

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gofer/backend/tool"
)

func (p *place) link(to, name string) string {
	p.t.Helper()
	path := filepath.Join(p.ws, name)
	if err := os.Symlink(to, path); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func TestSpecialFilesAreRefusedAtOnce(t *testing.T) {
	p := newPlace(t)
	fifo := filepath.Join(p.ws, "q")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, "/dev/urandom", "/dev/zero", "/dev/tty"} {
		began := time.Now()
		is(t, p.call("fs_read", map[string]any{"path": path}), true)
		is(t, p.call("fs_write", map[string]any{"path": path, "content": "x"}), true)
		is(t, p.call("fs_delete", map[string]any{"path": path}), true)
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s took %v", path, took)
		}
	}
	is(t, p.call("fs_search", map[string]any{"pattern": "x"}), false, "No matches")
}

func TestLinksOutOfTheWorkspaceAreNotFollowed(t *testing.T) {
	p := newPlace(t)
	secret := p.file(filepath.Join(p.out, "secret"), "canary")
	p.link(secret, "abs")
	p.link("../out/secret", "rel")
	p.link("../out", "dir")
	p.link("../out/fresh", "dangling")
	for _, path := range []string{"abs", "rel", "dir/secret", "dangling", "dir/new"} {
		is(t, p.call("fs_read", map[string]any{"path": path}), true, "leads out of the workspace", p.out)
		is(t, p.call("fs_write", map[string]any{"path": path, "content": "x"}), true, "leads out of the workspace")
		// The guard judges the real target.
		for _, c := range p.claims("fs_read", map[string]any{"path": path}) {
			if !strings.HasPrefix(c.Object, p.out) {
				t.Errorf("%s claims %s", path, c.Object)
			}
		}
	}
	is(t, p.call("fs_search", map[string]any{"pattern": "canary"}), false, "No matches")
	if got, _ := os.ReadDir(p.out); len(got) != 1 || p.content(secret) != "canary" {
		t.Error("something outside was changed")
	}
	// A link is deleted itself.
	is(t, p.call("fs_delete", map[string]any{"path": "abs"}), false)
	if !exists(secret) || exists(filepath.Join(p.ws, "abs")) {
		t.Error("the wrong thing was deleted")
	}
}

func TestLinksInsideTheWorkspaceWork(t *testing.T) {
	p := newPlace(t)
	p.file("real/a.txt", "hello")
	p.link(filepath.Join(p.ws, "real"), "abs")
	p.link("real/a.txt", "rel")
	p.link("loop", "loop")
	is(t, p.call("fs_read", map[string]any{"path": "abs/a.txt"}), false, "hello")
	is(t, p.call("fs_write", map[string]any{"path": "rel", "content": "bye"}), false)
	if p.content("real/a.txt") != "bye" {
		t.Error("the link was not followed")
	}
	is(t, p.call("fs_read", map[string]any{"path": "loop"}), true, "loop of links")
}

func TestPathsOutsideAreClaimedAsSuchAndWork(t *testing.T) {
	p := newPlace(t)
	t.Setenv("HOME", p.out)
	for path, want := range map[string]string{
		"../escape.txt": filepath.Join(filepath.Dir(p.ws), "escape.txt"), "~/x": filepath.Join(p.out, "x"), "a/../b": filepath.Join(p.ws, "b"),
	} {
		claims := p.claims("fs_write", map[string]any{"path": path, "content": "x"})
		if len(claims) != 1 || claims[0].Object != want || claims[0].Class != tool.WriteFile {
			t.Errorf("%s claims %+v", path, claims)
		}
	}
	is(t, p.call("fs_write", map[string]any{"path": filepath.Join(p.out, "deep", "a.txt"), "content": "x\n"}), false)
	is(t, p.call("fs_read", map[string]any{"path": "~/deep/a.txt"}), false, "x\n")
	is(t, p.call("fs_list", map[string]any{"path": p.out}), false, "deep/")
	is(t, p.call("fs_delete", map[string]any{"path": "~/deep/a.txt"}), false)
	is(t, p.call("fs_delete", map[string]any{"path": "~/deep"}), false)
	is(t, p.call("fs_list", map[string]any{"path": "/"}), false, "entries")
}

func TestTheAppsOwnFolderIsClosed(t *testing.T) {
	p := newPlace(t)
	app := p.f.Protected[0]
	p.file(filepath.Join(app, "keys"), "canary")
	p.link(app, "app")
	for _, path := range []string{filepath.Join(app, "keys"), app + "/../app/keys", "app/keys", "/proc/self/environ", "/proc/self/root" + app + "/keys"} {
		for name, args := range map[string]map[string]any{
			"fs_read": {"path": path}, "fs_write": {"path": path, "content": "x"}, "fs_delete": {"path": path},
			"fs_edit": {"path": path, "old_text": "canary", "new_text": "x"}, "fs_search": {"path": path, "pattern": "canary"},
		} {
			is(t, p.call(name, args), true)
		}
	}
	is(t, p.call("fs_search", map[string]any{"path": filepath.Dir(app), "pattern": "canary"}), false, "No matches")
	if p.content(filepath.Join(app, "keys")) != "canary" {
		t.Error("the file was changed")
	}
	shared := p.file(filepath.Join(app, "downloads", "a.txt"), "mine")
	p.f.Shared = []string{filepath.Dir(shared)}
	is(t, p.call("fs_read", map[string]any{"path": shared}), false, "mine")
}

func TestASwappedLinkLeaksNothing(t *testing.T) {
	p := newPlace(t)
	secret := p.file(filepath.Join(p.out, "secret"), "canary")
	p.file("safe", "harmless")
	p.file("d1/f", "harmless")
	p.file(filepath.Join(p.out, "f"), "canary")
	end := make(chan struct{})
	var wg sync.WaitGroup
	swap := func(name, good, bad string) {
		defer wg.Done()
		path, temp := filepath.Join(p.ws, name), filepath.Join(p.ws, name+".tmp")
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
			}
			to := good
			if i%2 == 1 {
				to = bad
			}
			_ = os.Symlink(to, temp)
			_ = os.Rename(temp, path)
		}
	}
	wg.Add(2)
	go swap("x", "safe", secret)
	go swap("d", "d1", p.out)
	good, n := 0, 0
	for until := time.Now().Add(1500 * time.Millisecond); time.Now().Before(until); n++ {
		for _, path := range []string{"x", "d/f"} {
			// What an approver who denies would see: reads claimed outside are not run.
			if c := p.claims("fs_read", map[string]any{"path": path}); len(c) != 1 || !within(p.ws, c[0].Object) {
				continue
			}
			r := p.call("fs_read", map[string]any{"path": path})
			if strings.Contains(r.Text, "canary") {
				t.Fatal("the secret leaked")
			}
			if !r.Failed {
				good++
			}
			p.call("fs_write", map[string]any{"path": path, "content": "harmless"})
		}
	}
	close(end)
	wg.Wait()
	if p.content(secret) != "canary" || p.content(filepath.Join(p.out, "f")) != "canary" {
		t.Error("a file outside was written")
	}
	if good == 0 {
		t.Errorf("not one of %d reads worked, the test shows nothing", n)
	}
}

func TestAFullDiskKeepsTheOldFile(t *testing.T) {
	if ws := os.Getenv("FULL_DISK_IN"); ws != "" {
		// A limit on file sizes fails a write in the middle, as a full disk does.
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_000, Max: 100_000}); err != nil {
			t.Fatal(err)
		}
		p := &place{t: t, ws: ws, f: Folder{Workspace: ws}}
		for range 100 {
			is(t, p.call("fs_write", map[string]any{"path": "a", "content": strings.Repeat("x", 200_000)}), true)
		}
		_, err := p.f.Save(context.Background(), "a", strings.NewReader(strings.Repeat("x", 200_000)), 1<<20)
		if err == nil {
			t.Error("saving did not fail")
		}
		return
	}
	p := newPlace(t)
	p.file("a", "original")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=TestAFullDiskKeepsTheOldFile$")
	cmd.Env = append(os.Environ(), "FULL_DISK_IN="+p.ws)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	entries, _ := os.ReadDir(p.ws)
	if p.content("a") != "original" || len(entries) != 1 {
		t.Errorf("content %q, %d files", p.content("a"), len(entries))
	}
}

func TestAWriteKeepsTheModeAndHonoursItsLimit(t *testing.T) {
	p := newPlace(t)
	path := p.file("run.sh", "old")
	if err := os.Chmod(path, 0o750); err != nil {
		t.Fatal(err)
	}
	is(t, p.call("fs_write", map[string]any{"path": "run.sh", "content": "new"}), false)
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o750 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if _, err := p.f.Save(context.Background(), "run.sh", strings.NewReader("123456"), 5); err == nil || p.content("run.sh") != "new" {
		t.Errorf("a file above the limit: %v, content %q", err, p.content("run.sh"))
	}
}
