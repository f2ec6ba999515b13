package config

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Address returns the value, a TCP address to listen on (host:port, or :port for every interface;
// port 0 lets the system choose), or fallback when it is not set.
func (r *Reader) Address(name, fallback string) string {
	value := r.getenv(name)
	if value == "" {
		return fallback
	}
	_, port, err := net.SplitHostPort(value)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		r.wrong(name, value, "host:port or :port, such as :28080")
		return fallback
	}
	return value
}

// URL returns the value, an absolute http or https URL, or fallback when it is not set. A URL with
// credentials in it is refused without being shown.
func (r *Reader) URL(name, fallback string) string {
	value := r.getenv(name)
	if value == "" {
		return fallback
	}
	const expected = "an absolute http or https URL without credentials, such as http://127.0.0.1:8000"
	parsed, err := url.Parse(value)
	if err == nil && (parsed.Scheme == "http" || parsed.Scheme == "https") && parsed.Host != "" && parsed.User == nil {
		return value
	}
	if strings.Contains(value, "@") {
		value = "(not shown, it may hold credentials)"
	}
	r.wrong(name, value, expected)
	return fallback
}
