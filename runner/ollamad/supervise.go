//go:build unix

package ollamad

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// gracePeriod is what a server gets between being asked and being made to end.
const gracePeriod = 5 * time.Second

// SuperviseMain is the supervisor's whole life. It starts a command in a process
// group of its own, says so on status ("started PID"), and ends the group,
// grandchildren included, as soon as stdin reaches its end. The other end of
// stdin is held by assay alone, so it ends however assay ends, by kill -9 too.
//
// args are LOGFILE COMMAND [ARG...]. The result is the exit code: 0 if the
// command was ended on request, 1 if it ended by itself, 2 if it did not start.
// With "-" as LOGFILE the command's output goes to status, nothing else does, and
// its exit code is the result.
func SuperviseMain(args []string, stdin io.Reader, status io.Writer) int {
	if len(args) < 2 {
		fmt.Fprintln(status, "failed usage: LOGFILE COMMAND [ARG...]")
		return 2
	}
	// The parent-death signal belongs to the thread that forked.
	runtime.LockOSThread()
	// Nobody may be left to read the status.
	signal.Ignore(syscall.SIGPIPE)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	adoptOrphans()
	rename("keep-" + filepath.Base(args[1]))

	output, quiet := status, args[0] == "-"
	if !quiet {
		log, err := os.OpenFile(args[0], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			fmt.Fprintln(status, "failed", err)
			return 2
		}
		defer log.Close()
		output = log
	}
	command := exec.Command(args[1], args[2:]...)
	command.Stdout, command.Stderr = output, output
	command.SysProcAttr = groupLeader()
	if err := command.Start(); err != nil {
		fmt.Fprintln(status, "failed", err)
		return 2
	}
	group := command.Process.Pid
	if !quiet {
		fmt.Fprintln(status, "started", group)
	}

	released := make(chan struct{})
	go func() {
		io.Copy(io.Discard, stdin)
		close(released)
	}()
	exited := make(chan struct{})
	go func() {
		command.Wait()
		close(exited)
	}()

	code := 0
	select {
	case <-exited:
		code = 1
		if quiet {
			// A command ended by a signal has no code of its own (-1).
			if code = command.ProcessState.ExitCode(); code < 0 {
				code = 1
			}
			syscall.Kill(-group, syscall.SIGKILL)
			return code
		}
	case <-released:
	case <-stop:
	}
	if code == 0 {
		syscall.Kill(-group, syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(gracePeriod):
		}
	}
	syscall.Kill(-group, syscall.SIGKILL)
	<-exited
	endOrphans(gracePeriod)
	return code
}
