package projection

import "errors"

// What a [ReadModel] says about a failure. Compare with [errors.Is].
var (
	// ErrTransient says that the same may succeed a moment later: a deadlock, a lost connection, a row that another
	// transaction made first.
	ErrTransient = errors.New("the read model did not take the change this time")
	// ErrRefused says that the database does not take the data, and would not the next time either.
	ErrRefused = errors.New("the read model does not take the data")
)

// errMovedBack is for rows that went behind what they had reached, which nothing but a rebuild of the tables does.
var errMovedBack = errors.New("the read model went back while a gap was filled; the batch has to be projected again")
