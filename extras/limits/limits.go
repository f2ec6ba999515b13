// Package limits limits what each key may use, in requests per second ([Rate]) and in what is held at once ([Budget]),
// and what the clients of a server may hold open ([Connections]). extras/access uses it.
package limits

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// remembered is how many keys a [Rate] keeps. A forgotten key has its full allowance again; to force that, an attacker
// must send requests with as many other keys.
const remembered = 100_000

// Rate allows each key a number of requests per second, and the same number at once. It is safe for concurrent use. A
// nil *Rate has no limit.
type Rate struct {
	perSecond int
	limiters  *lru.Cache[string, *rate.Limiter]
}

// NewRate returns a rate; nil: perSecond is 0.
func NewRate(perSecond int) *Rate {
	if perSecond == 0 {
		return nil
	}
	limiters, _ := lru.New[string, *rate.Limiter](remembered) // fails only for a size below 1
	return &Rate{perSecond: perSecond, limiters: limiters}
}

// Take reports whether a request of the key is allowed now, and counts it if so. Otherwise, one is allowed within a
// second.
func (r *Rate) Take(key string) bool {
	if r == nil {
		return true
	}
	limiter, known := r.limiters.Get(key)
	if !known {
		limiter = rate.NewLimiter(rate.Limit(r.perSecond), r.perSecond)
		if before, exists, _ := r.limiters.PeekOrAdd(key, limiter); exists {
			limiter = before
		}
	}
	return limiter.Allow()
}

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
