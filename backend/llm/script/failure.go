package script

// The ways a reply can go wrong.
const (
	FailStatus = "status" // a status with a body; the default
	FailReset  = "reset"  // the connection is reset after some pieces
	FailAbort  = "abort"  // it closes without the end of the chunked body
	FailClose  = "close"  // it ends cleanly, too early
	FailStall  = "stall"  // it is silent until the client leaves
	FailHTML   = "html"   // a web page with status 200
	FailEvent  = "event"  // an error object inside the stream
	FailEmpty  = "empty"  // a stream without an event
)

// Failure is what the first attempts at a turn get instead of its reply.
type Failure struct {
	Kind       string `json:"kind,omitempty"`
	Times      int    `json:"times,omitempty"`      // attempts that get it; 0 means one
	Status     int    `json:"status,omitempty"`     // 0 takes 503
	RetryAfter string `json:"retryAfter,omitempty"` // header as it stands
	Message    string `json:"message,omitempty"`
	Code       string `json:"code,omitempty"`
	Body       string `json:"body,omitempty"`  // instead of an error object
	After      int    `json:"after,omitempty"` // pieces of the reply sent before it goes wrong
}

// Raw is a reply as bytes.
type Raw struct {
	Status   int               `json:"status,omitempty"` // 0 takes 200
	Headers  map[string]string `json:"headers,omitempty"`
	Body     string            `json:"body"`
	Chunking Chunking          `json:"chunking,omitzero"`
}

// Chunking says how the body is cut into packets and how it ends.
type Chunking struct {
	Mode    string `json:"mode,omitempty"` // whole, events, size, cuts, cuts_after
	Size    int    `json:"size,omitempty"`
	Offsets []int  `json:"offsets,omitempty"`
	Bytes   string `json:"bytes,omitempty"`
	DelayMS int    `json:"delay_ms,omitempty"`
	End     string `json:"end,omitempty"`     // eof, reset, abort, hold, stall
	HoldMS  int    `json:"hold_ms,omitempty"` // hold ends cleanly after this or when the client leaves
}

// failureAt returns what the nth attempt (from 0) at a turn gets.
func failureAt(list []Failure, attempt int) *Failure {
	for i := range list {
		times := max(list[i].Times, 1)
		if attempt < times {
			return &list[i]
		}
		attempt -= times
	}
	return nil
}

// pieces cuts a body.
func (c Chunking) pieces(body []byte) [][]byte {
	var cuts []int
	switch c.Mode {
	case "events":
		for i := 1; i < len(body); i++ {
			if body[i] == '\n' && (body[i-1] == '\n' || i > 1 && body[i-1] == '\r' && body[i-2] == '\n') {
				cuts = append(cuts, i+1)
			}
		}
	case "size":
		for i := c.Size; c.Size > 0 && i < len(body); i += c.Size {
			cuts = append(cuts, i)
		}
	case "cuts":
		cuts = c.Offsets
	case "cuts_after":
		for i, b := range body {
			for j := range len(c.Bytes) {
				if b == c.Bytes[j] {
					cuts = append(cuts, i+1)
				}
			}
		}
	}
	var out [][]byte
	last := 0
	for _, cut := range cuts {
		if cut > last && cut < len(body) {
			out = append(out, body[last:cut])
			last = cut
		}
	}
	return append(out, body[last:])
}
