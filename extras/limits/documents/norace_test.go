// extra:chat

//go:build !race

package documents

// slower is how much longer the same work may take with the race detector.
const slower = 1
