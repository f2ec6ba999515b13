package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"text/template"
	"time"

	"example.com/threads/cmd/read-model-updater/projections"
	"example.com/threads/es"
	"example.com/threads/es/rowstore"
)

//go:embed banner.txt
var bannerText string

// banner is printed at the start. Its curl commands work as printed; with AUTH=oidc they need a token.
var banner = template.Must(template.New("banner").Parse(bannerText))

const (
	firstProgress = 100 * time.Millisecond // nothing is shown if catching up takes less
	progressEvery = time.Second
)

// tellProgress shows how the read model catches up at the start, if that takes a while, and every rebuild.
func tellProgress(ctx context.Context, updater *projections.Server, stdout io.Writer) error {
	catchingUp, behind := true, false
	for wait := firstProgress; es.Wait(ctx, wait) == nil; wait = progressEvery {
		lag, known := updater.Lag(ctx)
		var rebuild rowstore.RebuildState
		if _, store, err := updater.Opened(); err == nil {
			rebuild, _ = store.RebuildState(ctx) // health tells an error
		}
		switch {
		case !rebuild.Over() && !rebuild.Interrupted && rebuild.Failure == "":
			behind = true
			_, _ = fmt.Fprintf(stdout, "The read model is being rebuilt: %d of %d events.\n", rebuild.Done, rebuild.Total)
		case catchingUp && known && lag.Records > 0:
			behind = true
			_, _ = fmt.Fprintf(stdout, "The read model is being brought up to date: %d events to go.\n", lag.Records)
		case known && !lag.AtLeast:
			if behind {
				_, _ = fmt.Fprintln(stdout, "The read model is up to date.")
			}
			catchingUp, behind = false, false
		}
	}
	return nil
}
