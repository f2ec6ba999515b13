// Package once prevents the same log text from being repeated at every check.
package once

import "sync"

// most limits the remembered texts; beyond it they are forgotten and may be logged again.
const most = 1000

// Set remembers texts. The zero value is empty. It may be used concurrently.
type Set struct {
	mutex sync.Mutex
	said  map[string]bool
}

// First reports whether text is new.
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
