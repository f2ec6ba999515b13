// Package once keeps a log from saying the same again each time that somebody looks.
package once

import "sync"

// most bounds what is remembered; beyond it everything is said once more.
const most = 1000

// Set remembers what has been said. The zero value is empty; it may be used concurrently.
type Set struct {
	mutex sync.Mutex
	said  map[string]bool
}

// First tells whether text is new.
func (s *Set) First(text string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.said[text] {
		return false
	}
	if s.said == nil || len(s.said) >= most {
		s.said = map[string]bool{}
	}
	s.said[text] = true
	return true
}
