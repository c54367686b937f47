package tour

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/errand"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/openai"
)

// run plays a tour at a desk of pretended tools and returns its last words.
func run(t *testing.T, s site, desk *errand.Desk) (said string, calls int) {
	t.Helper()
	tour, err := start(s, pace{wait: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, p := range tour.Problems() {
			t.Error(p)
		}
		if err := tour.Close(); err != nil {
			t.Error(err)
		}
	}()
	desk.Folder = t.TempDir()
	loop := &llmtest.Loop{Model: openai.New(openai.Options{BaseURL: tour.BaseURL, Model: tour.Model}), Tools: desk.Tools(), Do: desk.Do}
	loop.Prompt(tour.Prompt)
	said, err = loop.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check(t, s, tour, desk.Folder)
	return said, loop.Calls
}

// check compares the files with the site.
func check(t *testing.T, s site, tour *Tour, folder string) {
	t.Helper()
	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Error(err)
		}
		return string(raw)
	}
	links := read("links.txt")
	for _, a := range s.articles {
		if want := tour.SiteOrigin + a.Path() + " " + a.Title + "\n"; !strings.Contains(links, want) {
			t.Errorf("links.txt lacks %q", want)
		}
		if read("pictures/"+a.Slug+"."+a.Kind) != string(draw(a)) {
			t.Errorf("the picture of %s is not the site's", a.Slug)
		}
	}
	if got := strings.Count(links, "\n"); got != len(s.articles) {
		t.Errorf("links.txt has %d lines, want %d", got, len(s.articles))
	}
	summaries, err := filepath.Glob(filepath.Join(folder, "summaries", "*.md"))
	if err != nil || len(summaries) != len(s.articles) {
		t.Errorf("got %d summaries, want %d", len(summaries), len(s.articles))
	}
}

func TestTheTourEndsRight(t *testing.T) {
	desk := &errand.Desk{}
	said, calls := run(t, builtIn(), desk)
	if calls < 30 {
		t.Errorf("got %d calls, want at least 30", calls)
	}
	for _, want := range []string{"7 articles on 2 pages", "no model", "- The clock that waits"} {
		if !strings.Contains(said, want) {
			t.Errorf("got %q, want %q in it", said, want)
		}
	}
	if desk.Counts["ask_clarification"] != 1 || desk.Counts["browser_click"] != 1 {
		t.Errorf("got calls %v", desk.Counts)
	}
}

func TestTheTourEndsRightOnAnotherSite(t *testing.T) {
	other := site{perPage: 3}
	for i := range 11 {
		kind := []string{"png", "jpg"}[i%2]
		other.articles = append(other.articles, article{
			Slug: fmt.Sprintf("n%d", i), Kind: kind, Title: fmt.Sprintf("Other (new) piece no. %d & more", i), Teaser: "Short.",
			Text: []string{fmt.Sprintf("This is the first sentence of %d. Here is the second one. And a third. A fourth.", i)},
		})
	}
	desk := &errand.Desk{Relative: true}
	said, _ := run(t, other, desk)
	if !strings.Contains(said, "11 articles on 4 pages") {
		t.Errorf("got %q", said)
	}
	raw, err := os.ReadFile(filepath.Join(desk.Folder, "summaries", "other-new-piece-no-3-more.md"))
	if err != nil || !strings.Contains(string(raw), "This is the first sentence of 3. Here is the second one. And a third.\n") {
		t.Errorf("got %q, %v", raw, err)
	}
}

func TestTheAnswerToTheQuestionCounts(t *testing.T) {
	desk := &errand.Desk{Answer: "short (One sentence)"}
	run(t, builtIn(), desk)
	raw, err := os.ReadFile(filepath.Join(desk.Folder, "summaries", "bread-by-bicycle.md"))
	if err != nil || strings.Contains(string(raw), "nineteen") {
		t.Errorf("got %q, %v, want one sentence", raw, err)
	}
}

func TestTheSiteAnswersToItsOwnHostOnly(t *testing.T) {
	tour, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer tour.Close()
	for host, want := range map[string]int{"": http.StatusOK, "rebound.example": http.StatusMisdirectedRequest} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, tour.SiteOrigin+"/", nil)
		if host != "" {
			req.Host = host
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("host %q: got %d, want %d", host, res.StatusCode, want)
		}
	}
}
