package browser_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

func own(t *testing.T, profile string) *browser.Browser {
	t.Helper()
	return browsertest.Own(t, browser.Options{Profile: profile})
}

// eventually waits for a condition of the system, which sends no events.
func eventually(t *testing.T, what string, within time.Duration, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(within); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, within)
		}
	}
}

func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestABrowserThatIsNotThereIsSaid(t *testing.T) {
	b := browser.New(browser.Options{Path: "/nowhere/chrome", Profile: t.TempDir()})
	_, err := b.Session("a").Open(context.Background(), "about:blank", false)
	if !errors.Is(err, browser.ErrNoBrowser) {
		t.Errorf("got %v", err)
	}
	_ = b.Close()
}

func TestAKilledBrowserIsNoticedAndStartedAgain(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/": `<title>Kept</title><button onclick="for(;;){}">Spin</button>`})
	b := own(t, t.TempDir())
	s := b.Session("a")
	ctx := context.Background()
	browsertest.Open(t, s, site.URL)
	snap(t, s, browser.Query{})
	done := make(chan error, 1)
	go func() {
		_, err := s.Click(ctx, browser.Click{Target: browser.Target{Ref: "e1"}})
		done <- err
	}()
	pid := b.PID()
	killed := time.Now()
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	err := <-done
	if took := time.Since(killed); !errors.Is(err, browser.ErrBrowserGone) || took > time.Second {
		t.Errorf("the call ended after %v with %v", took, err)
	}
	v, err := s.Snapshot(ctx, browser.Query{})
	if err != nil || v.Title != "Kept" {
		t.Fatalf("after the restart: %+v %v", v, err)
	}
	if n := strings.Join(s.Notices(), " "); !strings.Contains(n, "opened again with t1 "+site.URL) {
		t.Errorf("notices %q", n)
	}
}

func TestAllTabsComeBackAfterAKillUnderTheirOldNames(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/a": `<title>A</title>`, "/b": `<title>B</title>`, "/c": `<title>C</title>`})
	b := own(t, t.TempDir())
	s := b.Session("a")
	ctx := context.Background()
	for _, path := range []string{"/a", "/b", "/c"} {
		if _, err := s.Open(ctx, site.URL+path, true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.SelectTab(ctx, "t2"); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(-b.PID(), syscall.SIGKILL)
	eventually(t, "the kill is noticed", 5*time.Second, func() bool { return !b.Running() })
	if v, err := s.Snapshot(ctx, browser.Query{}); err != nil || v.Title != "B" {
		t.Errorf("the current tab is not the one it was: %+v %v", v, err)
	}
	eventually(t, "all tabs show what they showed", 10*time.Second, func() bool {
		var got []string
		for _, x := range s.Tabs(ctx) {
			got = append(got, fmt.Sprint(x.ID, strings.TrimPrefix(x.URL, site.URL), x.Current))
		}
		slices.Sort(got)
		return slices.Equal(got, []string{"t1/afalse", "t2/btrue", "t3/cfalse"})
	})
}

func TestAClosedWindowIsReopenedAndToldOf(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/": `<title>Kept</title>`})
	s := own(t, t.TempDir()).Session("a")
	ctx := context.Background()
	closed := make(chan struct{}, 8)
	s.OnChange(func(_, _ string, open bool) {
		if !open {
			closed <- struct{}{}
		}
	})
	browsertest.Open(t, s, site.URL)
	browser.CloseByPerson(s)
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Fatal("nobody was told that the window is closed")
	}
	if s.ClosedByHand().IsZero() {
		t.Error("the window is not known to be closed by hand")
	}
	v, err := s.Snapshot(ctx, browser.Query{})
	if err != nil || v.Title != "Kept" {
		t.Fatalf("%+v %v", v, err)
	}
	if n := strings.Join(s.Notices(), " "); !strings.Contains(n, "opened again") {
		t.Errorf("notices %q", n)
	}
	if !s.ClosedByHand().IsZero() {
		t.Error("the window that is open again still counts as closed")
	}
}

func TestThePageIsToldWithItsTitleAndNeverWithItsAddressAsTitle(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/": `<title>First</title>`, "/second": `<title>Second</title>`, "/bare": `no title`})
	s := own(t, t.TempDir()).Session("a")
	type page struct{ url, title string }
	told := make(chan page, 64)
	s.OnChange(func(url, title string, _ bool) { told <- page{url, title} })
	for _, want := range []page{{site.URL + "/", "First"}, {site.URL + "/second", "Second"}, {site.URL + "/bare", ""}} {
		browsertest.Open(t, s, want.url)
		limit := time.After(5 * time.Second)
		for got := (page{}); got != want; {
			select {
			case got = <-told:
				if got.title != "" && strings.HasSuffix(got.url, got.title) {
					t.Fatalf("an address was told as a title: %q", got)
				}
			case <-limit:
				t.Fatalf("last told %q, want %q", got, want)
			}
		}
	}
}

func TestAProfileInUseIsSaidAndADeadLockIsCleared(t *testing.T) {
	dir := t.TempDir()
	first := own(t, dir)
	ctx := context.Background()
	if _, err := first.Session("a").Open(ctx, "about:blank", false); err != nil {
		t.Fatal(err)
	}
	second := own(t, dir)
	if _, err := second.Session("a").Open(ctx, "about:blank", false); !errors.Is(err, browser.ErrProfileBusy) {
		t.Errorf("got %v", err)
	}
	pid := first.PID()
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	eventually(t, "the killed browser ends", 5*time.Second, func() bool { return !alive(pid) })
	host, _ := os.Hostname()
	lock := filepath.Join(dir, "SingletonLock")
	_ = os.Remove(lock)
	if err := os.Symlink(fmt.Sprintf("%s-%d", host, pid), lock); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Session("b").Open(ctx, "about:blank", false); err != nil {
		t.Errorf("with the lock of a dead owner: %v", err)
	}
}

// children lists the processes whose command line names the profile.
func children(profile string) []int {
	var out []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		line, err := os.ReadFile(d + "/cmdline")
		if err == nil && strings.Contains(string(line), profile) {
			if pid, err := strconv.Atoi(filepath.Base(d)); err == nil && pid != os.Getpid() {
				out = append(out, pid)
			}
		}
	}
	return out
}

