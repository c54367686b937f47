package browse_test

// kind is what a call needs of the page it is made on.
type kind int

const (
	page   kind = iota // an answer of the page
	leaves             // goes to another document, whatever this one does
	past               // nothing: it goes past a page that hangs
)

type call struct {
	tool, args string
	kind       kind
}

// calls are tried under each fault. SITE stands for the site, FILE for a file;
// the refs are those of faultyPage.
var calls = []call{
	{"browser_open", `{"url":"SITE/next"}`, leaves},
	{"browser_open", `{"url":"SITE/next","new_tab":true}`, leaves},
	{"browser_history", `{"go":"back"}`, leaves},
	{"browser_history", `{"go":"forward"}`, leaves},
	{"browser_history", `{"go":"reload"}`, leaves},
	{"browser_snapshot", `{}`, page},
	{"browser_snapshot", `{"view":"changes"}`, page},
	{"browser_find", `{"text":"Press"}`, page},
	{"browser_read", `{}`, page},
	{"browser_extract", `{"rows":"li","fields":{"what":"text"}}`, page},
	{"browser_click", `{"ref":"e2"}`, page},
	{"browser_click", `{"text":"Press"}`, page},
	{"browser_type", `{"ref":"e3","text":"Ann"}`, page},
	{"browser_type", `{"ref":"e3","text":"Ann","keys":true,"submit":true}`, page},
	{"browser_fill", `{"fields":[{"ref":"e3","value":"Ann"},{"ref":"e4","value":"CET"}]}`, page},
	{"browser_select", `{"ref":"e4","values":["CET"]}`, page},
	{"browser_press", `{"key":"Tab"}`, page},
	{"browser_hover", `{"ref":"e2"}`, page},
	{"browser_drag", `{"from":"e1","to":"e2"}`, page},
	{"browser_click_at", `{"x":5,"y":5}`, page},
	{"browser_scroll", `{"direction":"down"}`, page},
	{"browser_select_text", `{"ref":"e2"}`, page},
	{"browser_wait", `{"text":"Press"}`, page},
	{"browser_screenshot", `{}`, page},
	{"browser_screenshot", `{"scope":"full"}`, page},
	{"browser_tabs", `{"action":"list"}`, past},
	{"browser_tabs", `{"action":"select","tab":"t1"}`, past},
	{"browser_tabs", `{"action":"open","url":"SITE/next"}`, leaves},
	{"browser_tabs", `{"action":"close"}`, past},
	{"browser_dialog", `{"accept":true}`, past},
	{"browser_upload", `{"ref":"e5","paths":["FILE"]}`, page},
	{"browser_downloads", `{"wait":true}`, past},
	{"browser_eval", `{"expression":"1+1"}`, page},
	{"browser_console", `{}`, page},
	{"browser_network", `{}`, past},
	{"browser_close", `{}`, past},
	{"browser_pdf", `{"save_as":"page.pdf"}`, page},
}
