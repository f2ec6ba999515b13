package testenv

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is for what ends by itself after the tests, such as the last attempt to reach a service that is down.
const patience = 10 * time.Second

// Main runs a package's tests and fails if they leave goroutines or open files behind. It is for TestMain, and does not
// return.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is [Main] for a TestMain with more to do: it returns the exit code.
func Run(m *testing.M) int {
	before := openFiles()
	code := m.Run()
	if code == 0 {
		if err := leaks(before); err != nil {
			fmt.Fprintln(os.Stderr, "the tests passed, but left something behind:", err)
			return 1
		}
	}
	return code
}

func leaks(before []string) error {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	connections.CloseIdleConnections()
	var err error
	for began := time.Now(); time.Since(began) < patience; <-time.After(20 * time.Millisecond) {
		if err = goleak.Find(); err != nil {
			continue
		}
		left := slices.DeleteFunc(openFiles(), func(file string) bool { return slices.Contains(before, file) })
		if len(left) == 0 {
			return nil
		}
		err = fmt.Errorf("open files and sockets: %s", strings.Join(left, ", "))
	}
	return err
}

// openFiles lists the open files, sockets and pipes; nothing where the system does not tell. It leaves out what the
// runtime opens for its poller, and pipes with both ends here: io.Copy keeps one between two connections for the next.
func openFiles() (open []string) {
	const folder = "/proc/self/fd/"
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	times := map[string]int{}
	for _, entry := range entries {
		target, err := os.Readlink(folder + entry.Name())
		if err == nil && !strings.HasPrefix(target, "anon_inode:") && !strings.HasSuffix(target, "/fd") {
			open = append(open, target)
			times[target]++
		}
	}
	return slices.DeleteFunc(open, func(file string) bool { return strings.HasPrefix(file, "pipe:") && times[file] > 1 })
}
