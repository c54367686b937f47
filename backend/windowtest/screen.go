//go:build linux && windowtest

package windowtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// screen is the picture that the display shows, which it keeps in a file.
type screen struct {
	raw    []byte
	pixels []byte // four bytes each: blue, green, red, unused
	width  int
	height int
	line   int // bytes
}

// openScreen maps the file of the display.
func openScreen(dir string) (*screen, error) {
	f, err := os.Open(filepath.Join(dir, "Xvfb_screen0"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	raw, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the screen: %w", err)
	}
	// The head is a list of big-endian numbers, as the XWD format has it.
	head := func(n int) int { return int(binary.BigEndian.Uint32(raw[4*n:])) }
	s := &screen{raw: raw, width: head(4), height: head(5), line: head(12)}
	start := head(0) + 12*head(19) // after the head and the colours
	if head(11) != 32 || start+s.height*s.line > len(raw) {
		return nil, errors.Join(fmt.Errorf("the screen has %d bits a pixel and %d bytes", head(11), len(raw)), s.close())
	}
	s.pixels = raw[start:]
	return s, nil
}

func (s *screen) close() error { return syscall.Munmap(s.raw) }

// count returns how many of every fourth pixel of every fourth line have a colour.
func (s *screen) count(red, green, blue byte) (n int) {
	for y := 0; y < s.height; y += 4 {
		for x := 0; x < s.width; x += 4 {
			if p := s.pixels[y*s.line+4*x:]; p[0] == blue && p[1] == green && p[2] == red {
				n++
			}
		}
	}
	return n
}

// Shows reports whether at least one in so many pixels of the screen has a
// colour such as 0xE8ECFB. It is cheap enough to be asked all the time.
func (d *Desktop) Shows(colour uint32, oneIn int) (bool, error) {
	if d.screen == nil {
		s, err := openScreen(d.dir)
		if err != nil {
			return false, err
		}
		d.screen = s
	}
	n := d.screen.count(byte(colour>>16), byte(colour>>8), byte(colour))
	return n*oneIn >= d.screen.width/4*(d.screen.height/4), nil
}
