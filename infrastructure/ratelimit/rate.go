package ratelimit

import (
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// remembered is how many keys a [Rate] knows at once. One that is forgotten has its full allowance again, which costs
// whoever wants that the requests of so many others.
const remembered = 100_000

// Rate allows each key so many requests a second, and as many at once. It is safe for concurrent use.
type Rate struct {
	perSecond int
	mutex     sync.Mutex
	limiters  *lru.Cache[string, *rate.Limiter]
}

// NewRate returns a rate of at least 1 a second.
func NewRate(perSecond int) *Rate {
	limiters, err := lru.New[string, *rate.Limiter](remembered)
	if err != nil {
		panic(fmt.Sprintf("ratelimit: %v", err)) // the size is a constant
	}
	return &Rate{perSecond: max(perSecond, 1), limiters: limiters}
}

// Taken is what a request has left of an allowance.
type Taken struct {
	Limit     int           // requests a second
	Remaining int           // of them, now
	Reset     time.Duration // until there are Limit again
	Wait      time.Duration // 0: the request is allowed; otherwise when to try again
}

// Take takes one request from the allowance of key.
func (r *Rate) Take(key string) Taken {
	limiter, now := r.limiter(key), time.Now()
	allowed := limiter.AllowN(now, 1)
	tokens := max(limiter.TokensAt(now), 0)
	taken := Taken{
		Limit: r.perSecond, Remaining: int(tokens),
		Reset: r.timeFor(float64(r.perSecond) - tokens),
	}
	if !allowed {
		taken.Wait = max(r.timeFor(1-tokens), time.Millisecond)
	}
	return taken
}

func (r *Rate) limiter(key string) *rate.Limiter {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	limiter, known := r.limiters.Get(key)
	if !known {
		limiter = rate.NewLimiter(rate.Limit(r.perSecond), r.perSecond)
		r.limiters.Add(key, limiter)
	}
	return limiter
}

func (r *Rate) timeFor(requests float64) time.Duration {
	return time.Duration(requests / float64(r.perSecond) * float64(time.Second))
}
