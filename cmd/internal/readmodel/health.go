package readmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.com/threads/infrastructure/httpserver"
)

// Health is the answer of /health/ready of programs that write or read the read model. It includes the read model's lag
// behind the journal.
type Health struct {
	Status        string            `json:"status"` // "ready" or "not ready"
	Checks        map[string]string `json:"checks"` // by name: "ok" or "failed"
	Reason        string            `json:"reason,omitempty"`
	Auth          string            `json:"auth,omitempty"`     // how callers are authenticated
	Warnings      []string          `json:"warnings,omitempty"` // for operators; they do not make the program unready
	BehindSeconds float64           `json:"behind_seconds"`
	BehindRecords int               `json:"behind_records"`
	BehindAtLeast bool              `json:"behind_at_least"` // the values above are lower bounds
}

// NewHealth returns a ready Health with the notes of access control.
func NewHealth(access httpserver.Notes) Health {
	h := Health{Status: "ready", Checks: map[string]string{}, Auth: access["auth"]}
	if warning := access["warning"]; warning != "" {
		h.Warnings = append(h.Warnings, warning)
	}
	return h
}

// Behind sets the lag.
func (h *Health) Behind(behind time.Duration, records int, atLeast bool) {
	h.BehindSeconds, h.BehindRecords, h.BehindAtLeast = behind.Seconds(), records, atLeast
}

// Check adds a check: failed with a reason that may be public, or ok with "".
func (h *Health) Check(name, reason string) {
	h.Checks[name] = "ok"
	if reason == "" {
		return
	}
	h.Checks[name], h.Status = "failed", "not ready"
	h.Reason = strings.TrimPrefix(h.Reason+"; "+reason, "; ")
}

// CatchingUp returns the reason to be unready of a read model that has never caught up with the journal; "" once it
// has.
func (h *Health) CatchingUp(caughtUp bool) string {
	if caughtUp {
		return ""
	}
	more := ""
	if h.BehindAtLeast {
		more = " or more"
	}
	return fmt.Sprintf("the read model has not caught up with the journal since its tables were made: it is %.1f s and %d records%s behind; "+
		"wait while the read-model-updater fills it", h.BehindSeconds, h.BehindRecords, more)
}

// Answer writes body, which contains this health: 200 when ready, otherwise 503.
func (h Health) Answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	if h.Status != "ready" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(body)
}
