package config

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Reader reads variables one after the other, and remembers what there is to tell of them and what is wrong with them. A
// variable that is empty counts as not set. A method that finds a problem returns the default, or the zero value where
// there is none: the values are to be used only when Err returns nil.
type Reader struct {
	getenv   func(name string) string
	told     []told
	problems []error
}

// told is what --help tells of a variable.
type told struct{ name, fallback, help string }

// NewReader reads from getenv, which is os.Getenv outside of tests.
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
	for _, variable := range r.told {
		width = max(width, len(variable.name))
	}
	var lines strings.Builder
	for _, variable := range r.told {
		fmt.Fprintf(&lines, "  %-*s  %s (%s)\n", width, variable.name, variable.help, cmp.Or(variable.fallback, "none"))
	}
	return lines.String()
}

// Err returns nil, or one error that names every variable that is missing or wrong, what was found
// and what is expected. What a variable read by Secret holds is never part of it.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return fmt.Errorf("set these environment variables right and start again:\n%w", errors.Join(r.problems...))
}

// Wrong adds a problem that lies between variables; its text names them.
func (r *Reader) Wrong(problem string) { r.problems = append(r.problems, errors.New(problem)) }

func (r *Reader) wrong(name, value, expected string) {
	r.problems = append(r.problems, fmt.Errorf("%s is %q, expected %s", name, value, expected))
}

// read returns the value, which is empty when it is not set.
func (r *Reader) read(name, fallback, help string) string {
	r.told = append(r.told, told{name, fallback, help})
	return r.getenv(name)
}
