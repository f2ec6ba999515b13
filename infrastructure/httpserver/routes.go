package httpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/threads/es"
)

// Health is the answer of /health/ready.
type Health struct {
	members map[string]any // beside the checks and what follows from them
	checks  map[string]error
}

func (h *Health) Set(name string, value any) { h.members[name] = value }

// Warn adds warnings for operators, which do not make the program unready. Empty ones are left out.
func (h *Health) Warn(warnings ...string) {
	told, _ := h.members["warnings"].([]string)
	told = slices.DeleteFunc(slices.Concat(told, warnings), func(warning string) bool { return warning == "" })
	if len(told) > 0 {
		h.members["warnings"] = told
	}
}

// Check adds a check of a dependency. An error makes it failed and is logged; only its [es.PublicReason] is sent.
func (h *Health) Check(name string, err error) { h.checks[name] = err }

const checkTimeout = 2 * time.Second

// Public is an error whose text anybody may know.
type Public string

func (p Public) Error() string { return string(p) }

// Reason returns the text, for [es.PublicReason].
func (p Public) Reason() string { return string(p) }

// NewRegistry returns a registry of metrics, with those of the build, of the process and of Go. There is no global one.
func NewRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewBuildInfoCollector(), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// Metrics serves a registry to a few at a time, as it may ask the databases.
func Metrics(registry *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry, MaxRequestsInFlight: 4})
}

// Handler serves the routes with health and metrics, and problems for requests without a route; hint names the paths.
func (s *Server) Handler(routes chi.Router, registry *prometheus.Registry, hint string) http.Handler {
	s.durations = NewDurations(registry)
	routes.Get("/health/alive", s.Alive)
	routes.Get("/health/ready", s.Ready)
	routes.Method(http.MethodGet, "/metrics", Metrics(registry))
	return WithProblems(routes, hint)
}

// Alive answers /health/alive: always 200.
func (s *Server) Alive(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, http.StatusOK, map[string]any{"status": "alive"})
}

// Ready answers /health/ready with the reports: 200 if every check has passed, otherwise 503. Requests that come during
// a check get its answer: many of them take no more connections than one.
func (s *Server) Ready(w http.ResponseWriter, r *http.Request) {
	checked, _, _ := s.checking.Do("", func() (any, error) { return s.check(context.WithoutCancel(r.Context())), nil })
	found := checked.(checkedHealth)
	s.answer(w, found.status, maps.Clone(found.members))
}

type checkedHealth struct {
	status  int
	members map[string]any
}

func (s *Server) check(ctx context.Context) checkedHealth {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	health := &Health{members: map[string]any{}, checks: map[string]error{}}
	health.Warn(s.Notes["warning"])
	for _, report := range s.Reports {
		report(ctx, health)
	}
	verdict, status, results, reasons := "ready", http.StatusOK, map[string]string{}, []string(nil)
	for _, name := range slices.Sorted(maps.Keys(health.checks)) {
		results[name] = "ok"
		if err := health.checks[name]; err != nil {
			s.log.WarnContext(ctx, "not ready", "check", name, "error", err)
			verdict, status, results[name] = "not ready", http.StatusServiceUnavailable, "failed"
			if reason := es.PublicReason(err); reason != "" {
				reasons = append(reasons, reason)
			}
		}
	}
	health.Set("status", verdict)
	health.Set("checks", results)
	if len(reasons) > 0 {
		health.Set("reason", strings.Join(reasons, "; "))
	}
	return checkedHealth{status, health.members}
}

// answer adds the server's notes.
func (s *Server) answer(w http.ResponseWriter, status int, members map[string]any) {
	for name, note := range s.Notes {
		members[name] = note
	}
	WriteJSON(w, status, members)
}

func WriteJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}

// WriteProblem answers with a problem document (RFC 9457): detail is for people, code for programs.
func WriteProblem(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct { // fails only if the client has disconnected
		Status int    `json:"status"`
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Code   string `json:"code"`
	}{status, http.StatusText(status), detail, code})
}

// WithProblems answers requests without a route by problems with a hint. What has a route for GET answers HEAD, too.
func WithProblems(routes chi.Router, hint string) http.Handler {
	unrouted := func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, methods := range [][]string{{http.MethodGet, http.MethodHead}, {http.MethodPost}} {
			if routes.Match(chi.NewRouteContext(), methods[0], cmp.Or(r.URL.RawPath, r.URL.Path)) {
				allowed = append(allowed, methods...)
			}
		}
		switch {
		case len(allowed) == 0:
			WriteProblem(w, http.StatusNotFound, "path_not_found", "there is nothing at this path; "+hint)
		case r.Method == http.MethodHead && slices.Contains(allowed, http.MethodHead):
			route := chi.RouteContext(r.Context())
			route.Reset()
			route.RouteMethod = http.MethodGet
			routes.ServeHTTP(w, r)
		default:
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			WriteProblem(w, http.StatusMethodNotAllowed, "method_not_allowed", "this path takes "+strings.Join(allowed, ", "))
		}
	}
	routes.NotFound(unrouted)
	routes.MethodNotAllowed(unrouted)
	return routes
}
