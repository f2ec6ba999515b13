package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// String returns the value, or fallback when it is not set.
func (r *Reader) String(name, fallback, help string) string {
	return cmp.Or(r.read(name, fallback, help), fallback)
}

// OneOf returns the value, which must be one of the choices. The first is the default.
func (r *Reader) OneOf(name, help string, choices ...string) string {
	expected := strings.Join(choices, ", ")
	value := cmp.Or(r.read(name, choices[0], help+": "+expected), choices[0])
	if !slices.Contains(choices, value) {
		r.wrong(name, value, "one of "+expected)
		return choices[0]
	}
	return value
}

// Secret returns a value that must not be shown, for example one with a password. valid rejects unusable values, and
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
		r.problems = append(r.problems, fmt.Errorf("%s is not set, expected: %s", name, help))
	case err != nil:
		r.problems = append(r.problems, fmt.Errorf("%s is wrong (the value is secret and not shown), expected: %s", name, help))
	}
	return value
}

// Parsed returns the parsed value, or the parsed fallback if it is not set. The error of parse must say what is
// expected.
func Parsed[T any](r *Reader, name, fallback, help string, parse func(string) (T, error)) T {
	value, err := parse(r.String(name, fallback, help))
	if err != nil {
		r.problems = append(r.problems, fmt.Errorf("%s: %w", name, err))
	}
	return value
}

// Address returns the value, a TCP address to listen on (host:port, or :port for every interface;
// port 0 lets the system choose), or fallback when it is not set.
func (r *Reader) Address(name, fallback, help string) string {
	value := r.String(name, fallback, help)
	_, port, err := net.SplitHostPort(value)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		r.wrong(name, value, "host:port or :port, such as :28080")
	}
	return value
}

// OptionalAddress is Address for a variable that may be unset; the value is then empty.
func (r *Reader) OptionalAddress(name, help string) string {
	if r.getenv(name) == "" {
		return r.read(name, "", help)
	}
	return r.Address(name, "", help)
}

// URL returns the value, an absolute http or https URL, or "" if it is not set. A URL with credentials is rejected
// without being shown.
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
