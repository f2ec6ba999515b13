package readmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Health is the answer of /health/ready of programs that write or read the read model. It includes the read model's lag
// behind the journal.
type Health struct {
	Status        string            `json:"status"` // "ready" or "not ready"
	Checks        map[string]string `json:"checks"` // by name: "ok" or "failed"
	Reason        string            `json:"reason,omitempty"`
	Warnings      []string          `json:"warnings,omitempty"` // for operators; they do not make the program unready
	BehindSeconds float64           `json:"behind_seconds"`
	BehindRecords int               `json:"behind_records"`
	BehindAtLeast bool              `json:"behind_at_least"` // the values above are lower bounds

	notes map[string]string
}

// NewHealth returns a ready Health with the notes of a server.
func NewHealth(notes map[string]string) Health {
	h := Health{Status: "ready", Checks: map[string]string{}, notes: notes}
	if warning := notes["warning"]; warning != "" {
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

// Answer writes body, which contains this health, with the notes: 200 when ready, otherwise 503.
func (h Health) Answer(w http.ResponseWriter, body any) {
	said := map[string]any{}
	for name, note := range h.notes {
		said[name] = note
	}
	delete(said, "warning") // it is among the warnings
	encoded, err := json.Marshal(body)
	if err = errors.Join(err, json.Unmarshal(encoded, &said)); err != nil {
		panic(fmt.Sprintf("readmodel: %v", err)) // it is an object of this program
	}
	w.Header().Set("Content-Type", "application/json")
	if h.Status != "ready" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(said)
}
