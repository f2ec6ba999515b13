package httpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// Check is a dependency that a program needs to answer requests.
type Check struct {
	Name string // such as "database"
	Run  func(ctx context.Context) error
}

const checkTimeout = 2 * time.Second

// Alive answers /health/alive: always 200.
func (s *Server) Alive(w http.ResponseWriter, _ *http.Request) {
	s.writeHealth(w, http.StatusOK, map[string]any{"status": "alive"})
}

// PublicReason returns the reason of an error that says what may be told to anybody; otherwise "".
func PublicReason(err error) string {
	var told interface{ Reason() string }
	if errors.As(err, &told) {
		return told.Reason()
	}
	return ""
}

// Ready answers /health/ready: 200 if every check of the server passes, otherwise 503, with the result of each check.
// Causes are logged; only a public reason is sent.
func (s *Server) Ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	status, results := http.StatusOK, map[string]string{}
	body := map[string]any{"status": "ready", "checks": results}
	for _, check := range s.Checks {
		results[check.Name] = "ok"
		if err := check.Run(ctx); err != nil {
			s.log.WarnContext(r.Context(), "not ready", "check", check.Name, "error", err)
			status, body["status"], results[check.Name] = http.StatusServiceUnavailable, "not ready", "failed"
			if reason := PublicReason(err); reason != "" {
				body["reason"] = reason
			}
		}
	}
	s.writeHealth(w, status, body)
}

func (s *Server) writeHealth(w http.ResponseWriter, status int, body map[string]any) {
	for name, note := range s.Notes {
		body[name] = note
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
