package graphql

import "sync"

// connections limits the open WebSockets and event streams: in total and per account. It also limits, per address, the
// WebSockets that have not sent connection_init. Its methods return false if the limit is reached, otherwise a function
// that releases the connection, which may be called repeatedly.
type connections struct {
	most              int // open at once
	mostUninitialized int // per address
	mostOfAccount     int // per account

	mu            sync.Mutex
	open          int
	uninitialized map[string]int // by address
	accounts      map[string]int // by account
}

func newConnections(most, mostUninitialized, mostOfAccount int) *connections {
	return &connections{
		most: most, mostUninitialized: mostUninitialized, mostOfAccount: mostOfAccount,
		uninitialized: map[string]int{}, accounts: map[string]int{},
	}
}

// enter counts a connection.
func (c *connections) enter() (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.most {
		return nil, false
	}
	c.open++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
	}), true
}

// enterUninitialized counts a WebSocket that waits for connection_init.
func (c *connections) enterUninitialized(address string) (leave func(), ok bool) {
	return c.enterIn(c.uninitialized, address, c.mostUninitialized)
}

// enterAccount counts a connection of an account; the empty account has no limit of its own.
func (c *connections) enterAccount(account string) (leave func(), ok bool) {
	if account == "" {
		return func() {}, true
	}
	return c.enterIn(c.accounts, account, c.mostOfAccount)
}

func (c *connections) enterIn(counts map[string]int, key string, most int) (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if counts[key] >= most {
		return nil, false
	}
	counts[key]++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if counts[key]--; counts[key] == 0 {
			delete(counts, key)
		}
	}), true
}
