package ratelimit

import "sync"

// Budget bounds how much is held at once: by everybody together, and by each key. It is safe for concurrent use.
type Budget struct {
	total, share int

	mutex sync.Mutex
	held  int
	by    map[string]int
}

// NewBudget returns a budget of total, of which one key can have share.
func NewBudget(total, share int) *Budget {
	return &Budget{total: total, share: share, by: map[string]int{}}
}

// Hold takes n for key, and returns what gives it back, once or more often. It returns false when there is no room.
// What is larger than all there is, is let in when nothing else is held.
func (b *Budget) Hold(key string, n int) (release func(), ok bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if !b.fits(key, n) {
		return nil, false
	}
	b.held += n
	b.by[key] += n
	return sync.OnceFunc(func() {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.held -= n
		if b.by[key] -= n; b.by[key] == 0 {
			delete(b.by, key)
		}
	}), true
}

// Room tells that key could take something, however little.
func (b *Budget) Room(key string) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.fits(key, 1)
}

// fits is to be called with mutex held.
func (b *Budget) fits(key string, n int) bool {
	mine := b.by[key]
	return (mine == 0 || mine+n <= b.share) && (b.held == 0 || b.held+n <= b.total)
}
