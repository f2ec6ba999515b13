// Package page is what people see of the application and of the way of its commands, and its server. On the page's
// origin, the server passes requests on to both APIs below /api/write and /api/read. Its only state are the sessions.
// With access control, the users' tokens stay in the sessions and are added to the requests, so no script can read one.
// README.md says how the page is made.
package page

import (
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"example.com/threads/extras/access"
	"example.com/threads/infrastructure/asset"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
)

//go:generate go run -C ../../tools/dev ./page

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
	return s.Serve(ctx, s.routes(ctx, newLogin(ctx, s.settings, s.access, s.log), programs))
}

func (s *Server) routes(ctx context.Context, logins *login, programs Programs) http.Handler {
	mux := chi.NewRouter()
	mux.HandleFunc("GET /login", logins.begin)
	mux.HandleFunc("GET "+callback, logins.finish)
	forms := mux.With(middleware.RequestSize(maxForm))
	forms.HandleFunc("POST /login", logins.beDeveloper)
	forms.HandleFunc("POST /logout", logins.end)
	for _, behind := range []struct{ prefix, name, url string }{
		{"/api/write", "write-api", programs.Write},
		{"/api/read", "read-api", programs.Read},
		{"/api/operate", "read-model-updater", programs.Updater + "/operate"}, // extra:operate
	} {
		target, _ := url.Parse(behind.url) // a server's own, or one that [ReadPrograms] has checked
		passed := logins.sessions.authorized(proxy{name: behind.name, target: target, stopping: ctx, log: s.log})
		mux.Handle(behind.prefix+"/*", http.StripPrefix(behind.prefix, passed))
	}
	mux.With(middleware.Compress(gzip.DefaultCompression)).Handle("GET /status", &status{programs: programs, client: http.Client{Transport: transport}})
	mux.HandleFunc("GET /session", logins.tell(s.lab != nil))
	if s.lab != nil {
		mux.Handle("/lab/*", http.StripPrefix("/lab", logins.sessions.authorized(s.access.OnlyOperators(s.lab))))
	}
	mux.HandleFunc("GET /health/alive", s.Alive)
	mux.HandleFunc("GET /health/ready", s.Ready)
	for path, name := range map[string]string{
		"/": "index.html", "/app.js": "app.js", "/app.css": "app.css", "/check.js": "check.js", "/icon.svg": "icon.svg",
	} {
		mux.Handle("GET "+path, asset.Load(embedded, name, contentSecurityPolicy))
	}
	return s.access.LimitAddresses(httpserver.WithProblems(mux, "/ is the page, the APIs are below /api/write and /api/read"))
}

// Describe calls describe with the routes of the page's own server in JSON, and with values of the types of answers.
func Describe(describe func(pattern string, body, answer any)) {
	describe("GET /session", nil, sessionAnswer{})
	describe("GET /status", nil, statusAnswer{})
}

//go:embed index.html app.js app.css check.js icon.svg
var embedded embed.FS

const (
	UsualAddress  = ":28083"         // the default of WEB_ADDR
	maxForm       = 4 << 10          // bytes of a form
	uploadTimeout = 15 * time.Second // for a body
	importTimeout = 5 * time.Minute  // for an import: its body and the answer, as in the write-api // extra:tasks
	answerTimeout = 30 * time.Second // for each piece of an answer; the programs limit the whole

	// contentSecurityPolicy lets the page run its own script and talk to its own origin only. Scripts can't make markup
	// from text (Trusted Types).
	contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)

// Settings are read from the environment.
type Settings struct {
	Address string
	URL     string // of the page, for browsers
	// The OAuth client for logins.
	ClientID, ClientSecret string
}

