package limits

import "sync"

// Budget limits how much is held at once, in total and by each key. It is safe for concurrent use. A nil *Budget has no
// limit.
type Budget struct {
	total, share int

	mutex sync.Mutex
	held  int
	by    map[string]int
}

// NewBudget returns a budget of total, of which one key can hold share.
func NewBudget(total, share int) *Budget {
	return &Budget{total: total, share: share, by: map[string]int{}}
}

// Hold reserves n for key and returns a function that releases it, which may be called repeatedly. It returns false if
// there is no room. An n above the total is admitted while nothing else is held.
func (b *Budget) Hold(key string, n int) (release func(), ok bool) {
	if b == nil {
		return func() {}, true
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if mine := b.by[key]; mine > 0 && mine+n > b.share || b.held > 0 && b.held+n > b.total {
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
