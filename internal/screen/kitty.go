package screen

import (
	"bytes"
	"strconv"
)

// kittyDepth is how deep a stack may get, like kitty's own.
const kittyDepth = 8

// KittyStack holds the kitty keyboard flags of one screen. The zero value has
// none on.
type KittyStack struct {
	flags [kittyDepth]uint8 // flags[:n+1]; those above are 0
	n     uint8             // how many pushes are open
}

// Flags are those in force.
func (k KittyStack) Flags() int { return int(k.flags[k.n]) }

// apply takes CSI > flags u (push), CSI < count u (pop) and
// CSI = flags ; how u (change the flags in force).
func (k *KittyStack) apply(c csiSeq) {
	first, second, _ := bytes.Cut(c.params, []byte(";"))
	flags := uint8(number(first) & 0x1f)
	switch c.prefix {
	case '>':
		if k.n == kittyDepth-1 {
			copy(k.flags[:], k.flags[1:]) // the oldest is forgotten
		} else {
			k.n++
		}
		k.flags[k.n] = flags
	case '<':
		for count := max(number(first), 1); count > 0; count-- {
			k.flags[k.n] = 0
			if k.n == 0 {
				break
			}
			k.n--
		}
	case '=':
		switch number(second) {
		case 0, 1:
			k.flags[k.n] = flags
		case 2:
			k.flags[k.n] |= flags
		case 3:
			k.flags[k.n] &^= flags
		}
	}
}

// restore adds what makes any stack k.
func (k KittyStack) restore(b []byte) []byte {
	b = kittySeq(b, '<', kittyDepth+1)
	if k.flags[0] != 0 {
		b = kittySeq(b, '=', int(k.flags[0]))
	}
	for _, f := range k.flags[1 : k.n+1] {
		b = kittySeq(b, '>', int(f))
	}
	return b
}

// reset adds what takes k off a stack, leaving what lay below it.
func (k KittyStack) reset(b []byte) []byte {
	if k.n > 0 {
		b = kittySeq(b, '<', int(k.n))
	}
	if k.flags[0] != 0 {
		b = kittySeq(b, '=', 0)
	}
	return b
}

func kittySeq(b []byte, prefix byte, n int) []byte {
	b = append(b, esc, '[', prefix)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, 'u')
}
