package errand

import (
	"gofer/backend/llm/script"
)

// Prompts of the errands; they name the site and nothing else.
const (
	SaveLinksPrompt = "Save the links of this page to links.txt: "
	ReadAllPrompt   = "Follow each link of this page, download its pictures, write a summary of each page, and mark each page read: "
)

type args = map[string]any

// start opens the address in the prompt and reads every page of the list.
func start() []script.Turn {
	return []script.Turn{
		{
			Text:  script.Words("I open the page and read its links."),
			Let:   []script.Let{{Name: "site", From: "prompt", Find: `https?://[^\s]+`}},
			Calls: []script.Call{script.Tool("browser_open", args{"url": "${site}"})},
		},
		script.Calls(readList("${site}")),
		{
			While: &script.Cond{From: "list|inside|links:site", Find: `(?m) More pages$`},
			Do: []script.Turn{
				{
					Let:   []script.Let{{Name: "more", From: "list|inside|links:site", Find: `(?m)^(\S+) More pages$`}},
					Calls: []script.Call{script.Tool("browser_open", args{"url": "${more}"})},
				},
				script.Calls(readList("${more}")),
			},
		},
	}
}

// readList reads the page of links that was just opened, and opens it again
// when it turns out not to be there.
func readList(url string) script.Call {
	return script.Call{Name: "browser_read", As: "list", Good: `Reading list`, Look: []script.Call{script.Tool("browser_open", args{"url": url})}}
}

// pageLinks are the links of all lists to pages, as URL and title.
const pageLinks = `(?m)^(\S+/pages/\S+) (.+)$`

// SaveLinks is the errand of writing down links. It answers for a model name.
func SaveLinks(model string) script.Script {
	return script.Script{Model: model, By: script.ByHistory, Prompt: SaveLinksPrompt, Side: side(), Turns: append(start(),
		script.Turn{
			Let:   []script.Let{{Name: "lines", From: "all:list|inside|links:site", Find: pageLinks, All: true, Format: "$1 $2"}},
			Text:  script.Words("I write the links down."),
			Calls: []script.Call{linksFile()},
		},
		script.Turn{
			Let:  []script.Let{{Name: "urls", From: "lines", Find: `(?m)^\S+`, All: true}},
			Text: script.Words("I saved ${urls|count} links to links.txt."),
		},
	)}
}

func linksFile() script.Call {
	return script.Call{
		Name: "fs_write", As: "links", Args: args{"path": "links.txt", "content": "${lines}\n"},
		Look: []script.Call{script.Tool("fs_read", args{"path": "links.txt"})}, Done: `${lines|lines:1|quote}`,
	}
}

// ReadAll is the long errand: every page is opened, read, marked read, its
// pictures are kept and a summary is written, more than a hundred calls for 30
// pages. The only call with an effect on the site is repeated only after a
// look has shown that its effect is not there.
func ReadAll(model string) script.Script {
	return script.Script{Model: model, By: script.ByHistory, Prompt: ReadAllPrompt, Side: side(), Turns: append(start(),
		script.Turn{
			Let:  []script.Let{{Name: "lines", From: "all:list|inside|links:site", Find: pageLinks, All: true, Format: "$1 $2"}},
			Each: &script.Each{From: "lines", Find: `(?m)^(\S+) (.+)$`, As: "link"},
			Do:   readOne(),
		},
		script.Turn{Text: script.Words("I read ${count:page} pages, kept their pictures, wrote a summary of each and marked them read.")},
	)}
}

func readOne() []script.Turn {
	open := script.Tool("browser_open", args{"url": "${link.1}"})
	return []script.Turn{
		{Text: script.Words("Next is ${link.2}."), Calls: []script.Call{open}},
		script.Calls(script.Call{Name: "browser_read", As: "page", Good: `${link.2|quote}`, Look: []script.Call{open}}),
		script.Calls(script.Call{
			Name: "browser_click", Args: args{"text": "Mark read"}, As: "mark", Good: `(?i)\bclicked\b`,
			Look: []script.Call{open, script.Tool("browser_read", args{})}, Done: `Marked read: yes`,
		}),
		{
			Let:  []script.Let{{Name: "images", From: "page|inside", Find: `\]\(<?([^)\s>]+\.png)>?`, All: true}},
			Each: &script.Each{From: "images", Find: `\S+`, As: "image"},
			Do: []script.Turn{{
				Let: []script.Let{{Name: "file", From: "image.0|base"}},
				Calls: []script.Call{{
					Name: "web_fetch", As: "picture", Args: args{"url": "${image.0|abs:link.1}", "save_as": "pictures/${file}"},
					Look: []script.Call{script.Tool("fs_list", args{"path": "pictures"})}, Done: `(?m)(^|[\s/])${file|quote}\b`,
				}},
			}},
		},
		{
			Let: []script.Let{{Name: "code", From: "page|inside", Find: `code word of this page is (\S+?)\.`}},
			Calls: []script.Call{{
				Name: "fs_write", As: "summary",
				Args: args{"path": "summaries/${link.2|slug}.md", "content": "# ${link.2}\n\n${page|inside|sentences:3}\n\nCode word: ${code}\n\nSource: ${link.1}\n"},
				Look: []script.Call{script.Tool("fs_read", args{"path": "summaries/${link.2|slug}.md"})}, Done: `Code word: ${code|quote}`,
			}},
		},
	}
}

func side() []script.Side { return []script.Side{{Text: "Reading list errand"}} }
