package readmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Health is the answer of /health/ready of a program that writes or reads the read model. Its fields say how far the
// read model is behind the journal.
type Health struct {
	Status        string            `json:"status"` // "ready" or "not ready"
	Checks        map[string]string `json:"checks"` // by what is checked: "ok" or "failed"
	Reason        string            `json:"reason,omitempty"`
	Auth          string            `json:"auth,omitempty"`     // how people are known, where any come in
	Warnings      []string          `json:"warnings,omitempty"` // for an operator to look at; they make nobody unready
	BehindSeconds float64           `json:"behind_seconds"`
	BehindRecords int               `json:"behind_records"`
	BehindAtLeast bool              `json:"behind_at_least"` // it may be more
}

// NewHealth is that of a program that is ready, as far as nothing fails.
func NewHealth() Health { return Health{Status: "ready", Checks: map[string]string{}} }

// Behind takes in how far the read model is behind.
func (h *Health) Behind(behind time.Duration, records int, atLeast bool) {
	h.BehindSeconds, h.BehindRecords, h.BehindAtLeast = behind.Seconds(), records, atLeast
}

// Check takes in what a check has come to: a reason that may be told to anybody, or none.
func (h *Health) Check(name, reason string) {
	h.Checks[name] = "ok"
	if reason == "" {
		return
	}
	h.Checks[name], h.Status = "failed", "not ready"
	h.Reason = strings.TrimPrefix(h.Reason+"; "+reason, "; ")
}

// CatchingUp is the reason of a read model that lacks what has been in the journal all along; "" when it has caught up
// once.
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

// Answer writes any body with such a health in it: 200 when it is ready, otherwise 503.
func (h Health) Answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	if h.Status != "ready" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(body)
}
