package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

// explain adds what failed, and classifies the error: a result (ErrConflict, *HandledError, *InconsistentError), the
// caller has disconnected (context.Canceled), the store did not answer (es.ErrUnavailable), its disk is full or
// its data damaged (es.ErrFull, ErrDamaged), or a fault.
func explain(ctx context.Context, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	doing := fmt.Sprintf(format, args...)
	var handled *es.HandledError
	class := sqldialect.ClassOf(err)
	switch ended := ctx.Err(); {
	case errors.Is(err, es.ErrConflict), errors.Is(err, es.ErrInconsistent), errors.As(err, &handled):
		return fmt.Errorf("%s: %w", doing, err)
	case class == sqldialect.Full:
		return fmt.Errorf("%s: %w: %w", doing, es.ErrFull, err)
	case class == sqldialect.Damaged:
		return fmt.Errorf("%s: %w: %w", doing, es.ErrDamaged, err)
	case errors.Is(ended, context.Canceled):
		return fmt.Errorf("%s: %w", doing, ended)
	case ended != nil, class == sqldialect.Transient, class == sqldialect.Ended:
		return fmt.Errorf("%s: %w: %w", doing, es.ErrUnavailable, err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}
