package repository

import (
	"encoding/json"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase/command"
)

// answer is the JSON of a result in a receipt.
type answer struct {
	Thread  string `json:"thread_id"`
	Version uint64 `json:"version"`
	Member  string `json:"member_id,omitempty"`
	Message string `json:"message_id,omitempty"`
}

func storedReceipt(receipt command.Receipt) (eventstore.Receipt, error) {
	result := receipt.Result
	text, err := json.Marshal(answer{result.Thread.String(), result.Version, result.Member.String(), result.Message.String()})
	return eventstore.Receipt{
		CommandID:   receipt.CommandID,
		Fingerprint: receipt.Fingerprint,
		Answer:      text,
		ExpiresAt:   receipt.ExpiresAt,
	}, err
}

func commandReceipt(stored eventstore.Receipt) (command.Receipt, error) {
	fail := func(err error) (command.Receipt, error) {
		// Not wrapped: that a stored id is invalid is no fault of the one who asks now.
		return command.Receipt{}, fmt.Errorf("the receipt of command %s can't be read: %v", stored.CommandID, err) //nolint:errorlint // see above
	}
	var a answer
	if err := json.Unmarshal(stored.Answer, &a); err != nil {
		return fail(err)
	}
	result := command.Result{Version: a.Version}
	var err error
	if result.Thread, err = ident.Parse[thread.Thread](a.Thread); err != nil {
		return fail(err)
	}
	if a.Member != "" {
		if result.Member, err = ident.Parse[thread.Member](a.Member); err != nil {
			return fail(err)
		}
	}
	if a.Message != "" {
		if result.Message, err = ident.Parse[thread.Message](a.Message); err != nil {
			return fail(err)
		}
	}
	return command.Receipt{
		CommandID:   stored.CommandID,
		Fingerprint: stored.Fingerprint,
		Result:      result,
		ExpiresAt:   stored.ExpiresAt,
	}, nil
}
