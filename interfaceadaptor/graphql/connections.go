package graphql

import "sync"

// connections bounds what clients hold open: WebSockets and event streams, among them the WebSockets of each address
// that have not said yet who they are, and those of each account. Each of its methods returns false when there is no
// room, and otherwise what gives the room back, once or more often.
type connections struct {
	most              int // open at once
	mostUninitialized int // of one address at once
	mostOfAccount     int // of one account at once

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

// enter takes the room of a connection.
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

// enterUninitialized takes the room of a WebSocket that waits for connection_init.
func (c *connections) enterUninitialized(address string) (leave func(), ok bool) {
	return c.enterIn(c.uninitialized, address, c.mostUninitialized)
}

// enterAccount takes the room of a connection of an account; the empty one, which is anybody, has all the room there
// is.
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
