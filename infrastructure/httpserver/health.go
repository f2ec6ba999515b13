package httpserver

import (
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

// Set sets a member of the answer.
func (h *Health) Set(name string, value any) { h.members[name] = value }

// Warn adds warnings for operators, which do not make the program unready. Empty ones are left out.
func (h *Health) Warn(warnings ...string) {
	told, _ := h.members["warnings"].([]string)
	for _, warning := range warnings {
		if warning != "" {
			told = append(told, warning)
			h.members["warnings"] = told
		}
	}
}

// Check adds a check of a dependency: failed with an error, otherwise ok. The error is logged; only its
// [es.PublicReason] is sent.
func (h *Health) Check(name string, err error) { h.checks[name] = err }

const checkTimeout = 2 * time.Second

// Public is an error whose text anybody may know.
type Public string

func (p Public) Error() string { return string(p) }

// Reason returns the text, for [es.PublicReason].
func (p Public) Reason() string { return string(p) }

// NewRegistry returns a registry of metrics, with those of the process and Go's runtime. A program passes it to
// everything that counts; there is no global one.
func NewRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// Metrics answers /metrics.
func Metrics(registry *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry})
}

// Handler serves the routes with the server's health, the metrics in the registry, and a problem document for requests
// that have no route; hint names the existing paths. From then on the server measures its requests.
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

// Ready answers /health/ready with the reports: 200 if every check has passed, otherwise 503.
func (s *Server) Ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
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
	s.answer(w, status, health.members)
}

// answer adds the server's notes.
func (s *Server) answer(w http.ResponseWriter, status int, members map[string]any) {
	for name, note := range s.Notes {
		members[name] = note
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(members)
}
