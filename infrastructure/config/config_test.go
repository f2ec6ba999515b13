package config_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/threads/infrastructure/config"
)

// readers read the variable V. Their results are compared if the value is valid.
var readers = map[string]func(r *config.Reader) any{
	"string":          func(r *config.Reader) any { return r.String("V", "fallback", "help") },
	"secret":          func(r *config.Reader) any { return r.Secret("V", "a password of 8", eightLong) },
	"optional":        func(r *config.Reader) any { return r.Secret("V", "a password of 8", eightLongOrNone) },
	"oneof":           func(r *config.Reader) any { return r.OneOf("V", "help", "mysql", "sqlite") },
	"int":             func(r *config.Reader) any { return r.Int("V", 64, 1, 1024, "help") },
	"duration":        func(r *config.Reader) any { return r.Duration("V", time.Second, time.Millisecond, time.Hour, "help") },
	"parsed":          func(r *config.Reader) any { return config.Parsed(r, "V", "7", "help", strconv.Atoi) },
	"address":         func(r *config.Reader) any { return r.Address("V", ":28080", "help") },
	"address or none": func(r *config.Reader) any { return r.Address("V", "", "help") },
	"url":             func(r *config.Reader) any { return r.URL("V", "help") },
}

func eightLong(value string) error {
	if len(value) != 8 {
		return errors.New("wrong length of " + value)
	}
	return nil
}

func eightLongOrNone(value string) error {
	if value == "" {
		return nil
	}
	return eightLong(value)
}

func TestGoodValues(t *testing.T) {
	for _, test := range []struct {
		kind, value string
		want        any
	}{
		{"string", "", "fallback"},
		{"string", "x", "x"},
		{"secret", "12345678", "12345678"},
		{"optional", "", ""},
		{"optional", "12345678", "12345678"},
		{"oneof", "", "mysql"},
		{"oneof", "sqlite", "sqlite"},
		{"int", "", 64},
		{"int", "1", 1},
		{"int", "1024", 1024},
		{"duration", "", time.Second},
		{"duration", "250ms", 250 * time.Millisecond},
		{"parsed", "", 7},
		{"parsed", "8", 8},
		{"address", "", ":28080"},
		{"address", "127.0.0.1:0", "127.0.0.1:0"},
		{"address", "[::1]:65535", "[::1]:65535"},
		{"address or none", "", ""},
		{"address or none", "127.0.0.1:0", "127.0.0.1:0"},
		{"url", "", ""},
		{"url", "http://127.0.0.1:8000", "http://127.0.0.1:8000"},
	} {
		t.Run(test.kind+" "+test.value, func(t *testing.T) {
			r := config.NewReader(func(string) string { return test.value })
			if got := readers[test.kind](r); got != test.want {
				t.Errorf("read %v, want %v", got, test.want)
			}
			if err := r.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBadValues(t *testing.T) {
	for _, test := range []struct{ kind, value, want string }{
		{"secret", "", "V is not set, expected: a password of 8"},
		{"secret", "hunter2", "V is wrong (the value is secret and not shown), expected: a password of 8"},
		{"optional", "hunter2", "V is wrong"},
		{"oneof", "oracle", `V is "oracle", expected one of mysql, sqlite`},
		{"int", "0", `V is "0", expected a whole number from 1 to 1024`},
		{"int", "1025", `V is "1025", expected`},
		{"int", "12x", `V is "12x", expected`},
		{"duration", "2h", `V is "2h", expected a duration from 1ms to 1h`},
		{"duration", "5", `V is "5", expected`},
		{"parsed", "x", "V: strconv.Atoi"},
		{"address", "28080", `V is "28080", expected host:port`},
		{"address", ":65536", `V is ":65536", expected`},
		{"address", ":http", `V is ":http", expected`},
		{"url", "localhost:8000", `V is "localhost:8000", expected an absolute http or https URL`},
		{"url", "ftp://host", `V is "ftp://host", expected`},
		{"url", "http://user:hunter2@host", `V is "(not shown`},
	} {
		t.Run(test.kind+" "+test.value, func(t *testing.T) {
			r := config.NewReader(func(string) string { return test.value })
			readers[test.kind](r)
			err := r.Err()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the secret is in the error: %v", err)
			}
		})
	}
}

// A setting of what a program lacks must not be ignored in silence.
func TestUnknown(t *testing.T) {
	for value, wrong := range map[string]bool{"": false, "none": false, "dev": true} {
		for _, isRead := range []bool{false, true} {
			r := config.NewReader(func(string) string { return value })
			if isRead {
				r.String("AUTH", "", "help")
			}
			r.Unknown("AUTH", "none", "it is not here")
			if err := r.Err(); (err != nil) != (wrong && !isRead) || err != nil && !strings.Contains(err.Error(), `AUTH is "dev", but it is not here`) {
				t.Errorf("%q, read: %t: %v", value, isRead, err)
			}
		}
	}
}

func TestHelp(t *testing.T) {
	for kind, want := range map[string]string{
		"string":   "help (fallback)",
		"secret":   "a password of 8 (required)",
		"optional": "a password of 8 (none)",
		"oneof":    "help: mysql, sqlite (mysql)",
		"int":      "help; 1 to 1024 (64)",
		"duration": "help; 1ms to 1h (1s)",
		"parsed":   "help (7)",
		"address":  "help (:28080)",
		"url":      "help (none)",
	} {
		if got := config.Help(readers[kind]); got != "  V  "+want+"\n" {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

func TestDurationsAreShownAsTheyAreWritten(t *testing.T) {
	for _, text := range []string{"0s", "10s", "1m", "10m", "1m10s", "1h", "1h10m", "100h", "1h0m1s"} {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		help := config.Help(func(r *config.Reader) any { return r.Duration("V", d, 0, d, "help") })
		if want := "  V  help; 0s to " + text + " (" + text + ")\n"; help != want {
			t.Errorf("%q, want %q", help, want)
		}
	}
}
