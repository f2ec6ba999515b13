package config_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/threads/infrastructure/config"
)

// readers read the variable V; what they return is compared when the value is good.
var readers = map[string]func(r *config.Reader) any{
	"string":   func(r *config.Reader) any { return r.String("V", "fallback") },
	"required": func(r *config.Reader) any { return r.Required("V", "a name") },
	"secret":   func(r *config.Reader) any { return r.Secret("V", "a password of 8", eightLong) },
	"oneof":    func(r *config.Reader) any { return r.OneOf("V", "mysql", "mysql", "sqlite") },
	"int":      func(r *config.Reader) any { return r.Int("V", 64, 1, 1024) },
	"duration": func(r *config.Reader) any { return r.Duration("V", time.Second, time.Millisecond, time.Minute) },
	"bool":     func(r *config.Reader) any { return r.Bool("V", true) },
	"address":  func(r *config.Reader) any { return r.Address("V", ":28080") },
	"url":      func(r *config.Reader) any { return r.URL("V", "") },
}

func eightLong(value string) error {
	if len(value) != 8 {
		return errors.New("wrong length of " + value)
	}
	return nil
}

func TestGoodValues(t *testing.T) {
	for _, test := range []struct {
		kind, value string
		want        any
	}{
		{"string", "", "fallback"},
		{"string", "x", "x"},
		{"required", "x", "x"},
		{"secret", "12345678", "12345678"},
		{"oneof", "", "mysql"},
		{"oneof", "sqlite", "sqlite"},
		{"int", "", 64},
		{"int", "1", 1},
		{"int", "1024", 1024},
		{"duration", "", time.Second},
		{"duration", "250ms", 250 * time.Millisecond},
		{"bool", "", true},
		{"bool", "false", false},
		{"bool", "true", true},
		{"address", "", ":28080"},
		{"address", "127.0.0.1:0", "127.0.0.1:0"},
		{"address", "[::1]:65535", "[::1]:65535"},
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
		{"required", "", "V is not set, expected a name"},
		{"secret", "", "V is not set, expected a password of 8"},
		{"secret", "hunter2", "V is wrong (its value is a secret and not shown), expected a password of 8"},
		{"oneof", "oracle", `V is "oracle", expected one of mysql, sqlite`},
		{"int", "0", `V is "0", expected a whole number from 1 to 1024`},
		{"int", "1025", `V is "1025", expected`},
		{"int", "12x", `V is "12x", expected`},
		{"duration", "1h", `V is "1h", expected a duration from 1ms to 1m0s`},
		{"duration", "5", `V is "5", expected`},
		{"bool", "yes", `V is "yes", expected true or false`},
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

func TestAllProblemsAtOnce(t *testing.T) {
	r := config.NewReader(func(name string) string { return map[string]string{"PORT": "x"}[name] })
	r.Int("PORT", 1, 1, 2)
	r.Required("REGION", "an AWS region")
	err := r.Err()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"PORT is", "REGION is not set"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}
