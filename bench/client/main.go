// Command client is the program that the bench has everybody start: small, static,
// and able to tell time. Before anything else it reads the monotonic clock and sends
// what it read, with its pid, to the socket it was given.
//
//	client wait SOCKET         does nothing more
//	client echo SOCKET         answers every byte typed by a carriage return and that byte
//	client still SOCKET        writes a screen, whose last line is the end mark, and does nothing more
//	client spinner SOCKET      the same, after ten minutes of a spinner
//	client text SOCKET         the same, after 10 MB of plain text
//	client flood SOCKET BYTES  writes that much coloured text, then an end mark, for every byte typed
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

func main() {
	var now unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	if err := report(os.Args[2], now.Nano()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	switch os.Args[1] {
	case "wait":
		for {
			time.Sleep(time.Hour)
		}
	case "echo":
		term.MakeRaw(0)
		echo()
	case "still", "spinner", "text":
		show(os.Args[1])
		for {
			time.Sleep(time.Hour)
		}
	case "flood":
		term.MakeRaw(0)
		size, _ := strconv.Atoi(os.Args[3])
		flood(size)
	}
}

func report(socket string, now int64) error {
	conn, err := net.Dial("unixgram", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	msg := binary.LittleEndian.AppendUint64(nil, uint64(now))
	_, err = conn.Write(binary.LittleEndian.AppendUint64(msg, uint64(os.Getpid())))
	return err
}

func echo() {
	buf := make([]byte, 1)
	for {
		if n, err := os.Stdin.Read(buf); n == 0 || err != nil {
			return
		}
		os.Stdout.Write([]byte{'\r', buf[0]})
	}
}

// show writes what a person sees who comes to an agent that has worked for a while.
func show(before string) {
	var text bytes.Buffer
	switch before {
	case "spinner":
		for i := range 6000 { // ten a second
			fmt.Fprintf(&text, "\r\x1b[3%dm%c\x1b[0m thinking about file_%d.go (%d s, esc to interrupt)\x1b[K", 1+i%6, `|/-\`[i%4], i%97, i/10)
		}
	case "text":
		for i := 0; text.Len() < 10<<20; i++ {
			fmt.Fprintf(&text, "%08d the agent says a line of ordinary length about file_%d.go\r\n", i, i%97)
		}
	}
	for i := range 30 {
		fmt.Fprintf(&text, "\r\n\x1b[3%dmline %d\x1b[0m of what is on the screen", 1+i%6, i)
	}
	fmt.Fprintf(&text, "\r\n<end of screen>")
	os.Stdout.Write(text.Bytes())
}

func flood(size int) {
	var text bytes.Buffer
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "\x1b[3%dm%08d\x1b[0m the agent says a line of ordinary length about file_%d.go\r\n", 1+i%6, i, i%97)
	}
	buf := make([]byte, 1)
	for round := 1; ; round++ {
		if n, err := os.Stdin.Read(buf); n == 0 || err != nil {
			return
		}
		for left := size; left > 0; left -= text.Len() {
			os.Stdout.Write(text.Bytes()[:min(left, text.Len())])
		}
		fmt.Fprintf(os.Stdout, "\x1b[0m\r\n<end of round %d>\r\n", round)
	}
}
