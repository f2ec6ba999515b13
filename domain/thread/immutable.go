package thread

import (
	"hash/maphash"
	"iter"

	"github.com/benbjohnson/immutable"
)

// immutableMap is a map whose changed copy shares all but a few nodes with the original. So an event costs about the
// same at any size, and the state before it stays as it was. The zero value is empty.
type immutableMap[K comparable, V any] struct{ entries *immutable.Map[K, V] }

// hasher hashes with a secret seed, because clients choose the ids of user accounts.
type hasher[K comparable] struct{ seed maphash.Seed }

func (h hasher[K]) Hash(key K) uint32 { return uint32(maphash.Comparable(h.seed, key)) }
func (hasher[K]) Equal(a, b K) bool   { return a == b }

// mapOf returns a map with the values, each under its key.
func mapOf[K comparable, V any](values []V, key func(V) K) immutableMap[K, V] {
	builder := immutable.NewMapBuilder[K, V](hasher[K]{maphash.MakeSeed()})
	for _, value := range values {
		builder.Set(key(value), value)
	}
	return immutableMap[K, V]{builder.Map()}
}

func (m immutableMap[K, V]) all() *immutable.Map[K, V] {
	if m.entries == nil {
		return immutable.NewMap[K, V](hasher[K]{maphash.MakeSeed()})
	}
	return m.entries
}

func (m immutableMap[K, V]) get(key K) (value V, exists bool) { return m.all().Get(key) }

func (m immutableMap[K, V]) with(key K, value V) immutableMap[K, V] {
	return immutableMap[K, V]{m.all().Set(key, value)}
}

func (m immutableMap[K, V]) without(key K) immutableMap[K, V] {
	return immutableMap[K, V]{m.all().Delete(key)}
}

// values yields all values, in no order.
func (m immutableMap[K, V]) values() iter.Seq[V] {
	return func(yield func(V) bool) {
		for all := m.all().Iterator(); !all.Done(); {
			if _, value, _ := all.Next(); !yield(value) {
				return
			}
		}
	}
}
