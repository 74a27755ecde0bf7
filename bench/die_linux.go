package main

import (
	"os/exec"
	"syscall"
)

// dieWithUs has a process killed when the bench is.
func dieWithUs(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
