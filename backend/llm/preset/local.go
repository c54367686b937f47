package preset

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Found is a model server on this machine.
type Found struct {
	Preset  string // id; Custom when the port says nothing
	Name    string
	BaseURL string
	Models  []string
}

// findLimit bounds the whole search.
const findLimit = 900 * time.Millisecond

// FindLocal looks for model servers at the usual ports of this machine. It
// takes less than a second, and sends no key.
func FindLocal(ctx context.Context) []Found {
	var list []Preset
	for _, p := range table {
		if len(p.Ports) > 0 {
			list = append(list, p)
		}
	}
	return find(ctx, list)
}

func find(ctx context.Context, list []Preset) []Found {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	client := &http.Client{
		Transport:     &http.Transport{Proxy: nil, DialContext: (&net.Dialer{Timeout: findLimit / 2}).DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	found := make([]*Found, 0, len(list))
	var wg sync.WaitGroup
	var mu sync.Mutex
	at := map[int]int{}
	for i, p := range list {
		for _, port := range p.Ports {
			wg.Go(func() {
				base := fmt.Sprintf("http://127.0.0.1:%d/v1", port)
				models, ok := models(ctx, client, base)
				if !ok {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				at[len(found)] = i
				found = append(found, &Found{Preset: p.ID, Name: p.Name, BaseURL: base, Models: models})
			})
		}
	}
	wg.Wait()
	var out []Found
	for i := range list { // in the order of the table, whoever answered first
		for j, f := range found {
			if at[j] == i {
				out = append(out, *f)
			}
		}
	}
	return out
}

// models asks a base URL for its list. Anything but such a list is no model server.
func models(ctx context.Context, client *http.Client, base string) ([]string, bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return nil, false
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, false
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, false
	}
	var body struct {
		Object string `json:"object"`
		Data   []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&body) != nil || body.Object != "list" && body.Data == nil {
		return nil, false
	}
	names := []string{}
	for _, m := range body.Data {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	return names, true
}
