package thread

import "github.com/oklog/ulid/v2"

// trie is an immutable map keyed by ULID. A changed copy shares all but a few nodes with its original, so that
// changing a state costs the same whatever its size, and the original stays as it is. The zero value is empty.
type trie[V any] struct {
	root *node[V]
	size int
}

// node is a leaf with an entry, or a branch with a child per hexadecimal digit of the key. Keys are read from their
// end, where ULIDs are random: what one thread holds shares its beginning, the time, so that branches would be
// chains.
type node[V any] struct {
	entry    *entry[V]
	children *[16]*node[V]
}

type entry[V any] struct {
	key   ulid.ULID
	value V
}

func digit(key ulid.ULID, depth int) byte {
	pair := key[len(key)-1-depth/2]
	if depth%2 == 0 {
		return pair & 0x0f
	}
	return pair >> 4
}

func (t trie[V]) get(key ulid.ULID) (V, bool) {
	n := t.root
	for depth := 0; n != nil; depth++ {
		if n.entry != nil {
			if n.entry.key == key {
				return n.entry.value, true
			}
			break
		}
		n = n.children[digit(key, depth)]
	}
	var none V
	return none, false
}

func (t trie[V]) with(key ulid.ULID, value V) trie[V] {
	if _, exists := t.get(key); !exists {
		t.size++
	}
	t.root = t.root.with(&entry[V]{key, value}, 0)
	return t
}

func (n *node[V]) with(e *entry[V], depth int) *node[V] {
	n, put := n.roomFor(e, depth)
	if put {
		return n
	}
	return n.replacing(digit(e.key, depth), n.children[digit(e.key, depth)].with(e, depth+1))
}

// roomFor returns a leaf with the entry where it has n's place, and otherwise a branch that it belongs below.
func (n *node[V]) roomFor(e *entry[V], depth int) (room *node[V], put bool) {
	switch {
	case n == nil || n.entry != nil && n.entry.key == e.key:
		return &node[V]{entry: e}, true
	case n.entry != nil: // two keys, one leaf: put a branch above it
		branch := &node[V]{children: &[16]*node[V]{}}
		branch.children[digit(n.entry.key, depth)] = n
		return branch, false
	}
	return n, false
}

// put is with for a trie under construction: it changes the trie instead of copying.
func (t *trie[V]) put(key ulid.ULID, value V) {
	if _, exists := t.get(key); !exists {
		t.size++
	}
	t.root = t.root.put(&entry[V]{key, value}, 0)
}

func (n *node[V]) put(e *entry[V], depth int) *node[V] {
	n, put := n.roomFor(e, depth)
	if !put {
		d := digit(e.key, depth)
		n.children[d] = n.children[d].put(e, depth+1)
	}
	return n
}

func (t trie[V]) without(key ulid.ULID) trie[V] {
	if _, exists := t.get(key); !exists {
		return t
	}
	return trie[V]{root: t.root.without(key, 0), size: t.size - 1}
}

func (n *node[V]) without(key ulid.ULID, depth int) *node[V] {
	if n.entry != nil {
		return nil
	}
	d := digit(key, depth)
	return n.replacing(d, n.children[d].without(key, depth+1)).pruned()
}

// replacing returns a copy of a branch with another child.
func (n *node[V]) replacing(digit byte, child *node[V]) *node[V] {
	children := *n.children
	children[digit] = child
	return &node[V]{children: &children}
}

// pruned puts a lone leaf in its branch's place, so that equal contents have equal shapes.
func (n *node[V]) pruned() *node[V] {
	var only *node[V]
	for _, child := range n.children {
		switch {
		case child == nil:
		case only != nil:
			return n
		default:
			only = child
		}
	}
	if only != nil && only.entry == nil {
		return n
	}
	return only
}

// all calls visit for every entry, in an order that depends on the keys alone.
func (t trie[V]) all(visit func(ulid.ULID, V)) { t.root.all(visit) }

func (n *node[V]) all(visit func(ulid.ULID, V)) {
	switch {
	case n == nil:
	case n.entry != nil:
		visit(n.entry.key, n.entry.value)
	default:
		for _, child := range n.children {
			child.all(visit)
		}
	}
}
