package repository

import (
	"context"
	"encoding/json"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/es/command"
	"example.com/threads/es/eventstore"
)

// Receipt returns the receipt of a command id.
func (r *Repository[S, E]) Receipt(ctx context.Context, tenant es.Tenant, commandID string) (command.Receipt, bool, error) {
	stored, found, err := r.gateway.Receipt(ctx, tenant.String(), commandID)
	if err != nil || !found {
		return command.Receipt{}, false, err
	}
	receipt, err := r.commandReceipt(tenant, stored)
	return receipt, err == nil, err
}

// The answer in a receipt is a JSON object: the aggregate's id in the field <type>_id, the version, and Result.About.
const answerVersion = "version"

func (r *Repository[S, E]) answerID() string { return r.codec.Type() + "_id" }

func (r *Repository[S, E]) storedReceipt(receipt command.Receipt) (eventstore.Receipt, error) {
	answer := map[string]any{r.answerID(): receipt.Result.Key.ID, answerVersion: receipt.Result.Version}
	for name, value := range receipt.Result.About {
		answer[name] = value
	}
	text, err := json.Marshal(answer)
	return eventstore.Receipt{
		CommandID:   receipt.CommandID,
		Fingerprint: receipt.Fingerprint,
		Answer:      text,
		ExpiresAt:   receipt.ExpiresAt,
	}, err
}

func (r *Repository[S, E]) commandReceipt(tenant es.Tenant, stored eventstore.Receipt) (command.Receipt, error) {
	var version struct {
		Version uint64 `json:"version"`
	}
	var rest map[string]any
	err := json.Unmarshal(stored.Answer, &version)
	if err == nil {
		err = json.Unmarshal(stored.Answer, &rest)
	}
	about := map[string]string{}
	for name, value := range rest {
		if text, isText := value.(string); isText {
			about[name] = text
		}
	}
	id := about[r.answerID()]
	delete(about, r.answerID())
	if err != nil || id == "" || version.Version == 0 {
		return command.Receipt{}, fmt.Errorf("the receipt of command %s can't be read: %q: %v", stored.CommandID, stored.Answer, err) //nolint:errorlint // not an error of the current caller
	}
	return command.Receipt{
		CommandID:   stored.CommandID,
		Fingerprint: stored.Fingerprint,
		Result: command.Result{
			Key:     es.Key{Tenant: tenant, Type: r.codec.Type(), ID: id},
			Version: version.Version,
			About:   about,
		},
		ExpiresAt: stored.ExpiresAt,
	}, nil
}
