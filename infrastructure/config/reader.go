// Package config reads typed settings from environment variables. A program declares each setting once, where it reads
// it: name, default, limits and purpose. From that follow the checks, the error texts ([Read]) and the text of --help
// ([Help]). All problems are reported at once, and a program with a problem does not start. Nothing else reads the
// environment.
//
// Every variable must be read in any case, even if another variable makes it unused: otherwise Help would not show it.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Reader reads variables and collects their descriptions and problems. An empty variable counts as not set. After a
// problem, a method returns the default or the zero value; use the values only if Err returns nil.
type Reader struct {
	getenv func(name string) string
	group  string
	*found
}

// found is what the readers of all groups have found.
type found struct {
	variables []variable
	problems  []error
}

// variable is a variable's line in --help.
type variable struct{ group, name, fallback, help string }

// NewReader reads from getenv, which is os.Getenv except in tests.
func NewReader(getenv func(name string) string) *Reader {
	return &Reader{getenv: getenv, found: new(found)}
}

// Group returns a reader whose variables have a heading of their own in --help.
func (r *Reader) Group(heading string) *Reader { return &Reader{r.getenv, heading, r.found} }

// Read returns the settings that read reads, or the error of [Reader.Err].
func Read[S any](getenv func(name string) string, read func(*Reader) S) (S, error) {
	r := NewReader(getenv)
	settings := read(r)
	return settings, r.Err()
}

// Help returns a line for every variable that read reads, in that order, with the default in parentheses. Those of
// groups come last, each group under its heading.
func Help[S any](read func(*Reader) S) string {
	r := NewReader(func(string) string { return "" })
	read(r)
	width, groups := 0, []string{""}
	for _, v := range r.variables {
		width = max(width, len(v.name))
		if !slices.Contains(groups, v.group) {
			groups = append(groups, v.group)
		}
	}
	var lines strings.Builder
	for _, group := range groups {
		if group != "" {
			fmt.Fprintf(&lines, "\n%s:\n", group)
		}
		for _, v := range r.variables {
			if v.group == group {
				fmt.Fprintf(&lines, "  %-*s  %s (%s)\n", width, v.name, v.help, cmp.Or(v.fallback, "none"))
			}
		}
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

// Unknown adds a problem if nothing has read the variable and it has another value than usual, because somebody expects
// something of it.
func (r *Reader) Unknown(name, usual, why string) {
	isRead := slices.ContainsFunc(r.variables, func(v variable) bool { return v.name == name })
	if value := r.getenv(name); !isRead && value != "" && value != usual {
		r.Wrong(fmt.Sprintf("%s is %q, but %s", name, value, why))
	}
}

// wrong adds a problem of one variable.
func (r *Reader) wrong(name, value, expected string) {
	r.Wrong(fmt.Sprintf("%s is %q, expected %s", name, value, expected))
}

// read returns the value; empty if it is not set.
func (r *Reader) read(name, fallback, help string) string {
	r.variables = append(r.variables, variable{r.group, name, fallback, help})
	return r.getenv(name)
}
