package errand

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CheckLinks compares links.txt in a folder with the site and says what is wrong.
func CheckLinks(s *Site, folder string) []string {
	raw, err := os.ReadFile(filepath.Join(folder, "links.txt"))
	if err != nil {
		return []string{"links.txt: " + err.Error()}
	}
	var wrong []string
	found := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, s.Origin) {
				found[word]++
			}
		}
	}
	for _, p := range s.Pages {
		url := s.URL(p)
		if found[url] != 1 {
			wrong = append(wrong, fmt.Sprintf("links.txt names %s %d times, want once", url, found[url]))
		}
		delete(found, url)
	}
	for url := range found {
		wrong = append(wrong, "links.txt names "+url+", which is no page of the list")
	}
	return wrong
}

// CheckAll compares the files of a folder, and what was done to the site, with
// what the long errand asks for: every picture byte for byte, one text per page
// that holds its title, code word and address, and every page marked read
// exactly once. Where the files lie does not matter.
func CheckAll(s *Site, folder string) []string {
	texts, sums, err := contents(folder)
	if err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	for _, p := range s.Pages {
		var mine []string
		for name, text := range texts {
			if strings.Contains(text, p.Code) {
				mine = append(mine, name)
			}
		}
		slices.Sort(mine)
		if len(mine) != 1 {
			wrong = append(wrong, fmt.Sprintf("%s: %d files hold its code word, want one: %v", p.Title, len(mine), mine))
			continue
		}
		for _, want := range []string{p.Title, s.URL(p), firstSentence(p)} {
			if !strings.Contains(texts[mine[0]], want) {
				wrong = append(wrong, fmt.Sprintf("%s: %s lacks %q", p.Title, mine[0], want))
			}
		}
		for _, im := range p.Images {
			if !sums[im.Sum] {
				wrong = append(wrong, fmt.Sprintf("%s: no file holds the bytes of %s", p.Title, im.Path))
			}
		}
	}
	return append(wrong, s.checkPosts()...)
}

func (s *Site) checkPosts() []string {
	var wrong []string
	posts := s.Posts()
	for _, p := range s.Pages {
		if posts[p.Path] != 1 {
			wrong = append(wrong, fmt.Sprintf("%s was marked read %d times, want once", p.Title, posts[p.Path]))
		}
		delete(posts, p.Path)
	}
	for path, n := range posts {
		wrong = append(wrong, fmt.Sprintf("%s got %d form posts, want none", path, n))
	}
	return wrong
}

func firstSentence(p Page) string {
	text, _, _ := strings.Cut(p.Text[0], ". ")
	return strings.TrimSuffix(text, ".")
}

// contents reads the texts of a folder by name and the hashes of all files.
func contents(folder string) (texts map[string]string, sums map[[32]byte]bool, err error) {
	texts, sums = map[string]string{}, map[[32]byte]bool{}
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sums[sha256.Sum256(raw)] = true
		if ext := filepath.Ext(path); ext == ".md" || ext == ".txt" {
			texts[strings.TrimPrefix(path, folder)] = string(raw)
		}
		return nil
	})
	return texts, sums, err
}