func ReadSettings(r *config.Reader) Settings {
	r = r.Group("The page (extras/page)")
	return Settings{
		Address: r.Address("WEB_ADDR", UsualAddress, "address to listen on, for the page"),
		URL: config.Parsed(r, "WEB_URL", "http://localhost:28083",
			"with AUTH=oidc: where browsers reach the page; the issuer sends them to /login/callback there", parseBase),
		ClientID:     r.String("WEB_CLIENT_ID", "", "with AUTH=oidc: the OAuth client for logins on the page; without it there is no login"),
		ClientSecret: r.Secret("WEB_CLIENT_SECRET", "with AUTH=oidc: its secret, if it has one", func(string) error { return nil }),
	}
}

// Programs are the URLs of the programs behind the page, without a slash at the end.
type Programs struct{ Write, Read, Updater string }

// ReadPrograms reads the URLs of the programs, for a program that does not contain them.
func ReadPrograms(r *config.Reader) Programs {
	base := func(name, fallback, program string) string {
		return config.Parsed(r, name, fallback, "where the page reaches the "+program, parseBase)
	}
	return Programs{
		Write:   base("WRITE_API_URL", "http://127.0.0.1:28080", "write-api"),
		Read:    base("READ_API_URL", "http://127.0.0.1:28082", "read-api"),
		Updater: base("UPDATER_URL", "http://127.0.0.1:28081", "read-model-updater"),
	}
}

func parseBase(value string) (string, error) {
	origins, err := access.ParseOrigins(strings.TrimRight(value, "/"))
	if err != nil || len(origins) != 1 {
		return "", errors.New("expected an http or https URL without path and credentials, such as http://127.0.0.1:28080")
	}
	return origins[0], nil
}

// proxy passes requests to a program, WebSockets and event streams included, and its response headers back unchanged.
type proxy struct {
	name     string
	target   *url.URL
	stopping context.Context // ends streams; other requests are finished
	log      *slog.Logger
}

func (p proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, end := context.WithCancel(r.Context())
	defer end()
	controller := http.NewResponseController(w)
	if r.ContentLength != 0 { // else the server reads on, to see whether the client has gone
		_ = controller.SetReadDeadline(time.Now().Add(uploadTimeout))
	}
	if r.URL.Path == "/tasks/import" { // extra:tasks {
		until := time.Now().Add(importTimeout)
		_, _ = controller.SetReadDeadline(until), controller.SetWriteDeadline(until)
	} // extra:tasks }
	// Or else net/http ends the request's body when the answer begins. If the transport has not met the end of the body
	// by then, it closes the connection to the program, and the rest of the answer is lost.
	_ = controller.EnableFullDuplex()
	if httpserver.IsStream(r) {
		defer context.AfterFunc(p.stopping, end)()
		_ = controller.SetWriteDeadline(time.Time{}) // without it the stream ends at the deadline
	} else {
		w = inPieces{w, controller}
	}
	forward := httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(p.target)
			request.Out.Host = r.Host // the read-api compares it with the origin
			request.Out.Header["X-Forwarded-For"] = r.Header["X-Forwarded-For"]
			request.SetXForwarded()
		},
		ModifyResponse: func(*http.Response) error {
			clear(w.Header()) // of our own security headers: the program sets its own
			return nil
		},
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler:  p.fail,
		ErrorLog:      slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
	forward.ServeHTTP(w, r.WithContext(ctx))
}

// inPieces gives each piece of an answer its own time.
type inPieces struct {
	http.ResponseWriter
	controller *http.ResponseController
}

func (p inPieces) Write(piece []byte) (int, error) {
	_ = p.controller.SetWriteDeadline(time.Now().Add(answerTimeout))
	return p.ResponseWriter.Write(piece)
}

// Unwrap is for [http.ResponseController].
func (p inPieces) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// transport keeps connections to the programs open. The programs limit them.
var transport = &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 25 * time.Second}

func (p proxy) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client has disconnected, or the server stops
	}
	p.log.WarnContext(r.Context(), "a program behind the page does not answer", "program", p.name, "url", p.target.String(), "error", err)
	w.Header().Set("Retry-After", "1")
	httpserver.WriteProblem(w, http.StatusServiceUnavailable, "program_unavailable",
		"the "+p.name+" does not answer; the outcome of a command is unknown: send it again with the same Idempotency-Key")
}
