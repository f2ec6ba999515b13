package httpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// Check is something that a program needs before it can answer.
type Check struct {
	Name string // what is checked, such as "database"
	Run  func(ctx context.Context) error
}

const checkTimeout = 2 * time.Second

// Notes are what else there is to know about a program, by name: members of the answers about its health.
type Notes map[string]string

// Alive answers /health/alive: 200 as long as the program can answer at all.
func Alive(notes Notes) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeHealth(w, http.StatusOK, notes, map[string]any{"status": "alive"})
	})
}

// Ready answers /health/ready: 200 when every check passes, 503 otherwise, with a word for each. Causes are logged, never sent.
func Ready(log *slog.Logger, notes Notes, checks ...Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
		defer cancel()
		status, verdict, results := http.StatusOK, "ready", map[string]string{}
		for _, check := range checks {
			results[check.Name] = "ok"
			if err := check.Run(ctx); err != nil {
				log.WarnContext(r.Context(), "not ready", "check", check.Name, "error", err)
				status, verdict, results[check.Name] = http.StatusServiceUnavailable, "not ready", "failed"
			}
		}
		writeHealth(w, status, notes, map[string]any{"status": verdict, "checks": results})
	})
}

func writeHealth(w http.ResponseWriter, status int, notes Notes, body map[string]any) {
	for name, note := range notes {
		body[name] = note
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
