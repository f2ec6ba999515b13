package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	esrun "example.com/threads/es/run"
)

// banner is printed at the start. Its curl commands work as printed; with AUTH=oidc they need a token.
var banner = template.Must(template.New("banner").Parse(`{{with .Web}}{{.}} is the page: open it in a browser.{{end}}

Threads is running; its data is in {{.Folder}}. Ctrl-C stops it.

  commands  {{.Write}}/docs
  queries   {{.Read}}
  health    {{.Updater}}/health/ready
{{with .Issuer}}  tokens    {{.}}/tokens
{{end}}{{with .Warning}}
  !! {{.}}
{{end}}
Try it: create a thread, say something, read it.
{{if not .Tokens}}
  ada=01ARZ3NDEKTSV4RRFFQ69G5FAV
  thread=$(curl -s {{.Write}}/threads/create -H 'Content-Type: application/json' -d "{\"executor_id\":\"$ada\",\"name\":\"tea\"}" | sed 's/.*"thread_id":"\([^"]*\)".*/\1/')
  curl -s {{.Write}}/threads/post_message -H 'Content-Type: application/json' -d "{\"executor_id\":\"$ada\",\"thread_id\":\"$thread\",\"text\":\"Anyone for a cup?\"}"
  curl -s {{.Read}}/graphql -H 'Content-Type: application/json' -H "Consistency-Token: $thread:2" -d "{\"query\":\"{ getMessages(threadId: \\\"$thread\\\", userAccountId: \\\"$ada\\\") { text createdAt } }\"}"
{{else}}
  {{if .Issuer}}eval "$(curl -s {{.Issuer}}/tokens)"{{else}}ada=<an access token of your issuer>{{end}}
  thread=$(curl -s {{.Write}}/threads/create -H "Authorization: Bearer $ada" -H 'Content-Type: application/json' -d '{"name":"tea"}' | sed 's/.*"thread_id":"\([^"]*\)".*/\1/')
  curl -s {{.Write}}/threads/post_message -H "Authorization: Bearer $ada" -H 'Content-Type: application/json' -d "{\"thread_id\":\"$thread\",\"text\":\"Anyone for a cup?\"}"
  curl -s {{.Read}}/graphql -H "Authorization: Bearer $ada" -H 'Content-Type: application/json' -H "Consistency-Token: $thread:2" -d "{\"query\":\"{ getMessages(threadId: \\\"$thread\\\") { text createdAt } }\"}"
{{end}}
`))

func (y *servers) greet(s settings, stdout io.Writer) error {
	shown := map[string]any{
		"Folder": s.folder, "Write": y.write.URL(), "Read": y.read.URL(), "Updater": y.updater.URL(), "Warning": y.write.Notes["warning"],
		"Web":    y.web.URL(),                                        // extra:page
		"Issuer": y.access.DevIssuer(), "Tokens": !y.access.IsOpen(), // extra:access
	}
	return banner.Execute(stdout, shown)
}

const (
	progressEvery = time.Second
	worthProgress = 100 * time.Millisecond // minimum duration of catching up before progress is shown
)

// tellProgress shows how the read model catches up at the start, if that takes a while: after its file was deleted, it
// is rebuilt from the first event. Rebuilds are always shown.
func (y *servers) tellProgress(ctx context.Context, stdout io.Writer) error {
	timer := time.NewTimer(worthProgress)
	defer timer.Stop()
	told := false
	for {
		select {
		case <-timer.C:
			timer.Reset(progressEvery)
		case <-ctx.Done():
			return nil
		}
		lag, known := y.updater.Lag(ctx)
		switch {
		case !known:
		case lag.Records > 0:
			_, _ = fmt.Fprintf(stdout, "The read model is being brought up to date: %d events to go.\n", lag.Records)
			told = true
		case lag.AtLeast:
		default:
			if told {
				_, _ = fmt.Fprintln(stdout, "The read model is up to date.")
			}
			return y.tellRebuilds(ctx, stdout)
		}
	}
}

const barWidth = 30

// tellRebuilds shows the progress of rebuilds.
func (y *servers) tellRebuilds(ctx context.Context, stdout io.Writer) error {
	told := false
	for es.Wait(ctx, progressEvery) == nil {
		rebuild := y.updater.Rebuilding(ctx)
		if rebuild == nil {
			continue
		}
		if !rebuild.Over || told {
			_, _ = fmt.Fprintln(stdout, tellRebuild(*rebuild))
		}
		told = !rebuild.Over
	}
	return nil
}

func tellRebuild(rebuild esrun.Rebuilding) string {
	switch {
	case rebuild.Over && rebuild.Phase == string(projection.Done):
		return "The read model has been rebuilt."
	case rebuild.Over:
		return "The rebuild has ended, and the read model is as it was: " + rebuild.Phase + "."
	case rebuild.Failure != "":
		return "The rebuild has stopped, and will be retried: " + rebuild.Failure
	}
	return progressBar(rebuild)
}

func progressBar(rebuild esrun.Rebuilding) string {
	done := 1.0
	if rebuild.EventsTotal > 0 {
		done = float64(rebuild.Events) / float64(rebuild.EventsTotal)
	}
	filled := int(done * barWidth)
	left := ""
	if rebuild.SecondsLeft > 0 {
		left = fmt.Sprintf(", %.0f s left", rebuild.SecondsLeft)
	}
	return fmt.Sprintf("The read model is being rebuilt [%s%s] %3.0f %%, %d of %d events%s (%s)", strings.Repeat("#", filled),
		strings.Repeat(".", barWidth-filled), 100*done, rebuild.Events, rebuild.EventsTotal, left, rebuild.Phase)
}
