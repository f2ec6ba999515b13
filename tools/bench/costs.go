package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// costs measures the commands per second with tracing, with access tokens, and without both.
func costs(ctx context.Context, labs []*lab) ([]reading, error) {
	collector, err := collect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = collector.Close() }()
	var plain, traced, withTokens []taker
	for _, l := range labs {
		addresses, err := freeAddresses(ctx, 1)
		if err != nil {
			return nil, err
		}
		for _, variant := range []struct {
			name, issuer string
			env          []string
			takers       *[]taker
		}{
			{"plain", "", nil, &plain},
			{"traced", "", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + collector.Addr}, &traced},
			{"tokens", addresses[0], []string{"AUTH=dev", "AUTH_DEV_ADDR=" + addresses[0]}, &withTokens},
		} {
			system, take, err := l.variant(ctx, variant.name, variant.issuer, variant.env)
			if system != nil {
				defer system.stop()
			}
			if err != nil {
				return nil, err
			}
			*variant.takers = append(*variant.takers, take)
		}
	}
	taken, err := inTurns(ctx, labs, slices.Concat(plain, traced, withTokens)...)
	if err != nil {
		return nil, err
	}
	n := len(labs)
	row := func(name, beside, without string, values [][]load) []reading {
		return reading{Name: name, Unit: "commands/s", Beside: beside, Without: without}.each(labs, values, taken[:n], perSecondOf)
	}
	return slices.Concat(
		row("write.sqlite.traced", "the same without tracing", "network, TLS, tokens", taken[n:2*n]),
		row("write.sqlite.tokens", "the same without access tokens", "network, TLS, traces", taken[2*n:]),
	), nil
}

// variant starts the program in this environment, with a taker of 32 clients. With an issuer, they have a token from
// it.
func (l *lab) variant(ctx context.Context, name, issuer string, env []string) (*runningSystem, taker, error) {
	inner, err := l.within(name)
	if err != nil {
		return nil, nil, err
	}
	system, err := inner.start(ctx, env...)
	if err != nil {
		return nil, nil, err
	}
	if issuer != "" {
		if system.token, err = tokenOfAda(ctx, issuer); err != nil {
			return system, nil, err
		}
	}
	threads, err := system.newThreads(ctx, ada, mostClients)
	return system, system.take(job{user: ada, clients: mostClients, threads: threads, blind: true}, 0), err
}

// ada is an account for which the development issuer has a token.
const ada = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// tokenOfAda gets a token from the development issuer.
func tokenOfAda(ctx context.Context, issuer string) (string, error) {
	text, err := get(ctx, "http://"+issuer+"/tokens")
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
