package guard

import (
	"net/netip"
	"testing"

	"gofer/backend/tool"
)

func TestAddressesThatAreNotOfTheInternet(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true, "0.0.0.0": true, "0.1.2.3": true, "::": true,
		"10.1.2.3": true, "172.16.0.1": true, "192.168.1.1": true, "169.254.169.254": true, "100.64.0.1": true, "100.127.255.255": true,
		"224.0.0.1": true, "255.255.255.255": true, "fe80::1%eth0": true, "fc00::1": true, "fd12::1": true, "ff02::1": true, "fec0::1": true,
		"64:ff9b::7f00:1": true, "64:ff9b::c0a8:101": true, "2002:7f00:1::": true, "2002:c0a8:101::1": true,
		"1.1.1.1": false, "100.128.0.1": false, "172.32.0.1": false, "2606:4700::1111": false, "64:ff9b::101:101": false, "::ffff:1.1.1.1": false,
	} {
		if got := NearAddress(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: got %v, want %v", address, got, want)
		}
	}
}

func TestAPlaceIsASiteWithoutItsScheme(t *testing.T) {
	for raw, want := range map[string]string{
		"https://www.example.org/a?b": "example.org", "http://example.org:80": "example.org", "http://example.org:443/": "example.org", "https://example.org:8443/": "example.org:8443",
		"http://127.0.0.1:9000/": "127.0.0.1:9000", "http://[::1]:443/": "[::1]", "http://[::1]:8080/": "[::1]:8080", "http://localhost": "localhost", "about:blank": "",
	} {
		if got, ok := Place(raw); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v", raw, got, ok)
		}
	}
}

func TestHowAPlaceStandsInWhatWasGranted(t *testing.T) {
	for _, c := range []struct {
		always, own     []string
		granted, denied bool
	}{
		{nil, nil, false, false},
		{nil, []string{"visit: http://example.org"}, true, false},
		{nil, []string{"send: https://www.example.org"}, true, false},
		{[]string{"script: https://example.org"}, nil, true, false},
		{nil, []string{"visit: https://example.org:8443"}, false, false},
		{nil, []string{"visit: https://example.com", "read: /example.org"}, false, false},
		{nil, []string{"visit: *"}, false, false},
		{nil, []string{"visit: https://example.org", "deny visit: https://example.org"}, false, true},
		{[]string{"deny visit: *"}, []string{"visit: https://example.org"}, false, true},
		{nil, []string{"visit: https://example.org", "deny send: https://example.org"}, false, false},
	} {
		g := New(Options{Always: grants(t, c.always)})
		g.Grant("s", grants(t, c.own)...)
		g.Grant("other", Grant{Class: tool.Visit, Object: "https://example.org"})
		if granted, denied := g.Reach("s", "example.org"); granted != c.granted || denied != c.denied {
			t.Errorf("%q %q: got granted %v, denied %v", c.always, c.own, granted, denied)
		}
	}
}

func grants(t *testing.T, list []string) []Grant {
	t.Helper()
	var out []Grant
	for _, text := range list {
		g, err := ParseGrant(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}
