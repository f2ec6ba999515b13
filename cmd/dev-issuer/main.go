// Command dev-issuer runs the development issuer as its own process, for the compose file's profile auth.
package main

import (
	"context"
	"io"
	"net/http"

	"example.com/threads/extras/access/devissuer"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/logging"
	"example.com/threads/infrastructure/program"
)

const about = `
An OpenID Connect issuer for development. It gives every caller a token for any account, so only developers may reach
it. It answers at localhost, and names below it such as auth.localhost. GET /tokens returns a token for each of two
users.
`

var run = program.With("dev-issuer", about, readSettings, serve)

func main() { program.Main("dev-issuer", run) }

type settings struct {
	address, url string
	logging      logging.Settings
}

func readSettings(r *config.Reader) settings {
	return settings{
		address: r.Address("DEV_ISSUER_ADDR", ":28084", "address to listen on"),
		url:     r.String("DEV_ISSUER_URL", "http://auth.localhost:28084", "the issuer's name in tokens, by which the APIs reach it"),
		logging: logging.ReadSettings(r, "info", "json"),
	}
}

func serve(ctx context.Context, s settings, stdout io.Writer) error {
	log := s.logging.Logger(stdout)
	issuer, err := devissuer.New(s.url)
	if err != nil {
		return err
	}
	server, err := httpserver.Listen(ctx, log, "DEV_ISSUER_ADDR", s.address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /health/ready", http.HandlerFunc(server.Alive))
	mux.Handle("/", issuer.Handler(devissuer.NamesThisMachine)) // also to containers beside it
	log.WarnContext(ctx, "this issuer gives every caller a token for any account; it is for development only")
	return program.Serve(ctx, log, server.URL(), func(ctx context.Context) error { return server.Serve(ctx, mux) })
}
