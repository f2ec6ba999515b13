package httpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
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

// Check adds a check: failed with an error, whose [PublicReason] is told, otherwise ok.
func (h *Health) Check(name string, err error) {
	h.checks[name] = "ok"
	if err == nil {
		return
	}
	h.checks[name] = "failed"
	if reason := PublicReason(err); reason != "" {
		h.reasons = append(h.reasons, reason)
	}
	h.members["status"] = "not ready"
}

const checkTimeout = 2 * time.Second

// Public returns an error whose text anybody may know; nil without a text.
func Public(reason string) error {
	if reason == "" {
		return nil
	}
	return public(reason)
}

type public string

func (p public) Error() string  { return string(p) }
func (p public) Reason() string { return string(p) }

// PublicReason returns the reason of an error that says what may be told to anybody; otherwise "".
func PublicReason(err error) string {
	var told interface{ Reason() string }
	if errors.As(err, &told) {
		return told.Reason()
	}
	return ""
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
