package testenv

import (
	"bytes"
	"sync"
)

// Log is what a program has written, which a test may read meanwhile. The zero value is empty.
type Log struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

// Write implements [io.Writer].
func (l *Log) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(text)
}

// String returns what was written so far.
func (l *Log) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}
