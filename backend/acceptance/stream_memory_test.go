//go:build linux

package acceptance

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// peak follows a child and returns the most memory it held, in KB.
func (c *child) peak() int {
	most := 0
	for {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid)) // gone at the end
		for line := range strings.Lines(string(raw)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
				kb, _ := strconv.Atoi(f[1])
				most = max(most, kb)
			}
		}
		select {
		case <-c.exited:
			return most
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// longStream is a reply of so many bytes on the wire, in pieces of a size, with
// around each what servers send around it.
func longStream(size, piece int) string {
	var b strings.Builder
	text := strings.Repeat("word ", piece/5)
	for b.Len() < size {
		fmt.Fprintf(&b, "data: {\"id\":\"chatcmpl-0123456789abcdef0123\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,\"model\":\"some-model-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"logprobs\":null,\"finish_reason\":null}]}\n\n", text)
	}
	b.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	return b.String()
}

// The process is built as it is shipped: the race detector would count.
func TestEightMegabytesInOneReplyTakeLittleMemory(t *testing.T) {
	binary := shipped(t)
	peakOf := func(size, piece int) int {
		m := llmtest.Serve(t, script.Script{Model: "m", Turns: []script.Turn{{Raw: &script.Raw{Body: longStream(size, piece), Headers: map[string]string{"Content-Type": "text/event-stream"}}}}})
		c := start(t, spec{home: newHome(t), binary: binary}, on(m.URL, "go")...)
		most := c.peak()
		if code := c.code(t, time.Minute); code != 0 {
			t.Fatalf("got exit code %d\n%s", code, c.stderr())
		}
		return most
	}
	small := peakOf(2000, 20)
	pieces := []int{20, 1000}
	if os.Getenv(envChaos) != "" {
		pieces = []int{5, 20, 1000}
	}
	for _, piece := range pieces {
		large := peakOf(8<<20, piece)
		t.Logf("pieces of %d: %.1f MB, beside %.1f MB for a short reply: %+.1f MB", piece, mb(large), mb(small), mb(large-small))
		if large-small > 32<<10 {
			t.Errorf("pieces of %d: 8 MB of stream took %.1f MB more", piece, mb(large-small))
		}
	}
}
