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

// Rate allows each key a number of requests per second, and the same number at once. It is safe for concurrent use.
type Rate struct {
	perSecond int
	limiters  *lru.Cache[string, *rate.Limiter]
}

// NewRate returns a rate; nil: perSecond is 0, and any number is allowed.
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

// Taken is the state of an allowance after a request.
type Taken struct {
	Limit     int           // requests a second
	Remaining int           // requests left now
	Reset     time.Duration // time until Remaining is Limit again
	Wait      time.Duration // time until the next request is allowed; 0: this one is
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
	limiter, known := r.limiters.Get(key)
	if !known {
		limiter = rate.NewLimiter(rate.Limit(r.perSecond), r.perSecond)
		if before, exists, _ := r.limiters.PeekOrAdd(key, limiter); exists {
			return before
		}
	}
	return limiter
}

func (r *Rate) timeFor(requests float64) time.Duration {
	return time.Duration(requests / float64(r.perSecond) * float64(time.Second))
}
