package projection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/threads/usecase"
)

// Type is what a projection remembers of an aggregate type.
//
// An event of a type without a handler can't become rows, and must not stop the others. So the checkpoint moves past
// it, and in the same transaction the type is remembered as not complete, until a program that has a handler for it has
// taken all of its events from the journal.
type Type struct {
	Name     string
	Complete bool        // every event is in the rows, or the source will bring it
	First    usecase.Key // the first aggregate that was left out; the zero value: none was
}

// Begin tells the projector that a source is about to hand over batches. fromFirst says that it will bring every event
// that there is; otherwise a repair is due for each type that is not known to be complete. A source calls it before its
// first batch, and again after it has failed.
func (p *Projector) Begin(ctx context.Context, fromFirst bool) error {
	known, err := p.store.Types(ctx)
	if err != nil {
		return fmt.Errorf("read what is known of aggregate types: %w", err)
	}
	complete := make(map[string]bool)
	for _, found := range known {
		complete[found.Name] = found.Complete
		if _, registered := p.handlers[found.Name]; !registered && !found.Complete {
			p.meet(nil, found.First)
		}
	}
	var changed []Type
	due := false
	for name := range p.handlers {
		// A source that begins anew although all of its events are in the rows: it may be another one, or one that was restored
		// to an earlier moment.
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
		p.repairDue()
	}
	return nil
}

// meet notes a type without a handler among those of a batch, and tells of it when it is new.
func (p *Projector) meet(types []Type, key usecase.Key) []Type {
	p.mu.Lock()
	first, known := p.unregistered[key.Type]
	if !known {
		first = key
		p.unregistered[key.Type] = key
	}
	p.mu.Unlock()
	if !known && !p.ignored(key.Type) {
		p.logger.Error("there are events of an aggregate type that this program does not know: they are left out, and get into the rows "+
			"when a program runs that knows the type; run one, or name the type in IGNORE_AGGREGATE_TYPES",
			"aggregate_type", key.Type, "first", key.String(), "tenant", key.Tenant.String())
	}
	if slices.ContainsFunc(types, func(t Type) bool { return t.Name == key.Type }) {
		return types
	}
	return append(types, Type{Name: key.Type, First: first})
}

// Unregistered are the first aggregates of the types that have events, but neither a handler nor leave to be ignored.
func (p *Projector) Unregistered() []usecase.Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	keys := slices.Collect(maps.Values(p.unregistered))
	keys = slices.DeleteFunc(keys, func(key usecase.Key) bool { return p.ignored(key.Type) })
	slices.SortFunc(keys, func(a, b usecase.Key) int { return strings.Compare(a.Type, b.Type) })
	return keys
}

// remember stores types outside a batch.
func (p *Projector) remember(ctx context.Context, types []Type) error {
	if len(types) == 0 {
		return nil
	}
	slices.SortFunc(types, func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
	err := p.retry(ctx, func() error {
		return p.store.Change(ctx, func(ctx context.Context, tx Tx) error {
			return tx.Save(ctx, Changes{Types: types, At: p.options.Now()})
		})
	})
	if err != nil {
		return fmt.Errorf("store what is known of aggregate types: %w", err)
	}
	return nil
}

// registered are the types that have a handler, complete or not.
func (p *Projector) registered(complete bool) []Type {
	var types []Type
	for name := range p.handlers {
		types = append(types, Type{Name: name, Complete: complete})
	}
	return types
}
