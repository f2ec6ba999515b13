package launch

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// CommandLine is the command line of a living process, "" when there is none. A process that ended
// and is not reaped yet has none.
func CommandLine(pid int) string {
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		return strings.ReplaceAll(string(line), "\x00", " ")
	}
	line, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // ps answers at once
	if err != nil {
		return ""
	}
	return string(line)
}