// sockets counts listening TCP sockets of a process.
func sockets(t *testing.T, pid int) int {
	t.Helper()
	listening := map[string]bool{}
	for _, f := range []string{"tcp", "tcp6"} {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, f))
		if err != nil {
			continue
		}
		for line := range strings.SplitSeq(string(raw), "\n") {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" {
				listening["socket:["+f[9]+"]"] = true
			}
		}
	}
	n := 0
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && listening[to] {
			n++
		}
	}
	return n
}

func TestTheBrowserListensOnNoPort(t *testing.T) {
	dir := t.TempDir()
	s := own(t, dir).Session("a")
	if _, err := s.Open(context.Background(), "about:blank", false); err != nil {
		t.Fatal(err)
	}
	pids := children(dir)
	if len(pids) == 0 {
		t.Fatal("no browser process found")
	}
	for _, pid := range pids {
		if n := sockets(t, pid); n > 0 {
			t.Errorf("process %d listens on %d sockets", pid, n)
		}
	}
}

func TestSitesAreIsolated(t *testing.T) {
	other := browsertest.Site(t, map[string]string{"/": `<button>Far</button>`})
	site := browsertest.Site(t, map[string]string{"/": `<iframe src="` + strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + `/"></iframe>`})
	dir := t.TempDir()
	s := own(t, dir).Session("a")
	browsertest.Open(t, s, site.URL)
	if got := snap(t, s, browser.Query{}); !strings.Contains(got, "Far") {
		t.Fatalf("the frame cannot be read:\n%s", got)
	}
	for _, pid := range children(filepath.Base(dir)) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(line), "disable-site-isolation") || strings.Contains(string(line), "site-per-process,") {
			t.Errorf("isolation is switched off: %s", line)
		}
	}
	frames, err := s.Eval(context.Background(), "(()=>{try{return frames[0].document?'open':'none'}catch{return 'closed'}})()", "")
	if err != nil || string(frames) != `"closed"` && string(frames) != `"none"` {
		t.Errorf("frame: %s %v", frames, err)
	}
}

// TestHelperProcess is no test: it is the program that TestTheBrowserDies kills.
func TestHelperProcess(t *testing.T) {
	dir := os.Getenv("GOFER_BROWSERTEST_PROFILE")
	if dir == "" {
		return
	}
	b := browser.New(browser.Options{Profile: dir, Headless: browsertest.Headless()})
	if _, err := b.Session("a").Open(context.Background(), "about:blank", false); err != nil {
		fmt.Println("failed", err)
		return
	}
	fmt.Println("up", b.PID())
	select {}
}

func TestTheBrowserDiesWithItsParent(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=TestHelperProcess$")
	cmd.Env = append(os.Environ(), "GOFER_BROWSERTEST_PROFILE="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "up ") {
		t.Fatalf("helper said %q %v", line, err)
	}
	if len(children(dir)) == 0 {
		t.Fatal("no browser process found")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "no process of the browser is left", 3*time.Second, func() bool { return len(children(dir)) == 0 })
}

