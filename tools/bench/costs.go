package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// costs measures the commands per second with tracing, with access tokens, and without both. Each is measured in two
// halves, in an order that spreads slow changes over all of them.
func costs(ctx context.Context, l *lab) ([]reading, error) {
	collector, err := collect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = collector.Close() }()
	addresses, err := freeAddresses(ctx, 1)
	if err != nil {
		return nil, err
	}
	traced := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + collector.Addr}
	tokens := []string{"AUTH=dev", "AUTH_DEV_ADDR=" + addresses[0]}
	const plain, withTraces, withTokens = 0, 1, 2
	var rate [3]float64
	for n, which := range []int{plain, withTraces, withTokens, withTokens, withTraces, plain} {
		half := &lab{filepath.Join(l.folder, fmt.Sprint(n)), l.binaries, l.duration / 2, l.warmUp / 2}
		issuer := ""
		if which == withTokens {
			issuer = addresses[0]
		}
		found, err := half.rate(ctx, [][]string{nil, traced, tokens}[which], issuer)
		if err != nil {
			return nil, err
		}
		rate[which] += found / 2
	}
	return []reading{
		{"write.sqlite.traced", "commands/s", rate[withTraces], rate[plain], "the same without tracing"},
		{"write.sqlite.tokens", "commands/s", rate[withTokens], rate[plain], "the same without access tokens"},
	}, nil
}

// rate returns the commands per second of 32 clients with the program in this environment. With an issuer, the clients
// have a token from it.
func (l *lab) rate(ctx context.Context, env []string, issuer string) (float64, error) {
	if err := os.Mkdir(l.folder, 0o700); err != nil {
		return 0, err
	}
	system, err := l.start(ctx, env...)
	if err != nil {
		return 0, err
	}
	defer system.stop()
	if issuer != "" {
		if system.token, err = tokenOfAda(ctx, issuer); err != nil {
			return 0, err
		}
	}
	threads, err := system.newThreads(ctx, ada, 32)
	if err != nil {
		return 0, err
	}
	done, err := system.post(ctx, job{user: ada, clients: 32, threads: threads, warmUp: l.warmUp, duration: l.duration, blind: true})
	return done.perSecond, err
}

// ada is an account for which the development issuer has a token.
const ada = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// tokenOfAda gets a token from the development issuer.
func tokenOfAda(ctx context.Context, issuer string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+issuer+"/tokens", nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if token, found := strings.CutPrefix(strings.TrimSpace(line), "ada="); found {
			return token, nil
		}
	}
	return "", fmt.Errorf("the issuer for development has no token of ada: %s", text)
}

// collect serves a collector that discards traces.
func collect(ctx context.Context) (*http.Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{
		Addr: listener.Addr().String(), ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }),
	}
	go func() { _ = server.Serve(listener) }() // until it is closed
	return server, nil
}
