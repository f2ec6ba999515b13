package chat

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/extras/erasure"
)

// ErrErasureOff: a person can't be erased, because texts are not sealed.
var ErrErasureOff = ident.Conflict("erasure_off", "texts are not sealed here, so that nobody can be erased; ask those who run the service for ERASURE=on")

// SealThread seals the names and texts in commands on threads with their executor's key. state returns the thread,
// which may be out of date: the name that it has keeps its seal, so that giving it again is no change, whoever does.
func SealThread(
	keys *erasure.Keyring, state func(context.Context, es.AggregateID) (es.State[thread.Thread], error),
) es.Prepare[thread.Command] {
	return func(ctx context.Context, r *es.Request[thread.Command]) (err error) {
		if keys == nil {
			return nil
		}
		seal := sealer{ctx, keys, r.Caller}
		switch c := r.Command.(type) {
		case thread.Create:
			c.Name, err = seal.name(r.ID, c.Name)
			r.Command = c
		case thread.Rename:
			c.Name, err = seal.newName(r.ID, c.Name, state)
			r.Command = c
		case thread.PostMessage:
			c.Text, err = seal.text(c.Message, c.Text)
			r.Command = c
		case thread.EditMessage:
			c.Text, err = seal.text(c.Message, c.Text)
			r.Command = c
		case thread.Delete, thread.AddMember, thread.RemoveMember, thread.ChangeMemberRole, thread.Withdraw, thread.DeleteMessage:
			return nil // no words
		}
		if err != nil {
			return err
		}
		return DigestContent(ctx, keys, r)
	}
}

// SealAccount seals the names in commands on accounts with the account's key.
func SealAccount(keys *erasure.Keyring) es.Prepare[account.Command] {
	return func(ctx context.Context, r *es.Request[account.Command]) (err error) {
		_, erases := r.Command.(account.Erase)
		switch {
		case keys == nil && erases:
			return ErrErasureOff
		case keys == nil:
			return nil
		}
		seal := sealer{ctx, keys, r.Caller}
		switch c := r.Command.(type) {
		case account.Register:
			c.Name, err = seal.name(r.ID, c.Name)
			r.Command = c
		case account.Rename:
			c.Name, err = seal.name(r.ID, c.Name)
			r.Command = c
		case account.Close, account.Erase:
			return nil // no words
		}
		if err != nil {
			return err
		}
		return DigestContent(ctx, keys, r)
	}
}

// sealer seals what a caller says.
type sealer struct {
	ctx    context.Context //nolint:containedctx // of one request
	keys   *erasure.Keyring
	caller es.Caller
}

func (s sealer) seal(about, words string) (string, error) {
	sealed, err := s.keys.Seal(s.ctx, s.caller.Tenant, s.caller.Executor, about, words)
	return sealed, unlessErased(err)
}

func (s sealer) name(of string, name writing.Name) (writing.Name, error) {
	sealed, err := s.seal(of, name.String())
	return writing.RecordedName(sealed), err
}

func (s sealer) text(of thread.MessageID, text thread.Text) (thread.Text, error) {
	sealed, err := s.seal(of.String(), text.String())
	return thread.RecordedText(sealed), err
}

// newName is a thread's new name: the one that it has, sealed as it is, or another one.
func (s sealer) newName(
	of string, name writing.Name, state func(context.Context, es.AggregateID) (es.State[thread.Thread], error),
) (writing.Name, error) {
	known, err := state(s.ctx, es.AggregateID{Tenant: s.caller.Tenant, Type: thread.AggregateType, ID: of})
	if err != nil {
		return name, err
	}
	before, err := s.keys.OpenOne(s.ctx, s.caller.Tenant, known.Value.Name().String())
	if err == nil && before == name.String() {
		return known.Value.Name(), nil
	}
	return s.name(of, name) // also where the former name can't be read
}

// DigestContent replaces the content that a repeat is recognised by: its hash in a receipt must not tell the words.
// keys is nil where erasure is off.
func DigestContent[C any](ctx context.Context, keys *erasure.Keyring, r *es.Request[C]) error {
	if keys == nil || r.IdempotencyKey == "" {
		return nil
	}
	digest, err := keys.Digest(ctx, r.Caller.Tenant, r.Caller.Executor, r.Content)
	if err != nil {
		return unlessErased(err)
	}
	r.FormerContent, r.Content = r.Content, "digest "+digest
	return nil
}

// unlessErased turns the error of an erased owner into a rejection.
func unlessErased(err error) error {
	if errors.Is(err, erasure.ErrErased) {
		return account.ErrAccountErased
	}
	return err
}

// destroyKey is the name of the command that destroys a person's key; it is for the key store, not for an aggregate.
const destroyKey = "account.DestroyKey"

// destruction has the key of an erased account destroyed.
func destruction(of AccountRow, by es.Envelope) process.Command {
	return process.Command{
		Target: by.Aggregate(), Name: destroyKey, EventID: by.EventID,
		Executor: of.ID.String(), CausationID: by.EventID, CorrelationID: by.CorrelationID,
	}
}

// SendForClosed sends the commands of [LeaveOnClose]: it destroys keys by destroy, and passes withdrawals on.
func SendForClosed(withdraw process.Send, destroy func(ctx context.Context, tenant es.Tenant, owner string) error) process.Send {
	return func(ctx context.Context, caller es.Caller, idempotencyKey string, c process.Command) error {
		if c.Name != destroyKey {
			return withdraw(ctx, caller, idempotencyKey, c)
		}
		if err := destroy(ctx, c.Target.Tenant, c.Target.ID); err != nil {
			return fmt.Errorf("destroy the key of %s: %w", c.Target, err)
		}
		return nil
	}
}
