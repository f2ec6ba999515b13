package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Reader reads variables one after the other and remembers what is wrong with them. A variable that
// is empty counts as not set. A method that finds a problem returns its fallback, or the zero value
// where it has none: the values are to be used only when Err returns nil.
type Reader struct {
	getenv   func(name string) string
	problems []error
}

// NewReader reads from getenv, which is os.Getenv outside of tests.
func NewReader(getenv func(name string) string) *Reader {
	return &Reader{getenv: getenv}
}

// Err returns nil, or one error that names every variable that is missing or wrong, what was found
// and what is expected. What a variable read by Secret holds is never part of it.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return fmt.Errorf("set these environment variables right and start again:\n%w", errors.Join(r.problems...))
}

// String returns the value, or fallback when it is not set.
func (r *Reader) String(name, fallback string) string {
	if value := r.getenv(name); value != "" {
		return value
	}
	return fallback
}

// Required returns the value. expected says what it should be, for a reader who has never set it.
func (r *Reader) Required(name, expected string) string {
	value := r.getenv(name)
	if value == "" {
		r.problems = append(r.problems, fmt.Errorf("%s is not set, expected %s", name, expected))
	}
	return value
}

// Secret is Required for a value that must not be shown, such as one with a password in it. valid,
// unless nil, returns an error for a value that cannot be used; its text is not shown either, since
// parsers like to quote what they parse.
func (r *Reader) Secret(name, expected string, valid func(value string) error) string {
	value := r.Required(name, expected)
	if value != "" && valid != nil && valid(value) != nil {
		r.problems = append(r.problems, fmt.Errorf("%s is wrong (its value is a secret and not shown), expected %s", name, expected))
	}
	return value
}

// OneOf returns the value, which must be one of the choices, or fallback when it is not set.
func (r *Reader) OneOf(name, fallback string, choices ...string) string {
	value := r.String(name, fallback)
	if value != fallback && !slices.Contains(choices, value) {
		r.wrong(name, value, "one of "+strings.Join(choices, ", "))
		return fallback
	}
	return value
}

func (r *Reader) wrong(name, value, expected string) {
	r.problems = append(r.problems, fmt.Errorf("%s is %q, expected %s", name, value, expected))
}

// Parsed returns what parse makes of the value, or of fallback when it is not set. The error of parse says what is
// expected.
func Parsed[T any](r *Reader, name, fallback string, parse func(string) (T, error)) T {
	value, err := parse(r.String(name, fallback))
	if err != nil {
		r.problems = append(r.problems, fmt.Errorf("%s: %w", name, err))
	}
	return value
}

// Wrong adds a problem that lies between variables; its text names them.
func (r *Reader) Wrong(problem string) { r.problems = append(r.problems, errors.New(problem)) }
