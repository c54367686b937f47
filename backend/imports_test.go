package backend_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// table says which of our packages each package may import. A name with /*
// stands for every package below it that has no line of its own; * stands for
// every package. Nothing points up.
const table = `
chat
fault
id
event               chat
event/gen           event chat

llm                 chat fault
llm/openai          llm chat fault id
llm/preset          llm chat fault
llm/route           llm chat fault
llm/script          llm chat fault
tool                chat fault
browser             chat fault
browser/*           browser chat fault
browser/browsertest browser egress chat fault
egress
store               chat event fault id
guard               chat tool fault
proc                fault
desktop             fault
home                fault
logbook             fault home
skill               fault
artifact            fault
config              fault home
secret              fault home
mcpclient           tool chat fault
clarify             chat event fault id

tools/*             tool chat fault
tools/browse        tool browser chat fault
tools/ask           tool chat event fault
tools/files         tool artifact chat fault
tools/shell         tool proc chat fault
tools/web           tool artifact chat fault
tools/skills        tool skill chat fault

agent               llm tool agent/compact agent/prompt agent/graph chat event fault id
agent/compact       llm tool chat event fault id
agent/prompt        llm tool chat event fault id
agent/graph         llm tool chat event fault id

tour                llm/script llm chat fault

engine              agent agent/* tools/* clarify mcpclient llm llm/* tool guard browser egress proc store skill artifact config secret home logbook desktop chat event fault id
host                engine home config chat event fault id

cli                 host engine home config secret logbook tour mcpserver chat event fault id
mcpserver           host engine home tool chat event fault id
httpapi             host engine chat event fault id
cmd/*               *
acceptance          *

uitest              config engine chat event fault id
windowtest          host engine home config chat event fault id
windowtest/*        windowtest
.                   host engine home config logbook desktop tour cli chat event fault id
`

// helpers exist for tests: any test file may import them, and of the rest only
// the programs under cmd may.
var helpers = []string{
	"browser/browsertest", "store/storetest", "llm/llmtest", "event/eventtest", "host/hosttest",
	"errand", "uitest", "windowtest", "windowtest/*",
}

// words may be used by helpers and tests anywhere. These may also import
// packages of their own family, such as llm/route from a test of llm/openai.
var words = []string{"chat", "event", "fault", "id", "llm", "llm/script", "llm/openai", "tool"}

// owners are the only importers of a library, so that a change of it stays in one place.
var owners = []struct {
	module  string
	allowed []string
}{
	{"github.com/openai/openai-go", []string{"llm/openai"}},
	{"github.com/go-rod/rod", []string{"browser", "browser/*", "uitest"}},
	{"gorm.io/", []string{"store"}},
	{"github.com/glebarez/", []string{"store"}},
	{"github.com/pressly/goose", []string{"store"}},
	{"github.com/wailsapp/wails", []string{"."}},
	{"github.com/zalando/go-keyring", []string{"secret"}},
	{"github.com/modelcontextprotocol/go-sdk", []string{"mcpclient", "mcpserver", "acceptance"}},
	{"github.com/spf13/cobra", []string{"cli", "cmd/*"}},
}

type sourceFile struct {
	pkg     string // below backend, or "." for the window
	path    string
	test    bool
	imports []string
}

func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	may := map[string][]string{}
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 0 {
			may[f[0]] = f[1:]
		}
	}
	for _, f := range sources(t) {
		helper := matches(helpers, f.pkg)
		allowed, known := may[f.pkg]
		if !known && helper { // a helper may use what the package it helps may use
			allowed, known = may[head(f.pkg)], true
		}
		if !known {
			allowed, known = may[head(f.pkg)+"/*"]
		}
		if !known {
			t.Errorf("%s: package %s has no line in the table of imports_test.go", f.path, f.pkg)
			continue
		}
		for _, imported := range f.imports {
			ours, ok := strings.CutPrefix(imported, "gofer/backend/")
			switch {
			case !ok || ours == f.pkg:
			case !f.test && !helper && matches(helpers, ours) && !strings.HasPrefix(f.pkg, "cmd/"):
				t.Errorf("%s: %s is there for tests only", f.path, ours)
			case matches(allowed, ours):
			case (f.test || helper) && (matches(words, ours) || matches(helpers, ours) || head(f.pkg) == head(ours)):
			default:
				t.Errorf("%s: %s may not import %s; it may import: %s", f.path, f.pkg, ours, strings.Join(allowed, " "))
			}
		}
	}
}

func TestEachLibraryHasOneOwner(t *testing.T) {
	for _, f := range sources(t) {
		for _, imported := range f.imports {
			for _, o := range owners {
				if strings.HasPrefix(imported, o.module) && !matches(o.allowed, f.pkg) {
					t.Errorf("%s: only %s may import %s", f.path, strings.Join(o.allowed, ", "), imported)
				}
			}
		}
	}
}

// matches reports whether a list names pkg itself or the family it is in.
func matches(list []string, pkg string) bool {
	return slices.ContainsFunc(list, func(name string) bool {
		stem, wild := strings.CutSuffix(name, "*")
		return name == pkg || wild && strings.HasPrefix(pkg, stem)
	})
}

// head is the family of a package: tools for tools/ask.
func head(pkg string) string {
	name, _, _ := strings.Cut(pkg, "/")
	return name
}

// sources reads every Go file of the project, whatever its build tags.
func sources(t *testing.T) []sourceFile {
	t.Helper()
	var found []sourceFile
	read := func(file, pkg string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatalf("read the imports of %s: %v", file, err)
		}
		f := sourceFile{pkg: pkg, path: filepath.ToSlash(file), test: strings.HasSuffix(file, "_test.go")}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("read the imports of %s: %v", file, err)
			}
			f.imports = append(f.imports, name)
		}
		found = append(found, f)
	}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case !d.IsDir() && filepath.Ext(file) == ".go" && filepath.Dir(file) != ".":
			read(file, filepath.ToSlash(filepath.Dir(file)))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walk the packages: %v", err)
	}
	window, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatalf("list the window's files: %v", err)
	}
	for _, file := range window {
		read(file, ".")
	}
	return found
}
