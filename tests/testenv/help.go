package testenv

import (
	"os/exec"
	"regexp"
	"testing"
)

// toldVariable is a line of a program's help that tells of a variable.
var toldVariable = regexp.MustCompile(`(?m)^  ([A-Z_]+)  `)

// VariablesOf returns the environment variables that a program's help tells of. help is the command that
// prints it.
func VariablesOf(t testing.TB, help *exec.Cmd) []string {
	t.Helper()
	text, err := help.Output()
	if err != nil {
		t.Fatalf("%v: %v", help.Args, err)
	}
	var found []string
	for _, line := range toldVariable.FindAllStringSubmatch(string(text), -1) {
		found = append(found, line[1])
	}
	if len(found) == 0 {
		t.Fatalf("%v tells of no variable:\n%s", help.Args, text)
	}
	return found
}
