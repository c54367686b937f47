package guard

import (
	"testing"

	"gofer/backend/tool"
)

func TestAGrantInAListSaysWhatItIsAbout(t *testing.T) {
	for want, g := range map[string]Grant{
		"Run make all in /w. Any other command still asks.":                          {Class: tool.RunCommand, Object: "make all", Folder: "/w"},
		"Run plain commands that begin with git status in /w. All others still ask.": {Class: tool.RunCommand, Object: "git status", Folder: "/w", Prefix: true},
		"Run any command.":              {Class: tool.RunCommand, Object: "*"},
		"Never run any command.":        {Class: tool.RunCommand, Object: "*", Deny: true},
		"Never run make all in /w.":     {Class: tool.RunCommand, Object: "make all", Folder: "/w", Deny: true},
		"Never write /w/none.txt.":      {Class: tool.WriteFile, Object: "/w/none.txt", Deny: true},
		"Never open pages of any site.": {Class: tool.Visit, Object: "*", Deny: true},
		"Read all pages of any site. Sending data and running scripts still ask.": {Class: tool.Visit, Object: "*"},
		"Send data to https://a.example. Passwords still ask.":                    {Class: tool.Send, Object: "https://a.example"},
	} {
		if got := g.Listed(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
