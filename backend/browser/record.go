package browser

// Locator is one way to find an element again.
type Locator struct {
	By    string `json:"by"` // attribute, id, role, target, text, within or path
	Value string `json:"value"`
}

// Trail is what was acted on: the address of its frame, if it was in one, and
// several ways to it, the ones that last longest first.
type Trail struct {
	Frame    string    `json:"frame,omitempty"`
	Locators []Locator `json:"locators"`
}

// Fingerprint is how a page looked, as far as that lasts from visit to visit.
type Fingerprint struct {
	URL     string `json:"url"` // without query and fragment
	Title   string `json:"title,omitempty"`
	Heading string `json:"heading,omitempty"`
	Counts  string `json:"counts,omitempty"` // elements, links, buttons, inputs, selects, forms
}

// Record is what a replay of an action would need besides the arguments of its
// call. It holds no values of fields.
type Record struct {
	Targets []Trail     `json:"targets,omitempty"`
	Before  Fingerprint `json:"before"`
	After   Fingerprint `json:"after"`
}

// mostTargets bounds what a long form leaves behind.
const mostTargets = 40

// add notes a target; the tab's lock is held.
func (r *Record) add(f *frame, locators []Locator, before Fingerprint) {
	if len(r.Targets) == 0 && r.Before.URL == "" || f.no == 0 && len(r.Targets) == 0 {
		r.Before = before
	}
	if len(locators) == 0 || len(r.Targets) >= mostTargets {
		return
	}
	t := Trail{Locators: locators}
	if f.no > 0 {
		t.Frame = f.url
	}
	r.Targets = append(r.Targets, t)
}
