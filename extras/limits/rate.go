package limits

import (
	"fmt"
	"time"

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
	limiters, err := lru.New[string, *rate.Limiter](remembered)
	if err != nil {
		panic(fmt.Sprintf("limits: %v", err)) // the size is a constant
	}
	return &Rate{perSecond: perSecond, limiters: limiters}
}

// Take takes one request from the allowance of key, and returns the time until one is allowed; 0: this one is.
func (r *Rate) Take(key string) (wait time.Duration) {
	if r == nil {
		return 0
	}
	limiter, now := r.limiter(key), time.Now()
	if limiter.AllowN(now, 1) {
		return 0
	}
	missing := 1 - limiter.TokensAt(now)
	return max(time.Duration(missing/float64(r.perSecond)*float64(time.Second)), time.Millisecond)
}

func (r *Rate) limiter(key string) *rate.Limiter {
	limiter, known := r.limiters.Get(key)
	if !known {
		limiter = rate.NewLimiter(rate.Limit(r.perSecond), r.perSecond)
		if before, exists, _ := r.limiters.PeekOrAdd(key, limiter); exists {
			return before
		}
	}
	return limiter
}
