package graphql

import "sync"

// connections bounds what clients hold open: WebSockets and event streams, and among them the WebSockets of each address
// that have not said yet who they are. Each of its methods returns false when there is no room, and otherwise what gives the
// room back, once or more often.
type connections struct {
	most              int // open at once
	mostUninitialized int // of one address at once

	mu            sync.Mutex
	open          int
	uninitialized map[string]int // by address
}

func newConnections(most, mostUninitialized int) *connections {
	return &connections{most: most, mostUninitialized: mostUninitialized, uninitialized: map[string]int{}}
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uninitialized[address] >= c.mostUninitialized {
		return nil, false
	}
	c.uninitialized[address]++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.uninitialized[address]--; c.uninitialized[address] == 0 {
			delete(c.uninitialized, address)
		}
	}), true
}
