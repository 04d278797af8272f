//go:build unix && !linux

package ollamad

import (
	"syscall"
	"time"
)

func groupLeader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Outside Linux the process group is all there is.
func adoptOrphans()              {}
func rename(string)              {}
func endOrphans(_ time.Duration) {}