// temporary lists what browsers keep in a folder for temporary files.
func temporary(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestNothingIsLeftAmongTheTemporaryFiles(t *testing.T) {
	tmp, profile := t.TempDir(), t.TempDir()
	start := func() *browser.Browser {
		b := browsertest.Own(t, browser.Options{Profile: profile, Env: []string{"TMPDIR=" + tmp}})
		if _, err := b.Session("a").Open(context.Background(), "about:blank", false); err != nil {
			t.Fatal(err)
		}
		if len(temporary(t, tmp)) == 0 {
			t.Fatal("the browser keeps nothing there, so this test shows nothing")
		}
		return b
	}
	none := func() bool {
		_, err := os.Readlink(filepath.Join(profile, "SingletonCookie"))
		return len(temporary(t, tmp)) == 0 && err != nil
	}
	if err := start().Close(); err != nil || !none() {
		t.Errorf("after a close: %v %v", temporary(t, tmp), err)
	}
	b := start()
	_ = syscall.Kill(-b.PID(), syscall.SIGKILL)
	eventually(t, "a killed browser is tidied up after", 5*time.Second, none)
	// Nobody was there to tidy up: the next start does.
	b = start()
	pid := b.PID()
	left := temporary(t, tmp)[0]
	links := map[string]string{}
	for _, n := range []string{"SingletonLock", "SingletonSocket", "SingletonCookie"} {
		links[n], _ = os.Readlink(filepath.Join(profile, n))
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	eventually(t, "it is tidied up after again", 5*time.Second, none)
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	for n, to := range links {
		if err := os.Symlink(to, filepath.Join(profile, n)); err != nil {
			t.Fatal(err)
		}
	}
	_ = b.Close()
	b = start()
	if got := temporary(t, tmp); len(got) != 1 || got[0] == left {
		t.Errorf("after the next start there is %v", got)
	}
	_ = b.Close()
}

// theirs is a browser that a person started with a debugging port.
func theirs(t *testing.T, page string) (port string, cmd *exec.Cmd) {
	t.Helper()
	path, err := browser.Find("")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"--remote-debugging-port=0", "--user-data-dir=" + dir, "--no-first-run", "--password-store=basic", "--disable-dev-shm-usage"}
	if browsertest.Headless() {
		args = append(args, "--headless=new")
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox", "--test-type")
	}
	cmd = exec.Command(path, append(args, page)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		eventually(t, "their browser has ended", 5*time.Second, func() bool { return len(children(dir)) == 0 })
	})
	eventually(t, "their browser names its port", 20*time.Second, func() bool {
		raw, err := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
		port, _, _ = strings.Cut(string(raw), "\n")
		return err == nil && port != ""
	})
	return "127.0.0.1:" + port, cmd
}

// shown lists the addresses of all pages of a browser with a debugging port.
func shown(t *testing.T, port string) string {
	t.Helper()
	resp, err := http.Get("http://" + port + "/json/list")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestABrowserThatAPersonStartedIsUsedAndLeftAsItWas(t *testing.T) {
	site := httptest.NewServer(oddSite())
	t.Cleanup(site.Close)
	port, cmd := theirs(t, site.URL+"/shut")
	b := browsertest.Own(t, browser.Options{Attach: port})
	ctx := context.Background()
	s := b.Session("a")
	browsertest.Open(t, s, site.URL+"/pop")
	if n := strings.Join(s.Notices(), " "); !strings.Contains(n, "the user's own browser") {
		t.Errorf("nothing warns: %q", n)
	}
	if got := snap(t, s, browser.Query{}); !strings.Contains(got, `button "Open"`) {
		t.Errorf("snapshot:\n%s", got)
	}
	r, err := s.Click(ctx, browser.Click{Target: browser.Target{Text: "Aside"}})
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, `new tab t2 "Shut"`)
	if tabs := s.Tabs(ctx); len(tabs) != 2 {
		t.Errorf("their tab counts as ours: %+v", tabs)
	}
	if got := shown(t, port); strings.Count(got, site.URL+"/shut") != 2 || !strings.Contains(got, site.URL+"/pop") {
		t.Errorf("the tabs are not in their browser: %s", got)
	}
	if p, err := s.Screenshot(ctx, browser.Shot{}); err != nil || len(p.JPEG) < 1000 {
		t.Errorf("screenshot: %d bytes, %v", len(p.JPEG), err)
	}
	if b.PID() != 0 || !b.Running() {
		t.Errorf("process %d, running %v", b.PID(), b.Running())
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "only our tabs are closed", 5*time.Second, func() bool {
		got := shown(t, port)
		return strings.Count(got, site.URL+"/shut\"") == 1 && !strings.Contains(got, "/pop")
	})
	if !alive(cmd.Process.Pid) {
		t.Error("their browser was ended")
	}
	again := browsertest.Own(t, browser.Options{Attach: "http://" + port})
	s = again.Session("a")
	browsertest.Open(t, s, site.URL+"/pop")
	killed := time.Now()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	eventually(t, "the end of their browser is noticed", 5*time.Second, func() bool { return !again.Running() })
	t.Logf("noticed after %v", time.Since(killed))
	if _, err := s.Snapshot(ctx, browser.Query{}); !errors.Is(err, browser.ErrNotAttached) {
		t.Errorf("after its end: %v", err)
	}
}

func TestOnlyABrowserOfThisComputerIsAttachedTo(t *testing.T) {
	site := httptest.NewServer(oddSite())
	t.Cleanup(site.Close)
	for address, want := range map[string]string{
		"example.org:9222": "is not on this computer", "10.0.0.1:9222": "is not on this computer", "localhost": "is no address",
		"127.0.0.1:1": "connection refused", strings.TrimPrefix(site.URL, "http://"): "is no browser",
	} {
		_, err := browsertest.Own(t, browser.Options{Attach: address}).Session("a").Open(context.Background(), "about:blank", false)
		if !errors.Is(err, browser.ErrNotAttached) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
	}
}
