// extra:page

package main

import (
	"context"
	"errors"
	"log/slog"
	"syscall"

	"example.com/threads/extras/page"
)

// listenPage takes the page's address, or any other if the usual one is taken: the banner shows it.
func (y *servers) listenPage(ctx context.Context, s page.Settings, log *slog.Logger) (err error) {
	y.web, err = page.Listen(ctx, s, y.access, y.labPage, log)
	if errors.Is(err, syscall.EADDRINUSE) && s.Address == page.UsualAddress {
		s.Address = "localhost:0"
		y.web, err = page.Listen(ctx, s, y.access, y.labPage, log)
	}
	return err
}
