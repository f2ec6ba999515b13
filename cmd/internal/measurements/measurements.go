// Package measurements serves what operators look into a program with, metrics and profiles: the metrics beside
// everything else, or, where METRICS_ADDR is set, both on an address of their own, which strangers need not reach.
package measurements

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/metrics"
)

// Settings are what the environment says.
type Settings struct {
	Address string // empty: the metrics are beside everything else
}

// ReadSettings reads them, for a program that is alone in its process.
func ReadSettings(r *config.Reader) Settings {
	return Settings{Address: r.OptionalAddress("METRICS_ADDR",
		"address for /metrics and /debug/pprof/ alone, such as 127.0.0.1:29080; without it /metrics is on the program's own")}
}

// Handler answers /metrics beside everything else, or says that they are elsewhere.
func Handler(settings Settings, registry *prometheus.Registry) http.Handler {
	if settings.Address == "" {
		return metrics.Handler(registry)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		httpserver.WriteProblem(w, http.StatusNotFound, "path_not_found", "the metrics are at an address of their own")
	})
}

// Beside runs a program, and with it the address of its own for its measurements, where there is one.
func Beside(ctx context.Context, settings Settings, metrics http.Handler, log *slog.Logger, run func(context.Context) error) error {
	if settings.Address == "" {
		return run(ctx)
	}
	server, err := httpserver.Listen(ctx, log, "METRICS_ADDR", settings.Address)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "measurements", "url", server.URL())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return server.Serve(ctx, routes(metrics)) })
	group.Go(func() error { return run(ctx) })
	return group.Wait()
}

func routes(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
