package page

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"example.com/threads/extras/access"
	"example.com/threads/infrastructure/asset"
	"example.com/threads/infrastructure/httpserver"
)

// Server is the page and its origin. It holds its listening address.
type Server struct {
	*httpserver.Server
	settings Settings
	access   *access.Access
	lab      http.Handler
	log      *slog.Logger
}

// Listen takes the address. The server answers while [Server.Run] runs. lab serves the failure lab; nil: there is none.
func Listen(ctx context.Context, settings Settings, accessControl *access.Access, lab http.Handler, log *slog.Logger) (*Server, error) {
	server, err := httpserver.Listen(ctx, log, "WEB_ADDR", settings.Address)
	if err != nil {
		return nil, err
	}
	accessControl.ProtectPage(server)
	return &Server{Server: server, settings: settings, access: accessControl, lab: lab, log: log}, nil
}

// Run serves until ctx ends, with these programs behind the page.
func (s *Server) Run(ctx context.Context, programs Programs) error {
	handler, err := s.routes(ctx, newLogin(ctx, s.settings, s.access, s.log), programs)
	if err != nil {
		return err
	}
	return s.Serve(ctx, handler)
}

func (s *Server) routes(ctx context.Context, logins *login, programs Programs) (http.Handler, error) {
	mux := chi.NewRouter()
	mux.HandleFunc("GET /login", logins.begin)
	mux.HandleFunc("GET "+callback, logins.finish)
	mux.HandleFunc("POST /login", logins.beDeveloper)
	mux.HandleFunc("POST /logout", logins.end)
	for _, behind := range []struct{ prefix, name, url string }{
		{"/api/write", "write-api", programs.Write},
		{"/api/read", "read-api", programs.Read},
		{"/api/operate", "read-model-updater", programs.Updater + "/operate"},
	} {
		target, err := url.Parse(behind.url)
		if err != nil {
			return nil, fmt.Errorf("the URL of the %s: %w", behind.name, err)
		}
		passed := logins.sessions.authorized(proxy{name: behind.name, target: target, stopping: ctx, log: s.log})
		mux.Handle(behind.prefix+"/*", http.StripPrefix(behind.prefix, passed))
	}
	mux.Handle("GET /status", &status{programs: programs, client: http.Client{Transport: transport}})
	mux.HandleFunc("GET /session", logins.tell(s.lab != nil))
	if s.lab != nil {
		mux.Handle("/lab/*", http.StripPrefix("/lab", logins.sessions.authorized(s.lab)))
	}
	mux.HandleFunc("GET /health/alive", s.Alive)
	mux.HandleFunc("GET /health/ready", s.Ready)
	for path, name := range map[string]string{"/": "index.html", "/app.js": "app.js", "/style.css": "style.css", "/icon.svg": "icon.svg"} {
		mux.Handle("GET "+path, asset.Load(embedded, name, contentSecurityPolicy))
	}
	return s.access.LimitAddresses(httpserver.WithProblems(mux, "/ is the page, the APIs are below /api/write and /api/read")), nil
}

//go:embed index.html app.js style.css icon.svg
var embedded embed.FS

// contentSecurityPolicy lets the page run its own script and talk to its own origin, and nothing else. Scripts can't
// make markup from text (Trusted Types).
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
