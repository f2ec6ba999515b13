package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"example.com/threads/cmd/read-model-updater/projections"
	"example.com/threads/es"
	"example.com/threads/es/rowstore"
	esrun "example.com/threads/es/run"
)

//go:embed banner.txt
var bannerText string

// banner is printed at the start. Its curl commands work as printed; with AUTH=oidc they need a token.
var banner = template.Must(template.New("banner").Parse(bannerText))

func greet(stdout io.Writer, shown map[string]any) error { return banner.Execute(stdout, shown) }

const (
	firstProgress = 100 * time.Millisecond // nothing is shown if catching up takes less
	progressEvery = time.Second
)

// tellProgress shows how the read model catches up at the start, if that takes a while: after its file was deleted, it
// is rebuilt from the first event. Rebuilds are always shown.
func tellProgress(ctx context.Context, updater *projections.Server, stdout io.Writer) error {
	catchingUp, behind, rebuilding := true, false, false
	for wait := firstProgress; es.Wait(ctx, wait) == nil; wait = progressEvery {
		line := ""
		lag, known := updater.Lag(ctx)
		switch rebuild := updater.Rebuilding(ctx); {
		case catchingUp && known && lag.Records > 0:
			behind, line = true, fmt.Sprintf("The read model is being brought up to date: %d events to go.", lag.Records)
		case catchingUp && known && !lag.AtLeast:
			if catchingUp = false; behind {
				line = "The read model is up to date."
			}
		case !catchingUp && rebuild != nil && (rebuilding || !rebuild.Over):
			rebuilding, line = !rebuild.Over, progressOf(*rebuild)
		}
		if line != "" {
			_, _ = fmt.Fprintln(stdout, line)
		}
	}
	return nil
}

const barWidth = 30

func progressOf(rebuild esrun.Rebuilding) string {
	switch {
	case rebuild.Over && rebuild.Phase == rowstore.RebuildDone:
		return "The read model has been rebuilt."
	case rebuild.Over:
		return "The rebuild has ended, and the read model is as it was: " + rebuild.Phase + "."
	case rebuild.Failure != "":
		return "The rebuild has stopped, and will be retried: " + rebuild.Failure
	}
	done := float64(rebuild.Events) / float64(max(1, rebuild.EventsTotal))
	filled, left := min(barWidth, int(done*barWidth)), ""
	if rebuild.SecondsLeft > 0 {
		left = fmt.Sprintf(", %.0f s left", rebuild.SecondsLeft)
	}
	return fmt.Sprintf("The read model is being rebuilt [%s%s] %3.0f %%, %d of %d events%s (%s)", strings.Repeat("#", filled),
		strings.Repeat(".", barWidth-filled), 100*done, rebuild.Events, rebuild.EventsTotal, left, rebuild.Phase)
}
