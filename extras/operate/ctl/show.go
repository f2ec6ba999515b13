package ctl

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/es"
	"example.com/threads/es/journalcheck"
)

// shownHead is a head for people.
type shownHead struct {
	Version         uint64     `json:"version"`
	SnapshotVersion uint64     `json:"snapshot_version"`
	Faults          []es.Fault `json:"faults,omitempty"`
}

type shownSnapshot struct {
	Version uint64 `json:"version"`
	Broken  string `json:"broken,omitempty"`
}

// shownEvent is an entry for people. Of a payload that is no JSON, Unreadable has the text.
type shownEvent struct {
	SeqNr      uint64          `json:"seq_nr"`
	EventID    string          `json:"event_id,omitempty"`
	OccurredAt string          `json:"occurred_at,omitempty"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Unreadable string          `json:"unreadable,omitempty"`
	Sealed     string          `json:"sealed,omitempty"` // why texts in the payload can't be opened
	Faults     []es.Fault      `json:"faults,omitempty"`
}

func eventOf(stored es.StoredEntry) shownEvent {
	shown := shownEvent{SeqNr: stored.SeqNr, EventID: stored.EventID, Faults: stored.Faults}
	if !stored.OccurredAt.IsZero() {
		shown.OccurredAt = stored.OccurredAt.Format(time.RFC3339Nano)
	}
	if json.Valid(stored.Payload) {
		shown.Payload = stored.Payload
	} else {
		shown.Unreadable = string(stored.Payload)
	}
	return shown
}

// show prints one JSON object: the short parts first, then the events one by one.
func (o *operator) show(ctx context.Context, cmd *cli.Command, s *storeStation) error {
	id, err := aggregateOf(cmd)
	if err != nil {
		return err
	}
	head, err := s.store.Gateway.StoredHead(ctx, id)
	if err != nil {
		return err
	}
	var snapshots []shownSnapshot
	for stored, err := range s.store.Gateway.StoredSnapshots(ctx, id) {
		if err != nil {
			return err
		}
		snapshots = append(snapshots, shownSnapshot{stored.Version, stored.Broken})
	}
	events := beginList(o.stdout, "events",
		"tenant", id.Tenant, "aid", id.String(), "head", headOf(head), "snapshots", append([]shownSnapshot{}, snapshots...))
	unseal := func(_ context.Context, _ es.Tenant, payload []byte) ([]byte, error) { return payload, nil }
	if s.store.Unseal != nil {
		if unseal, err = s.store.Unseal(ctx); err != nil {
			return err
		}
	}
	shown, ofCommand := 0, cmd.String(commandFlag.Name)
	for stored, err := range s.checker().Events(ctx, id) {
		if err == nil && ofCommand != "" && !ledTo(stored, ofCommand) {
			continue
		}
		if err == nil {
			event := eventOf(stored)
			if opened, err := unseal(ctx, id.Tenant, event.Payload); err == nil {
				event.Payload = opened
			} else {
				event.Sealed = err.Error()
			}
			err = events.add(event)
		}
		if err != nil {
			return fmt.Errorf("after %d events: %w", shown, err)
		}
		shown++
	}
	if err := events.end(); err != nil {
		return err
	}
	if shown == 0 && !head.Exists && len(snapshots) == 0 {
		return fmt.Errorf("%s: %w", id, journalcheck.ErrUnknown)
	}
	if shown == 0 && ofCommand != "" {
		return fmt.Errorf("%s has no event of the command %s", id, ofCommand)
	}
	return nil
}

// ledTo reports whether a command led to an event. Every event names its command, also without a receipt.
func ledTo(stored es.StoredEntry, command string) bool {
	var event struct {
		CommandID string `json:"command_id"`
	}
	return json.Unmarshal(stored.Payload, &event) == nil && strings.EqualFold(event.CommandID, command)
}

// headOf returns nil if there is no head.
func headOf(stored es.StoredHead) *shownHead {
	if !stored.Exists {
		return nil
	}
	return &shownHead{stored.Version, stored.SnapshotVersion, stored.Faults}
}
