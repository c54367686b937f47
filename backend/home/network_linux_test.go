package home

import "testing"

func TestNetworkFileSystemsAreKnown(t *testing.T) {
	for name, c := range map[string]struct {
		kind int64
		want bool
	}{
		"nfs":   {0x6969, true},
		"cifs":  {0xff534d42, true},
		"smb2":  {0xfe534d42, true},
		"ext4":  {0xef53, false},
		"tmpfs": {0x01021994, false},
	} {
		if got := networkKind(c.kind); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
