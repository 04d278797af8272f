package runner

import (
	"bufio"
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/fabriccore/assay/runner/journal"
)

// ReadHost reads the declared hardware class. What a system does not
// tell stays empty.
func ReadHost() journal.Host {
	return readHost(func(path string) []byte {
		data, _ := os.ReadFile(path)
		return data
	})
}

func readHost(read func(string) []byte) journal.Host {
	h := journal.Host{Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	h.CPU = field(read("/proc/cpuinfo"), "model name")
	if kb, err := strconv.Atoi(strings.TrimSuffix(field(read("/proc/meminfo"), "MemTotal"), " kB")); err == nil {
		h.MemoryMB = kb / 1024
	}
	h.KernelMajor, _, _ = strings.Cut(strings.TrimSpace(string(read("/proc/sys/kernel/osrelease"))), ".")
	return h
}

// field finds the value of the first "name : value" line.
func field(data []byte, name string) string {
	sc := bufio.NewScanner(bytes.NewReader(data))
	for sc.Scan() {
		if k, v, ok := strings.Cut(sc.Text(), ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
