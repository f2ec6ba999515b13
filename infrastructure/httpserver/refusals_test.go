package httpserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"
)

// net/http rejects these requests before any handler sees them. Its responses must become problem documents.
func TestWhatNeverReachesAHandlerIsAProblem(t *testing.T) {
	server := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s reached the handler", r.Method, r.URL)
	}))
	long := strings.Repeat("a", 64<<10)
	for about, test := range map[string]struct {
		request string
		status  int
		code    string
	}{
		"an unknown expectation":   {"POST / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nContent-Length: 2\r\n\r\n{}", 417, "expectation_failed"},
		"one of HTTP/1.0":          {"GET / HTTP/1.0\r\nExpect: 200-ok\r\n\r\n", 417, "expectation_failed"},
		"a header that is too big": {"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + long + "\r\n\r\n", 431, "headers_too_large"},
		"a URL that is too long":   {"GET /" + long + " HTTP/1.1\r\nHost: x\r\n\r\n", 431, "headers_too_large"},
		"an unknown coding":        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "unsupported_transfer_encoding"},
		"an unknown version":       {"GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505, "unsupported_http_version"},
		"no host":                  {"GET / HTTP/1.1\r\n\r\n", 400, "malformed_request"},
		"two lengths":              {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}", 400, "malformed_request"},
		"no HTTP":                  {"Good morning!\r\n\r\n", 400, "malformed_request"},
	} {
		answer := sendRaw(t, server.url, test.request)
		var problem struct {
			Status              int
			Title, Detail, Code string
		}
		if err := json.Unmarshal(answer.body, &problem); err != nil {
			t.Errorf("%s: %v in %q", about, err, answer.body)
		}
		header := answer.header
		if answer.status != test.status || problem.Status != test.status || problem.Code != test.code ||
			problem.Title == "" || problem.Detail == "" || header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %v %s", about, answer.status, header, answer.body)
		}
		id := header.Get("X-Request-Id")
		if id == "" || !strings.Contains(server.log.String(), id) {
			t.Errorf("%s: the request id %q is not logged", about, id)
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store" || header.Get("Connection") != "close" {
			t.Errorf("%s: %v", about, header)
		}
	}
	if answer := sendRaw(t, server.url, "HEAD / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n"); answer.status != 417 || len(answer.body) > 0 {
		t.Errorf("HEAD: %d %q", answer.status, answer.body)
	}
}

// A handler's response must stay unchanged, even if it looks like net/http's, and Expect: 100-continue must work.
func TestAnswersOfHandlersAreNoRefusals(t *testing.T) {
	lookalike := strings.Repeat("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", 1000)
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || string(body) != "{}" {
			t.Errorf("got %q, %v", body, err)
		}
		w.WriteHeader(http.StatusExpectationFailed)
		_, _ = io.WriteString(w, lookalike)
	}))
	answer := sendRaw(t, server.url, "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}")
	if answer.status != 417 || string(answer.body) != lookalike {
		t.Errorf("%d, %d bytes", answer.status, len(answer.body))
	}
}

type rawAnswer struct {
	status int
	header textproto.MIMEHeader
	body   []byte // everything after the header, up to the end of the connection
}

func sendRaw(t *testing.T, url, request string) rawAnswer {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	var answer rawAnswer
	reader := textproto.NewReader(bufio.NewReader(conn))
	line, err := reader.ReadLine()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line, "HTTP/1.%1d %d", new(int), &answer.status); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if answer.header, err = reader.ReadMIMEHeader(); err != nil {
		t.Fatal(err)
	}
	if answer.body, err = io.ReadAll(reader.R); err != nil {
		t.Fatal(err)
	}
	return answer
}
