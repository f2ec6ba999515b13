package tasks

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
)

// Clients' requests and answers contain people's texts, so parts are stored sealed with the key of the task's creator.
// An export is stored as it is in the journal, where each author's texts are sealed already. Without a keyring, parts
// are stored unsealed.

// seal seals a part of a file with its creator's key.
func (s Store) seal(ctx context.Context, file es.File, number uint64, part []byte) ([]byte, error) {
	if s.Keys == nil || len(part) == 0 {
		return part, nil
	}
	sealed, err := s.Keys.Seal(ctx, file.Tenant, file.Owner, fmt.Sprintf("%s %d", file.Name, number), string(part))
	if errors.Is(err, erasure.ErrErased) {
		err = account.ErrAccountErased
	}
	return []byte(sealed), err
}

// unseal opens a part: as a whole, or the texts in it. A part of an erased creator is [account.ErrAccountErased].
func (s Store) unseal(ctx context.Context, tenant es.Tenant, part []byte) ([]byte, error) {
	if !erasure.IsSealed(string(part)) {
		return s.Keys.OpenJSON(ctx, tenant, part)
	}
	opened, err := s.Keys.OpenOne(ctx, tenant, string(part))
	if err == nil && opened == erasure.Erased {
		err = account.ErrAccountErased
	}
	return []byte(opened), err
}

// input reads a part of the task's input. It fails with errInputGone if the part has expired.
func (r *run) input(ctx context.Context, number uint64) ([]byte, error) {
	stored, exists, err := r.ports.Events.Part(ctx, r.Tenant, inputOf(r.ID), number)
	if err == nil && !exists {
		err = errInputGone
	}
	if err != nil {
		return nil, err
	}
	return r.ports.unseal(ctx, r.Tenant, stored)
}

func (r *run) result() es.File { return resultFile(r.Tenant, r.CreatedBy.String(), r.ID) }

// putResult stores a part of the result.
func (r *run) putResult(ctx context.Context, number uint64, part []byte) error {
	return r.ports.put(ctx, r.result(), number, part)
}

// putSealedResult stores a part of the result that contains texts of the creator.
func (r *run) putSealedResult(ctx context.Context, number uint64, part []byte) error {
	sealed, err := r.ports.seal(ctx, r.result(), number, part)
	if err != nil {
		return err
	}
	return r.putResult(ctx, number, sealed)
}
