// Command web serves the page, and both APIs on the page's origin. It knows no database.
package main

import (
	"context"
	"io"

	"example.com/threads/extras/access"
	"example.com/threads/extras/page"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/logging"
	"example.com/threads/infrastructure/program"
)

const about = `
Serves the page: the application, the way of each command through the system, and for operators the health of the
programs. Below /api/write, /api/read and /api/operate it passes both APIs and the updater's /operate through on the
page's origin. SIGINT and SIGTERM end it once the requests that it has accepted are answered.
`

var run = program.With("web", about, readSettings, serve)

func main() { program.Main("web", run) }

type settings struct {
	web      page.Settings
	programs page.Programs
	access   access.Settings
	logging  logging.Settings
}

func readSettings(r *config.Reader) settings {
	return settings{
		web:      page.ReadSettings(r),
		programs: page.ReadPrograms(r),
		access:   access.ReadPageSettings(r),
		logging:  logging.ReadSettings(r, "info", "json"),
	}
}

// serve works until ctx ends. A line of the log, "listening", has the address.
func serve(ctx context.Context, s settings, stdout io.Writer) error {
	log := s.logging.Logger(stdout)
	letIn, err := access.Open(ctx, s.access, log)
	if err != nil {
		return err
	}
	server, err := page.Listen(ctx, s.web, letIn, nil, log)
	if err != nil {
		return err
	}
	return program.Serve(ctx, log, server.URL(), letIn.Run, func(ctx context.Context) error { return server.Run(ctx, s.programs) })
}
