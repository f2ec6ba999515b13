package access_test

import (
	"strings"
	"testing"

	"example.com/threads/extras/access"
	"example.com/threads/infrastructure/config"
)

func TestWhatOIDCNeeds(t *testing.T) {
	for about, c := range map[string]struct {
		env  map[string]string
		want string // part of the error; empty: no error
	}{
		"nothing":     {nil, ""},
		"no audience": {map[string]string{"AUTH": "oidc", "AUTH_ISSUER": "https://login.example.com"}, "AUTH_AUDIENCE"},
		"no issuer":   {map[string]string{"AUTH": "oidc", "AUTH_AUDIENCE": "threads"}, "AUTH_ISSUER"},
		"both":        {map[string]string{"AUTH": "oidc", "AUTH_ISSUER": "https://login.example.com", "AUTH_AUDIENCE": "threads"}, ""},
	} {
		_, err := config.Read(func(name string) string { return c.env[name] }, access.ReadSettings)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", about, err)
		}
	}
}

// The development issuer gives a token to every caller, so it must listen on loopback only.
func TestTheIssuerForDevelopmentIsOnLoopback(t *testing.T) {
	for address, good := range map[string]bool{
		"127.0.0.1:28084": true, "127.9.9.9:0": true, "[::1]:28084": true,
		":28084": false, "0.0.0.0:28084": false, "[::]:28084": false, "10.0.0.1:28084": false, "example.com:28084": false,
	} {
		_, err := config.Read(func(name string) string { return map[string]string{"AUTH_DEV_ADDR": address}[name] }, access.ReadSettings)
		if (err == nil) != good {
			t.Errorf("%s: %v", address, err)
		}
	}
}
