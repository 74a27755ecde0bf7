package screen

import "fmt"

// RGB is a colour, eight bits a part.
type RGB struct{ R, G, B uint8 }

// String is the form terminals report, rgb:RRRR/GGGG/BBBB.
func (c RGB) String() string {
	return fmt.Sprintf("rgb:%02x%02x/%02x%02x/%02x%02x", c.R, c.R, c.G, c.G, c.B, c.B)
}

// xterm256 is colour n of xterm's palette: 16 named ones, a cube of 6×6×6, 24
// greys.
func xterm256(n int) RGB {
	switch {
	case n < 16:
		return xterm16[n]
	case n < 232:
		level := func(i int) uint8 {
			if i == 0 {
				return 0
			}
			return uint8(55 + 40*i)
		}
		n -= 16
		return RGB{level(n / 36), level(n / 6 % 6), level(n % 6)}
	}
	grey := uint8(8 + 10*(n-232))
	return RGB{grey, grey, grey}
}

var xterm16 = [16]RGB{
	{0x00, 0x00, 0x00}, {0xcd, 0x00, 0x00}, {0x00, 0xcd, 0x00}, {0xcd, 0xcd, 0x00},
	{0x00, 0x00, 0xee}, {0xcd, 0x00, 0xcd}, {0x00, 0xcd, 0xcd}, {0xe5, 0xe5, 0xe5},
	{0x7f, 0x7f, 0x7f}, {0xff, 0x00, 0x00}, {0x00, 0xff, 0x00}, {0xff, 0xff, 0x00},
	{0x5c, 0x5c, 0xff}, {0xff, 0x00, 0xff}, {0x00, 0xff, 0xff}, {0xff, 0xff, 0xff},
}
