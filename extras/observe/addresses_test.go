package observe_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/observe"
	"example.com/threads/infrastructure/httpserver"
)

func status(t *testing.T, url string) (int, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode, nil
}

func TestAnAddressOfTheirOwn(t *testing.T) {
	settings := observe.Settings{
		Metrics: fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t)), Profiles: fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t)),
	}
	ctx, stop := context.WithCancel(t.Context())
	log := slog.New(slog.DiscardHandler)
	observer, err := observe.Start(ctx, settings, "test", httpserver.NewRegistry(), log)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- observer.Run(ctx) }()
	for url, want := range map[string]int{
		settings.Metrics + "/metrics": http.StatusOK, settings.Profiles + "/debug/pprof/": http.StatusOK, settings.Profiles + "/debug/pprof/heap": http.StatusOK,
		settings.Metrics + "/debug/pprof/": http.StatusNotFound, settings.Profiles + "/metrics": http.StatusNotFound,
	} {
		testenv.Eventually(t, 10*time.Second, func() error {
			got, err := status(t, "http://"+url)
			if err == nil && got != want {
				err = fmt.Errorf("%s: %d, want %d", url, got, want)
			}
			return err
		})
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for address, want := range map[string]int{settings.Metrics: http.StatusNotFound, "": http.StatusOK} {
		observer, err := observe.Start(t.Context(), observe.Settings{Metrics: address}, "test", httpserver.NewRegistry(), log)
		if err != nil {
			t.Fatal(err)
		}
		var server httpserver.Server
		observer.Watch(&server)
		handler := httpserver.Metrics(httpserver.NewRegistry())
		for _, around := range server.Around {
			handler = around(handler)
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		if recorder.Code != want {
			t.Errorf("with METRICS_ADDR %q the program's own /metrics is %d", address, recorder.Code)
		}
	}
}
