// Package config reads typed settings from environment variables. A program declares each setting once, where it reads
// it: name, default, limits and purpose. From that follow the checks, the error texts ([Read]) and the text of --help
// ([Help]). A program with a problem does not start, and tells all problems at once.
//
// Every variable must be read in any case, even if another variable makes it unused: otherwise Help would not show it.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Reader reads variables and collects their problems. An empty one is not set. Use the values only if Err returns nil.
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

// Help returns a line for every variable that read reads, with the default in parentheses, group by group.
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

// Err returns nil, or one error that names every missing or wrong variable and what is expected, but no secret value.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return fmt.Errorf("correct these environment variables and start again:\n%w", errors.Join(r.problems...))
}

// Wrong adds a problem that concerns several variables; its text must name them.
func (r *Reader) Wrong(problem string) { r.problems = append(r.problems, errors.New(problem)) }

// Unknown adds a problem if nothing has read the variable and it has another value than usual.
func (r *Reader) Unknown(name, usual, why string) {
	isRead := slices.ContainsFunc(r.variables, func(v variable) bool { return v.name == name })
	if value := r.getenv(name); !isRead && value != "" && value != usual {
		r.Wrong(fmt.Sprintf("%s is %q, but %s", name, value, why))
	}
}

func (r *Reader) wrong(name, value, expected string) {
	r.Wrong(fmt.Sprintf("%s is %q, expected %s", name, value, expected))
}

// read returns the value; empty if it is not set.
func (r *Reader) read(name, fallback, help string) string {
	r.variables = append(r.variables, variable{r.group, name, fallback, help})
	return r.getenv(name)
}

// String returns the value, or fallback when it is not set.
func (r *Reader) String(name, fallback, help string) string {
	return cmp.Or(r.read(name, fallback, help), fallback)
}

// OneOf returns the value, which must be one of the choices. The first is the default.
func (r *Reader) OneOf(name, help string, choices ...string) string {
	expected := strings.Join(choices, ", ")
	value := r.String(name, choices[0], help+": "+expected)
	if !slices.Contains(choices, value) {
		r.wrong(name, value, "one of "+expected)
	}
	return value
}

// Parsed returns the parsed value or fallback. The error of parse must say what is expected.
func Parsed[T any](r *Reader, name, fallback, help string, parse func(string) (T, error)) T {
	value, err := parse(r.String(name, fallback, help))
	if err != nil {
		r.Wrong(fmt.Sprintf("%s: %v", name, err))
	}
	return value
}

// Int returns the value, a decimal number from lowest to highest, or fallback when it is not set.
func (r *Reader) Int(name string, fallback, lowest, highest int, help string) int {
	return number(r, name, help, "whole number", [3]int{fallback, lowest, highest}, strconv.Itoa, strconv.Atoi)
}

// Duration returns the value, a Go duration from lowest to highest, or fallback when it is not set.
func (r *Reader) Duration(name string, fallback, lowest, highest time.Duration, help string) time.Duration {
	return number(r, name, help, "duration", [3]time.Duration{fallback, lowest, highest}, short, time.ParseDuration)
}

// number reads a number; limits are its default, its least and its highest value.
func number[T cmp.Ordered](r *Reader, name, help, kind string, limits [3]T, show func(T) string, parse func(string) (T, error)) T {
	between := show(limits[1]) + " to " + show(limits[2])
	text := r.String(name, show(limits[0]), help+"; "+between)
	value, err := parse(text)
	if err != nil || value < limits[1] || value > limits[2] {
		r.wrong(name, text, "a "+kind+" from "+between)
	}
	return value
}

// short formats d without zeros at the end: 1m, not 1m0s.
func short(d time.Duration) string { return zeros.ReplaceAllString(d.String(), "$1") }

var zeros = regexp.MustCompile(`([hm])(0m)?0s$`)

// Secret returns a value that must not be shown, for example one with a password. valid refuses unusable values, and
// the empty one if the variable is required. Its error text is not shown either, because parsers often quote their
// input; help says what is expected.
func (r *Reader) Secret(name, help string, valid func(value string) error) string {
	fallback := "none"
	if valid("") != nil {
		fallback = "required"
	}
	value := r.read(name, fallback, help)
	switch err := valid(value); {
	case err != nil && value == "":
		r.Wrong(name + " is not set, expected: " + help)
	case err != nil:
		r.Wrong(name + " is wrong (the value is secret and not shown), expected: " + help)
	}
	return value
}

// Address returns a TCP address to listen on (host:port, or :port; port 0: any), or fallback, which may be empty.
func (r *Reader) Address(name, fallback, help string) string {
	value := r.String(name, fallback, help)
	_, port, err := net.SplitHostPort(value)
	if _, bad := strconv.ParseUint(port, 10, 16); value != "" && (err != nil || bad != nil) {
		r.wrong(name, value, "host:port or :port, such as :28080")
	}
	return value
}

// URL returns an absolute http or https URL, or "". One with credentials is refused without being shown.
func (r *Reader) URL(name, help string) string {
	value := r.read(name, "", help)
	parsed, err := url.Parse(value)
	if value == "" || err == nil && (parsed.Scheme == "http" || parsed.Scheme == "https") && parsed.Host != "" && parsed.User == nil {
		return value
	}
	if strings.Contains(value, "@") {
		value = "(not shown, it may contain credentials)"
	}
	r.wrong(name, value, "an absolute http or https URL without credentials, such as http://127.0.0.1:8000")
	return ""
}
