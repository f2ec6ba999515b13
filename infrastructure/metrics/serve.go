package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
)

// Settings are read from the environment.
type Settings struct {
	Address  string // of the metrics; empty: the program's own address
	Profiles string // of the profiles; empty: no profiles
}

// ReadSettings reads the settings of a program that is alone in its process.
func ReadSettings(r *config.Reader) Settings {
	s := Settings{Address: r.OptionalAddress("METRICS_ADDR",
		"address for /metrics alone, such as 127.0.0.1:29080; without it /metrics is on the program's own")}
	s.Profiles = ReadProfiles(r)
	return s
}

// ReadProfiles reads the address of the profiles.
func ReadProfiles(r *config.Reader) string {
	return r.OptionalAddress("PPROF_ADDR", "address for Go's profiles (/debug/pprof/), such as 127.0.0.1:26060; without it there are none")
}

// Own serves /metrics on the program's own address, or answers that METRICS_ADDR has them. Profiles are on PPROF_ADDR
// only.
func (s Settings) Own(registry *prometheus.Registry) http.Handler {
	if s.Address == "" {
		return Handler(registry)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		httpserver.WriteProblem(w, http.StatusNotFound, "path_not_found", "the metrics are at an address of their own")
	})
}

// Beside runs a program together with servers for its metrics and profiles, if they have addresses.
func (s Settings) Beside(ctx context.Context, registry *prometheus.Registry, log *slog.Logger, run func(context.Context) error) error {
	shown := http.NewServeMux()
	shown.Handle("GET /metrics", Handler(registry))
	return beside(ctx, "METRICS_ADDR", s.Address, shown, log, func(ctx context.Context) error {
		return beside(ctx, "PPROF_ADDR", s.Profiles, profiles(), log, run)
	})
}

// beside runs a program together with a server, if address is not empty.
func beside(ctx context.Context, setting, address string, handler http.Handler, log *slog.Logger, run func(context.Context) error) error {
	if address == "" {
		return run(ctx)
	}
	server, err := httpserver.Listen(ctx, log, setting, address)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "measurements", "setting", setting, "url", server.URL())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return server.Serve(ctx, handler) })
	group.Go(func() error { return run(ctx) })
	return group.Wait()
}

func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
