package screen

import "strconv"

// Restore returns the bytes that bring a terminal in default modes into m; nil
// if m are the defaults. Sending them twice does no more than once: a kitty
// keyboard stack is emptied before it is filled. Origin mode and the alternate
// screen move the cursor, so a picture goes after them.
func (m Modes) Restore() []byte {
	var b []byte
	if m.Title != "" {
		b = append(b, "\x1b]2;"+m.Title+st...)
	}
	stacks := m.KittyMain != KittyStack{} || m.KittyAlt != KittyStack{}
	if stacks {
		b = m.KittyMain.restore(b)
	}
	if m.AltScreen != 0 {
		b = private(b, 'h', int(m.AltScreen))
		if stacks {
			b = m.KittyAlt.restore(b)
		}
	} else if m.KittyAlt != (KittyStack{}) {
		b = private(b, 'h', 1049)
		b = m.KittyAlt.restore(b)
		b = private(b, 'l', 1049)
	}
	for i, set := range [...]byte{m.G0, m.G1} {
		if set != 0 {
			b = append(b, esc, "()"[i], set)
		}
	}
	if m.Insert {
		b = append(b, "\x1b[4h"...)
	}
	if m.ModifyOtherKeys != 0 {
		b = append(b, "\x1b[>4;"...)
		b = strconv.AppendUint(b, uint64(m.ModifyOtherKeys), 10)
		b = append(b, 'm')
	}
	if m.CursorStyle != 0 {
		b = append(b, esc, '[', '0'+m.CursorStyle, ' ', 'q')
	}
	for _, n := range [...]uint16{m.Mouse, m.MouseEncoding} {
		if n != 0 {
			b = private(b, 'h', int(n))
		}
	}
	if m.AppKeypad {
		b = append(b, "\x1b="...) // tmux does not know 66
	}
	for _, n := range flagModes {
		if n == 66 {
			continue
		}
		if p, high := m.flag(n); *p && high {
			b = private(b, 'h', n)
		} else if *p {
			b = private(b, 'l', n)
		}
	}
	return b
}

// Reset returns the bytes that bring a terminal in m back to what a shell
// expects, and with it what Modes do not hold: attributes, margins, character
// set. The title, the scrollback and what is on the main screen stay. It says
// more than m needs where that is harmless, so that a mode set behind our back
// goes too; what older terminals take for something else (kitty's and xterm's
// key modes, the cursor's style) it says only if m has it.
func (m Modes) Reset() []byte {
	b := private(nil, 'l', 2026) // first, or the terminal may not show the rest
	b = private(b, 'l', 9, 1000, 1002, 1003, 1005, 1006, 1015, 1016)
	b = private(b, 'l', 1, 5, 66, 1004, 2004, 2031, 2048)
	if m.AltScreen != 0 {
		b = m.KittyAlt.reset(b)
		b = private(b, 'l', int(m.AltScreen))
	} else if m.KittyAlt != (KittyStack{}) {
		b = private(b, 'h', 1049)
		b = m.KittyAlt.reset(b)
		b = private(b, 'l', 1049)
	}
	b = m.KittyMain.reset(b)
	if m.ModifyOtherKeys != 0 {
		b = append(b, "\x1b[>4m"...)
	}
	if m.CursorStyle != 0 {
		b = append(b, "\x1b[0 q"...)
	}
	if m.Origin {
		b = private(b, 'l', 6) // moves the cursor to the top; nothing else ends it
	}
	b = append(b, "\x1b[4l\x1b>"...)     // replace, numeric keypad
	b = append(b, "\x1b7\x1b[r\x1b8"...) // margins; that alone moves the cursor
	b = append(b, "\x0f\x1b(B\x1b)B"...) // ASCII
	b = private(b, 'h', 7, 25)           // wrap, cursor
	return append(b, "\x1b[m"...)        // attributes
}

// private adds the sequence that sets ('h') or resets ('l') private modes.
func private(b []byte, final byte, modes ...int) []byte {
	b = append(b, "\x1b[?"...)
	for i, n := range modes {
		if i > 0 {
			b = append(b, ';')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, final)
}
