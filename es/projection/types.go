package projection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/threads/es"
)

// Type is what a projection stores about an aggregate type. An event of a type without a handler must not stop the
// others. So the checkpoint moves past it, and the same transaction stores the type as incomplete. It stays incomplete
// until a program with a handler has read all its events from the journal.
type Type struct {
	Name     string `db:"aggregate_type"`
	Complete bool   `db:"complete"` // every event is in the rows, or the source will deliver it
	// The first aggregate that was skipped; empty: none.
	FirstTenant es.Tenant `db:"first_tenant_code"`
	FirstID     string    `db:"first_id"`
}

// Begin must be called by a source before its first batch, and again after it has failed. fromFirst: the source will
// deliver every event from the first on; otherwise a repair becomes due for each type that is not stored as complete.
func (p *Projector) Begin(ctx context.Context, fromFirst bool) error {
	known, err := p.store.Types(ctx)
	if err != nil {
		return fmt.Errorf("read the stored aggregate types: %w", err)
	}
	complete := make(map[string]bool)
	for _, found := range known {
		complete[found.Name] = found.Complete
		if _, registered := p.handlers[found.Name]; !registered && !found.Complete && found.FirstID != "" {
			first := es.AggregateID{Tenant: found.FirstTenant, Type: found.Name, ID: found.FirstID}
			if first, remains := p.remaining(ctx, first); remains {
				p.meet(nil, first)
			}
		}
	}
	var changed []Type
	due := false
	for name := range p.handlers {
		// A source that starts from its first event although the rows have all may be another, or a restored one.
		due = due || complete[name] && fromFirst
		if !complete[name] {
			changed = append(changed, Type{Name: name, Complete: fromFirst})
			due = due || !fromFirst
		}
	}
	if err := p.remember(ctx, changed); err != nil {
		return err
	}
	if due {
		p.markDue()
	}
	return nil
}

// meet adds a type without a handler to types, and logs an error the first time.
func (p *Projector) meet(types []Type, key es.AggregateID) []Type {
	first, known := key, slices.Contains(p.options.Ignore, key.Type)
	if !known {
		p.mu.Lock()
		if first, known = p.unregistered[key.Type]; !known {
			first, p.unregistered[key.Type] = key, key
		}
		p.met.Add(1)
		p.mu.Unlock()
	}
	if !known {
		p.logger.Error("events of an unknown aggregate type are skipped; they are projected once a program runs that knows the type: "+
			"run one, or let this one ignore the type",
			"aggregate_type", key.Type, "first", key.String(), "tenant", key.Tenant.String())
	}
	if slices.ContainsFunc(types, func(t Type) bool { return t.Name == key.Type }) {
		return types
	}
	return append(types, Type{Name: key.Type, FirstTenant: first.Tenant, FirstID: first.ID})
}

// forgetTypes stops reporting types whose events are gone from the journal. They stay incomplete: some may come again.
func (p *Projector) forgetTypes(ctx context.Context) {
	for _, first := range p.Unregistered() {
		met := p.met.Load()
		other, remains := p.remaining(ctx, first)
		p.mu.Lock()
		switch {
		case p.met.Load() != met: // an event came meanwhile: the next look decides
		case remains:
			p.unregistered[first.Type] = other
		default:
			delete(p.unregistered, first.Type)
		}
		p.mu.Unlock()
	}
}

// remaining returns an aggregate of the key's type that is in the journal, or may be: the key's own first.
func (p *Projector) remaining(ctx context.Context, key es.AggregateID) (es.AggregateID, bool) {
	if gone, err := p.Ahead(ctx, AtVersion{Key: key, Version: 1}); err != nil || !gone {
		return key, true
	}
	for other, err := range p.headsOf(ctx, key.Type) {
		if err != nil {
			return key, true
		}
		return other.Key, true
	}
	return key, false
}

// Unregistered returns the first aggregate of each type that has events but no handler and is not ignored.
func (p *Projector) Unregistered() []es.AggregateID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(maps.Values(p.unregistered), func(a, b es.AggregateID) int { return strings.Compare(a.Type, b.Type) })
}

// remember stores types outside of a batch.
func (p *Projector) remember(ctx context.Context, types []Type) error {
	if len(types) == 0 {
		return nil
	}
	err := p.retry(ctx, func() error {
		return p.store.Change(ctx, func(ctx context.Context, tx Tx) error {
			return tx.Save(ctx, Changes{Types: types, At: p.options.Now()})
		})
	})
	if err != nil {
		return fmt.Errorf("store the aggregate types: %w", err)
	}
	return nil
}

// registered returns the types that have a handler, with the given completeness.
func (p *Projector) registered(complete bool) []Type {
	var types []Type
	for name := range p.handlers {
		types = append(types, Type{Name: name, Complete: complete})
	}
	return types
}
