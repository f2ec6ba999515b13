package tasks

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
)

// Clients' requests and answers contain people's texts, so parts are stored sealed with the key of the task's creator.
// An export is stored as it is in the journal, where each author's texts are sealed already. Without a keyring, parts
// are stored unsealed.

// seal seals a part of a file with its creator's key.
func seal(
	ctx context.Context, keys *erasure.Keyring, tenant es.Tenant, creator ident.UserID, file string, number uint64, part []byte,
) ([]byte, error) {
	if keys == nil || len(part) == 0 {
		return part, nil
	}
	sealed, err := keys.Seal(ctx, tenant, creator.String(), fmt.Sprintf("%s %d", file, number), string(part))
	if errors.Is(err, erasure.ErrErased) {
		err = account.ErrAccountErased
	}
	return []byte(sealed), err
}

// unseal opens a part: as a whole, or the texts in it. A part of an erased creator is [account.ErrAccountErased].
func unseal(ctx context.Context, keys *erasure.Keyring, tenant es.Tenant, part []byte) ([]byte, error) {
	if !erasure.IsSealed(string(part)) {
		return keys.OpenJSON(ctx, tenant, part)
	}
	opened, err := keys.OpenOne(ctx, tenant, string(part))
	if err == nil && opened == erasure.Erased {
		err = account.ErrAccountErased
	}
	return []byte(opened), err
}

// input reads a part of the task's input. It fails with errInputGone if the part has expired.
func (r *run) input(ctx context.Context, number uint64) ([]byte, error) {
	stored, exists, err := r.ports.Files.Part(ctx, inputFile(r.Tenant, r.CreatedBy, r.ID), number)
	if err == nil && !exists {
		err = errInputGone
	}
	if err != nil {
		return nil, err
	}
	return unseal(ctx, r.ports.Keys, r.Tenant, stored)
}

// putResult stores a part of the result.
func (r *run) putResult(ctx context.Context, number uint64, part []byte) error {
	return r.ports.Files.PutParts(ctx, resultFile(r.Tenant, r.CreatedBy, r.ID), number, part)
}

// putSealedResult stores a part of the result that contains texts of the creator.
func (r *run) putSealedResult(ctx context.Context, number uint64, part []byte) error {
	sealed, err := seal(ctx, r.ports.Keys, r.Tenant, r.CreatedBy, resultOf(r.ID), number, part)
	if err != nil {
		return err
	}
	return r.putResult(ctx, number, sealed)
}
