package sqlstore

import (
	"context"
	"errors"

	"example.com/threads/es"
)

// trouble is es.ErrFull or es.ErrDamaged, which a call has met.
type trouble struct{ error }

func (t *trouble) Unwrap() error { return t.error }

// explain is the function explain. It also remembers what [Gateway.Check] returns.
func (g *Gateway) explain(ctx context.Context, err error, format string, args ...any) error {
	err = explain(ctx, err, format, args...)
	switch {
	case errors.Is(err, es.ErrDamaged):
		g.trouble.Store(&trouble{es.ErrDamaged})
	case errors.Is(err, es.ErrFull):
		g.trouble.CompareAndSwap(nil, &trouble{es.ErrFull})
	}
	return err
}

// Check returns es.ErrFull after a call has met a full disk, until something can be written again, and
// es.ErrDamaged after a call has met damaged data, for as long as the gateway lives.
func (g *Gateway) Check(ctx context.Context) error {
	met := g.trouble.Load()
	if met == nil {
		return nil
	}
	if errors.Is(met, es.ErrFull) && g.writer.write(ctx, probe{}) == nil {
		g.trouble.CompareAndSwap(met, nil)
		return nil
	}
	return met
}

// probe is a change that needs as much room as a larger command, and leaves nothing.
type probe struct{ upkeep }

const (
	probeFile  = "disk-probe"
	probeBytes = 64 << 10
)

func (probe) apply(ctx context.Context, in session) error {
	_, err := in.ExecContext(ctx, "INSERT INTO file_parts (tenant_code, file, number, encoding, checksum, content, expires_at) VALUES ('', ?, 0, '', '', ?, 0)",
		probeFile, make([]byte, probeBytes))
	if err == nil {
		_, err = in.ExecContext(ctx, "DELETE FROM file_parts WHERE tenant_code = '' AND file = ? AND number = 0", probeFile)
	}
	return err
}
