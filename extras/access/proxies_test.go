package access

import (
	"net/http"
	"testing"

	"example.com/threads/interfaceadaptor/admission"
)

func TestClientIP(t *testing.T) {
	for _, test := range []struct {
		trusted, peer string
		forwarded     []string
		want          string
	}{
		{"", "192.0.2.1:5000", nil, "192.0.2.1"},
		{"", "192.0.2.1:5000", []string{"198.51.100.9"}, "192.0.2.1"},
		{"", "[2001:db8::1%eth0]:5000", nil, "2001:db8::1"},
		{"", "[::ffff:192.0.2.1]:5000", nil, "192.0.2.1"},
		{"", "pipe", nil, ""},
		{"10.0.0.0/8", "192.0.2.1:5000", []string{"198.51.100.9"}, "192.0.2.1"},
		{"10.0.0.0/8", "10.0.0.7:5000", nil, "10.0.0.7"},
		{"10.0.0.0/8", "10.0.0.7:5000", []string{"198.51.100.9"}, "198.51.100.9"},
		{"10.0.0.0/8", "10.0.0.7:5000", []string{"1.2.3.4, 198.51.100.9"}, "198.51.100.9"},
		{"10.0.0.0/8", "10.0.0.7:5000", []string{"1.2.3.4, 198.51.100.9, 10.0.0.8"}, "198.51.100.9"},
		{"10.0.0.0/8", "10.0.0.7:5000", []string{"1.2.3.4", "198.51.100.9", "10.0.0.8"}, "198.51.100.9"},
		{"10.0.0.0/8", "10.0.0.7:5000", []string{"1.2.3.4, junk"}, "10.0.0.7"},
		{"10.0.0.0/8", "10.0.0.7:5000", []string{"1.2.3.4:99, 198.51.100.9:4711, 10.0.0.8:80"}, "198.51.100.9"},
		{"10.0.0.0/8", "10.0.0.7:5000", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"10.1.2.3/8 , fd00::/8", "[fd00::1]:5000", []string{"10.9.9.9"}, "10.9.9.9"},
	} {
		proxies, err := ParseProxies(test.trusted)
		if err != nil {
			t.Fatal(err)
		}
		request := &http.Request{RemoteAddr: test.peer, Header: http.Header{"X-Forwarded-For": test.forwarded}}
		if got := (admission.Principal{Address: proxies.client(request)}).ClientIP(); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestProxiesThatAreNoNetworks(t *testing.T) {
	for _, list := range []string{"10.0.0.1", "10.0.0.0/33", "everyone", "10.0.0.0/8;fd00::/8"} {
		if _, err := ParseProxies(list); err == nil {
			t.Errorf("%q was accepted", list)
		}
	}
}
