// Command dev-issuer is the issuer for development as a program of its own, for the compose file's profile auth.
package main

import (
	"context"
	"io"
	"net/http"

	"example.com/threads/cmd/internal/program"
	"example.com/threads/infrastructure/auth/devissuer"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
)

const about = `
An OpenID Connect issuer for development: whoever reaches it gets a token for any account. Nobody but developers may reach
it. GET /tokens has a token for each of two users.
`

func main() { program.Main("dev-issuer", run) }

// settings are what the environment says.
type settings struct {
	address, url string
	logging      program.Logging
}

// readSettings reads them.
func readSettings(r *config.Reader) settings {
	return settings{
		address: r.Address("DEV_ISSUER_ADDR", ":28084", "address to listen on"),
		url:     r.String("DEV_ISSUER_URL", "http://auth.localhost:28084", "the issuer's name in tokens, by which the APIs reach it"),
		logging: program.ReadLogging(r),
	}
}

// run is the program: it serves until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	s, helped, err := program.Settings("dev-issuer", about, readSettings, args, getenv, stdout)
	if helped || err != nil {
		return err
	}
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
	mux.Handle("GET /health/ready", httpserver.Alive(nil))
	mux.Handle("/", issuer.Handler())
	log.WarnContext(ctx, "whoever reaches this issuer gets a token for any account; it is for development")
	log.InfoContext(ctx, "listening", "url", server.URL())
	return server.Serve(ctx, mux)
}
