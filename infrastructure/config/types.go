package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

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

// Parsed returns the parsed value, or the parsed fallback if it is not set. The error of parse must say what is
// expected.
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
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
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
		r.Wrong(name + " is not set, expected: " + help)
	case err != nil:
		r.Wrong(name + " is wrong (the value is secret and not shown), expected: " + help)
	}
	return value
}

// Address returns the value, a TCP address to listen on (host:port, or :port for every interface;
// port 0 lets the system choose), or fallback when it is not set. With an empty fallback it may be empty.
func (r *Reader) Address(name, fallback, help string) string {
	value := r.String(name, fallback, help)
	_, port, err := net.SplitHostPort(value)
	if _, bad := strconv.ParseUint(port, 10, 16); value != "" && (err != nil || bad != nil) {
		r.wrong(name, value, "host:port or :port, such as :28080")
	}
	return value
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
