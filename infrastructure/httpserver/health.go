package httpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es"
)

// Check is a dependency that a program needs to answer requests.
type Check struct {
	Name string // such as "database"
	Run  func(ctx context.Context) error
}

// Health is the answer of /health/ready.
type Health struct {
	members map[string]any // beside the checks and what follows from them
	checks  map[string]string
	reasons []string
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

// Check adds a check: failed with an error, whose [es.PublicReason] is told, otherwise ok.
func (h *Health) Check(name string, err error) {
	h.checks[name] = "ok"
	if err == nil {
		return
	}
	h.checks[name] = "failed"
	if reason := es.PublicReason(err); reason != "" {
		h.reasons = append(h.reasons, reason)
	}
	h.members["status"] = "not ready"
}

const checkTimeout = 2 * time.Second

// Public is an error whose text anybody may know.
type Public string

func (p Public) Error() string { return string(p) }

// Reason returns the text, for [es.PublicReason].
func (p Public) Reason() string { return string(p) }

// Handler serves the routes with the server's health, the metrics in the registry, and a problem document for requests
// that have no route; hint names the existing paths.
func (s *Server) Handler(routes chi.Router, registry *prometheus.Registry, hint string) http.Handler {
	routes.Get("/health/alive", s.Alive)
	routes.Get("/health/ready", s.Ready)
	routes.Method(http.MethodGet, "/metrics", Metrics(registry))
	return WithProblems(routes, hint)
}

// Alive answers /health/alive: always 200.
func (s *Server) Alive(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, http.StatusOK, map[string]any{"status": "alive"})
}

// Ready answers /health/ready: 200 if every check of the server passes, otherwise 503, with the result of each check.
// Causes are logged; only a public reason is sent.
func (s *Server) Ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	health := &Health{members: map[string]any{"status": "ready"}, checks: map[string]string{}}
	for _, check := range s.Checks {
		err := check.Run(ctx)
		if err != nil {
			s.log.WarnContext(ctx, "not ready", "check", check.Name, "error", err)
		}
		health.Check(check.Name, err)
	}
	if s.Report != nil {
		health.Warn(s.Notes["warning"])
		s.Report(ctx, health)
	}
	status := http.StatusOK
	if health.members["status"] != "ready" {
		status = http.StatusServiceUnavailable
	}
	health.members["checks"] = health.checks
	if len(health.reasons) > 0 {
		health.members["reason"] = strings.Join(health.reasons, "; ")
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
