package config

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Reader reads variables and collects their descriptions and problems. An empty variable counts as not set. After a
// problem, a method returns the default or the zero value; use the values only if Err returns nil.
type Reader struct {
	getenv    func(name string) string
	variables []variable
	problems  []error
}

// variable is a variable's line in --help.
type variable struct{ name, fallback, help string }

// NewReader reads from getenv, which is os.Getenv except in tests.
func NewReader(getenv func(name string) string) *Reader {
	return &Reader{getenv: getenv}
}

// Read returns the settings that read reads, or the error of [Reader.Err].
func Read[S any](getenv func(name string) string, read func(*Reader) S) (S, error) {
	r := NewReader(getenv)
	settings := read(r)
	return settings, r.Err()
}

// Help returns a line for every variable that read reads, in that order, with the default in parentheses.
func Help[S any](read func(*Reader) S) string {
	r := NewReader(func(string) string { return "" })
	read(r)
	width := 0
	for _, v := range r.variables {
		width = max(width, len(v.name))
	}
	var lines strings.Builder
	for _, v := range r.variables {
		fmt.Fprintf(&lines, "  %-*s  %s (%s)\n", width, v.name, v.help, cmp.Or(v.fallback, "none"))
	}
	return lines.String()
}

// Err returns nil, or one error that names every missing or wrong variable, with the value found and what is expected.
// It never contains the value of a secret.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return fmt.Errorf("correct these environment variables and start again:\n%w", errors.Join(r.problems...))
}

// Wrong adds a problem that concerns several variables; its text must name them.
func (r *Reader) Wrong(problem string) { r.problems = append(r.problems, errors.New(problem)) }

func (r *Reader) wrong(name, value, expected string) {
	r.problems = append(r.problems, fmt.Errorf("%s is %q, expected %s", name, value, expected))
}

// read returns the value; empty if it is not set.
func (r *Reader) read(name, fallback, help string) string {
	r.variables = append(r.variables, variable{name, fallback, help})
	return r.getenv(name)
}
