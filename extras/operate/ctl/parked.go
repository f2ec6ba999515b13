package ctl

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/es/projection"
	"example.com/threads/extras/operate"
)

func textOfLetter(l operate.Letter) string {
	return fmt.Sprintf("%s is parked on event %d in the projection %s since %s\n  reason    %s\n  attempts  %d, the next at %s\n",
		whose(l.Tenant, l.AID), l.SeqNr, l.Projection, l.ParkedAt.Format(time.RFC3339), l.Reason, l.Attempts, l.RetryAt.Format(time.RFC3339))
}

func (o *operator) showParked(ctx context.Context, cmd *cli.Command, db readModel, letter projection.DeadLetter) error {
	payload := letter.Payload
	if len(payload) == 0 {
		var err error
		if payload, err = payloadOf(ctx, db, letter); err != nil {
			return err
		}
	}
	shown := operate.LetterOf(cmd.String("projection"), letter)
	if shown.Event = string(payload); json.Valid(payload) {
		shown.Event = json.RawMessage(payload)
	}
	event, _ := indent("  ", shown.Event) // JSON or text always encodes
	return o.print(cmd, shown, textOfLetter(shown)+fmt.Sprintf("  event     %s\n", event))
}

// payloadOf returns the event as stored in the journal.
func payloadOf(ctx context.Context, db readModel, letter projection.DeadLetter) ([]byte, error) {
	s, err := openStore(ctx, db.settings.Settings, db.log)
	if err != nil {
		return nil, err
	}
	defer s.close(ctx)
	for entry, err := range s.store.Gateway.Entries(ctx, letter.Key, letter.SeqNr-1, letter.SeqNr) {
		if err != nil {
			return fmt.Appendf(nil, "it can't be read from the journal: %v", err), nil
		}
		return entry.Payload, nil
	}
	return []byte("it is not in the journal"), nil
}
