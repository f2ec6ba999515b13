package testenv

import (
	"os/exec"
	"regexp"
	"testing"
)

// variableLine matches the line of a variable in a program's help.
var variableLine = regexp.MustCompile(`(?m)^  ([A-Z_]+)  `)

// VariablesOf returns the environment variables in a program's help. help is the command that prints it.
func VariablesOf(t testing.TB, help *exec.Cmd) []string {
	t.Helper()
	text, err := help.Output()
	if err != nil {
		t.Fatalf("%v: %v", help.Args, err)
	}
	var found []string
	for _, line := range variableLine.FindAllStringSubmatch(string(text), -1) {
		found = append(found, line[1])
	}
	if len(found) == 0 {
		t.Fatalf("%v prints no variable:\n%s", help.Args, text)
	}
	return found
}
