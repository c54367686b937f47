package widgettest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"gofer/backend/browser"
)

func TestFilesAreGivenToFieldsButtonsLabelsFoldersAndDropZones(t *testing.T) {
	dir := t.TempDir()
	one, two, folder := filepath.Join(dir, "one.txt"), filepath.Join(dir, "two.txt"), filepath.Join(dir, "deep")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{one, two, filepath.Join(folder, "three.txt")} {
		if err := os.WriteFile(p, []byte("hello"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := page(t, "files")
	text := a.snap()
	give := func(ref string, paths []string, words ...string) {
		t.Helper()
		r, err := a.s.Upload(context.Background(), ref, paths)
		a.says(r, err, words...)
	}
	photo := a.refIn(text, `clickable "Choose a photo"`)
	_, err := a.s.Upload(context.Background(), photo, []string{one, two})
	a.fails(err, browser.InvalidRequest, "the page takes one file")
	give(a.refIn(text, `button "Attach files"`), []string{one, two}, "Attached one.txt 5, two.txt 5")
	give(photo, []string{one}, "Photo one.txt 5")
	give(a.refIn(text, `clickable "Drop files here"`), []string{one, two}, `Dropped "`, "Dropped one.txt 5, two.txt 5")
	give(a.refIn(text, `button "Folder"`), []string{folder}, "Folder deep/three.txt 5")
	_, err = a.s.Upload(context.Background(), a.refIn(text, `button "Folder"`), []string{one})
	a.fails(err, browser.InvalidRequest, "takes a folder")
}

func TestAPlaceThatTakesNoFilesSaysSo(t *testing.T) {
	a := page(t, "menus")
	_, err := a.s.Upload(context.Background(), a.ref(`clickable "arrow next"`), []string{os.Args[0]})
	a.fails(err, browser.NotInteractable, "neither asked for a file")
}
