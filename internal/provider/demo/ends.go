package demo

import (
	"os"
	"os/signal"
	"syscall"
)

// signalled does what a signal asks for, unless it was told not to.
func (a *chat) signalled(s os.Signal) {
	if s == syscall.SIGWINCH {
		a.tty.measure()
		return
	}
	if a.opts.ignoreTerm {
		return
	}
	switch s {
	case syscall.SIGTERM:
		a.quit(exitTerminated, "")
	case syscall.SIGHUP:
		a.quit(exitHangup, "")
	case syscall.SIGINT:
		a.quit(0, "")
	}
}

// suspend stops the process, as ctrl-z does in a program that keeps the terminal
// raw, until it is continued.
func (a *chat) suspend() {
	continued := make(chan os.Signal, 1) // one is enough to go on
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	a.tty.leave()
	syscall.Kill(os.Getpid(), syscall.SIGSTOP) //nolint:errcheck // one may always stop oneself
	<-continued
	if err := a.tty.enter(); err != nil {
		a.quit(exitHangup, "")
	}
}

// quit ends the loop. The parting words say how to take the conversation up again.
func (a *chat) quit(status int, words string) {
	a.over, a.status = true, status
	if words != "" {
		a.parting = words + "\n"
	}
	if a.history.begun {
		a.parting += "demo-agent: this conversation is " + a.history.id + "; --resume=" + a.history.id + " takes it up again\n"
	}
}
