package database

import (
	"context"
	"errors"

	"example.com/threads/es/internal/sqldialect"
)

// Marks returns n placeholders for a list in a statement.
func Marks(n int) string { return sqldialect.Marks(n) }

// IsDuplicate reports whether a statement failed because a row with its key exists already.
func IsDuplicate(err error) bool { return sqldialect.ClassOf(err) == sqldialect.Duplicate }

// IsTransient reports whether the same statement may succeed a moment later, as after a deadlock, a timeout of the
// database or a lost connection. The end of the caller's context is not transient.
func IsTransient(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	class := sqldialect.ClassOf(err)
	return class == sqldialect.Transient || class == sqldialect.Ended
}
