package tour

import "gofer/backend/llm/script"

type args = map[string]any

// theScript is what the scripted model does. Every reference in it is filled
// in from tool results.
func theScript(prompt string, p pace) script.Script {
	turns := append(readLists(), question(p), script.Turn{
		Name: "articles",
		Let:  []script.Let{{Name: "lines", From: "all:list|inside|links:site", Find: articleLinks, All: true, Format: "$1 $2"}},
		Each: &script.Each{From: "lines", Find: `(?m)^(\S+) (.+)$`, As: "link"},
		Do:   readArticle(),
	})
	s := script.Script{
		Model: Model, By: script.ByHistory, Prompt: prompt, Turns: append(turns, closing()...),
		Side: []script.Side{{Text: Title}},
	}
	slow(s.Turns, p)
	return s
}

// slow makes every reply grow at a pace one can follow.
func slow(turns []script.Turn, p pace) {
	for i := range turns {
		turns[i].Delay = script.Delay{First: p.first, Between: p.between}
		slow(turns[i].Do, p)
	}
}

// articleLinks matches the lines of links that lead to articles.
const articleLinks = `(?m)^(\S+/articles/\S+) (.+)$`

// readLists opens the site and reads its list, page after page.
func readLists() []script.Turn {
	read := script.Call{Name: "browser_read", As: "list"}
	look := script.Call{Name: "browser_snapshot", As: "snapshot"}
	// The step to the next page is found in the snapshot; should it be folded
	// there, in the text.
	next := script.Let{Name: "next", From: "list|inside|links:site", Find: `(?m)^(\S+) Older articles$`}
	open := script.Tool("browser_open", args{"url": "${next}"})
	older := `link "Older articles"[^\n]*?\[ref=(\w+)\]`
	return []script.Turn{
		{
			Let:       []script.Let{{Name: "site", From: "prompt", Find: `https?://[^\s]+`}},
			Reasoning: script.Words("This is the guided tour: my replies are scripted, the browser, the tools and the files are real. First I look at the site."),
			Text:      script.Words("Welcome! I follow a script here, no model is involved, but everything you see is done by the real browser and the real tools. I open the site first."),
			Calls:     []script.Call{script.Tool("browser_open", args{"url": "${site}"})},
		},
		{Text: script.Words("I read the list of articles and look for a way to further pages."), Calls: []script.Call{read, look}},
		{
			Name:  "pages",
			While: &script.Cond{From: "list|inside|links:site", Find: `(?m) Older articles$`, Max: 9},
			Do: []script.Turn{
				{
					When: &script.Cond{From: "snapshot", Find: older},
					Let:  []script.Let{{Name: "ref", From: "snapshot", Find: older}, next},
					Text: script.Words("There is another page. I click the link ${ref} to it."),
					Calls: []script.Call{{
						Name: "browser_click", Args: args{"ref": "${ref}"}, Good: `(?i)\bclicked\b`,
						Look: []script.Call{open}, Done: `.`, // opening it is as good
					}},
				},
				{
					When:  &script.Cond{From: "snapshot", Find: older, Not: true},
					Let:   []script.Let{next},
					Text:  script.Words("There is another page. I open it."),
					Calls: []script.Call{open},
				},
				script.Calls(read, look),
			},
		},
	}
}

func question(p pace) script.Turn {
	return script.Turn{
		Name: "question",
		Text: script.Words("Before I write, one question. If nobody answers I go on by myself."),
		Calls: []script.Call{{Name: "ask_clarification", As: "length", Args: args{
			"kind": "choice", "title": "How long should the summaries be?",
			"why":     "It decides how much I write about each article.",
			"options": []any{args{"label": "One sentence", "value": "short"}, args{"label": "Three sentences", "value": "long"}},
			"default": "long", "wait_ms": p.wait,
		}}},
	}
}

// readArticle follows one link: open, read, keep the picture, write.
func readArticle() []script.Turn {
	open := script.Tool("browser_open", args{"url": "${link.1}"})
	write := func(sentences string) script.Call {
		return script.Call{
			Name: "fs_write", As: "summary",
			Args: args{
				"path":    "summaries/${link.2|slug}.md",
				"content": "# ${link.2}\n\n${article|inside|sentences:" + sentences + "}\n\n![${link.2}](../pictures/${picture})\n\nSource: ${link.1}\n",
			},
			Look: []script.Call{script.Tool("fs_read", args{"path": "summaries/${link.2|slug}.md"})}, Done: `Source: ${link.1|quote}`,
		}
	}
	picture := script.Call{
		Name: "web_fetch", As: "fetched", Args: args{"url": "${image|abs:link.1}", "save_as": "pictures/${picture}"},
		Look: []script.Call{script.Tool("fs_list", args{"path": "pictures"})}, Done: `(?m)(^|[\s/])${picture|quote}\b`,
	}
	found := []script.Let{
		{Name: "image", From: "article|inside", Find: `\]\(<?([^)\s>]+\.(?:png|jpe?g))>?`},
		{Name: "picture", From: "image|base"},
	}
	short := script.Cond{From: "length", Find: `(?i)\bshort\b`}
	long := short
	long.Not = true
	return []script.Turn{
		{Text: script.Words("Article ${link.n}: ${link.2}."), Calls: []script.Call{open}},
		script.Calls(script.Call{Name: "browser_read", As: "article", Good: `${link.2|quote}`, Look: []script.Call{open}}),
		{When: &short, Let: found, Text: script.Words("I keep its picture and write one sentence about it."), Calls: []script.Call{picture, write("1")}},
		{When: &long, Let: found, Text: script.Words("I keep its picture and write three sentences about it."), Calls: []script.Call{picture, write("3")}},
	}
}

func closing() []script.Turn {
	return []script.Turn{
		{
			Text: script.Words("All articles are read. I write down where I have been."),
			Calls: []script.Call{{
				Name: "fs_write", As: "links", Args: args{"path": "links.txt", "content": "${lines}\n"},
				Look: []script.Call{script.Tool("fs_read", args{"path": "links.txt"})}, Done: `${lines|lines:1|quote}`,
			}},
		},
		{
			Text:  script.Words("A last look at what is there now."),
			Calls: []script.Call{script.Tool("fs_list", args{"path": "summaries"}), script.Tool("fs_list", args{"path": "pictures"})},
		},
		{
			Let: []script.Let{{Name: "titles", From: "lines", Find: `(?m)^\S+ (.+)$`, All: true, Format: "- $1"}},
			Text: script.Words("That was the tour.\n\n" +
				"I read ${count:article} articles on ${count:list} pages of the site, made ${calls} tool calls, and left these in your folder:\n\n" +
				"- `summaries/`: ${count:summary} Markdown files, one per article\n" +
				"- `pictures/`: ${count:fetched} pictures\n" +
				"- `links.txt`: the address and title of each article\n\n" +
				"The articles:\n\n${titles}\n\n" +
				"Everything was scripted, no model. Add a provider in the settings, and ask for something of your own."),
		},
	}
}
