package thread

import (
	"slices"

	"github.com/oklog/ulid/v2"
)

// trie is an immutable map keyed by ULID. A changed copy shares all but a few nodes with its original, so that
// changing a state costs the same whatever its size, and the original stays as it is. The zero value is empty.
type trie[V any] struct {
	root *node[V]
	size int
}

// node is a leaf with up to [leafSize] entries, or a branch with a child for each value of the key's next two bits.
// Keys are read from their end, where ULIDs are random: what one thread holds shares its beginning, the time, so that
// branches would be chains. Equal contents have equal nodes, however they came about.
type node[V any] struct {
	entries  []entry[V] // of a leaf, in the order of their keys
	children *[fanout]*node[V]
}

type entry[V any] struct {
	key   ulid.ULID
	value V
}

const (
	fanout = 4
	// leafSize is a compromise: a change copies a leaf, but a node for each entry would take three times the memory.
	leafSize = 32
)

// digit returns the key's two bits at a depth.
func digit(key ulid.ULID, depth int) byte {
	return key[len(key)-1-depth/4] >> (depth % 4 * 2) % fanout
}

func byKey[V any](a, b entry[V]) int { return a.key.Compare(b.key) }

// trieOf returns a trie with the entries, which it keeps. Of entries with the same key it takes one.
func trieOf[V any](entries []entry[V]) trie[V] {
	slices.SortFunc(entries, byKey)
	entries = slices.CompactFunc(entries, func(a, b entry[V]) bool { return a.key == b.key })
	return trie[V]{root: nodeOf(entries, 0), size: len(entries)}
}

// nodeOf returns a node with the entries, which are in the order of their keys; nil if there are none.
func nodeOf[V any](entries []entry[V], depth int) *node[V] {
	switch {
	case len(entries) == 0:
		return nil
	case len(entries) <= leafSize:
		return &node[V]{entries: entries}
	}
	var counts [fanout]int
	for i := range entries {
		counts[digit(entries[i].key, depth)]++
	}
	var parts [fanout][]entry[V]
	for d, count := range counts {
		parts[d] = make([]entry[V], 0, count)
	}
	for _, e := range entries {
		d := digit(e.key, depth)
		parts[d] = append(parts[d], e)
	}
	branch := &node[V]{children: &[fanout]*node[V]{}}
	for d, part := range parts {
		branch.children[d] = nodeOf(part, depth+1)
	}
	return branch
}

func (t trie[V]) get(key ulid.ULID) (value V, found bool) {
	n := t.root
	for depth := 0; n != nil && n.children != nil; depth++ {
		n = n.children[digit(key, depth)]
	}
	if n != nil {
		if i, exists := n.find(key); exists {
			return n.entries[i].value, true
		}
	}
	return value, false
}

// find returns the place of a key among a leaf's entries.
func (n *node[V]) find(key ulid.ULID) (int, bool) {
	return slices.BinarySearchFunc(n.entries, key, func(e entry[V], key ulid.ULID) int { return e.key.Compare(key) })
}

func (t trie[V]) with(key ulid.ULID, value V) trie[V] {
	if _, exists := t.get(key); !exists {
		t.size++
	}
	t.root = t.root.with(entry[V]{key, value}, 0)
	return t
}

func (n *node[V]) with(e entry[V], depth int) *node[V] {
	switch {
	case n == nil:
		return &node[V]{entries: []entry[V]{e}}
	case n.children != nil:
		d := digit(e.key, depth)
		return n.replacing(d, n.children[d].with(e, depth+1))
	}
	i, exists := n.find(e.key)
	before, after := n.entries[:i], n.entries[i:]
	if exists {
		after = after[1:]
	}
	return nodeOf(slices.Concat(before, []entry[V]{e}, after), depth)
}

func (t trie[V]) without(key ulid.ULID) trie[V] {
	if _, exists := t.get(key); !exists {
		return t
	}
	return trie[V]{root: t.root.without(key, 0), size: t.size - 1}
}

func (n *node[V]) without(key ulid.ULID, depth int) *node[V] {
	if n.children != nil {
		d := digit(key, depth)
		return n.replacing(d, n.children[d].without(key, depth+1)).pruned(depth)
	}
	i, _ := n.find(key)
	return nodeOf(slices.Concat(n.entries[:i], n.entries[i+1:]), depth)
}

// replacing returns a copy of a branch with another child in a place.
func (n *node[V]) replacing(place byte, child *node[V]) *node[V] {
	children := *n.children
	children[place] = child
	return &node[V]{children: &children}
}

// pruned returns a leaf instead of a branch whose entries fit in one.
func (n *node[V]) pruned(depth int) *node[V] {
	var left []entry[V]
	for _, child := range n.children {
		switch {
		case child == nil:
		case child.children != nil || len(left)+len(child.entries) > leafSize:
			return n
		default:
			left = append(left, child.entries...)
		}
	}
	slices.SortFunc(left, byKey)
	return nodeOf(left, depth)
}

// all calls visit for every entry, in an order that depends on the keys alone.
func (t trie[V]) all(visit func(ulid.ULID, V)) { t.root.all(visit) }

func (n *node[V]) all(visit func(ulid.ULID, V)) {
	switch {
	case n == nil:
	case n.children != nil:
		for _, child := range n.children {
			child.all(visit)
		}
	default:
		for _, e := range n.entries {
			visit(e.key, e.value)
		}
	}
}
