package browser

import (
	"context"
	"encoding/base64"
	"fmt"
)

// maxPDF bounds what a page may print to.
const maxPDF = 100 << 20

// Document is the page as a PDF file.
type Document struct {
	PDF []byte
	URL string
}

// PDF prints the page, with backgrounds and in the paper size it asks for.
func (s *Session) PDF(ctx context.Context) (Document, error) {
	ctx, t, done, err := s.begin(ctx, NavigateLimit, false)
	if err != nil {
		return Document{}, err
	}
	defer done()
	d, err := t.pdf(ctx)
	return d, s.explain(ctx, t, err)
}

func (t *tab) pdf(ctx context.Context) (Document, error) {
	var printed struct{ Stream string }
	if err := t.call(ctx, t.session, "Page.printToPDF", map[string]any{
		"printBackground": true, "preferCSSPageSize": true, "transferMode": "ReturnAsStream",
	}, &printed); err != nil {
		return Document{}, err
	}
	defer func() { t.r.p.conn.send(t.session, "IO.close", map[string]any{"handle": printed.Stream}) }()
	var d Document
	for {
		var part struct {
			Data   string
			Base64 bool `json:"base64Encoded"`
			EOF    bool
		}
		if err := t.call(ctx, t.session, "IO.read", map[string]any{"handle": printed.Stream, "size": 1 << 20}, &part); err != nil {
			return Document{}, err
		}
		raw := []byte(part.Data)
		if part.Base64 {
			var err error
			if raw, err = base64.StdEncoding.DecodeString(part.Data); err != nil {
				return Document{}, fmt.Errorf("read the printed page: %w", err)
			}
		}
		if d.PDF = append(d.PDF, raw...); len(d.PDF) > maxPDF {
			return Document{}, problem(InvalidRequest, "the page prints to more than %s", Size(maxPDF))
		}
		if part.EOF {
			break
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d.URL = t.url
	return d, nil
}
