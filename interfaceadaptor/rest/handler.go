package rest

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"example.com/threads/interfaceadaptor/access"
)

// Settings are what the handler is told by the program that it runs in.
type Settings struct {
	// Source is the program's name, on events as where they came in and on pages.
	Source string
	// Log gets the causes of errors that clients are not told.
	Log *slog.Logger
	// Timeout is how long a request may take before it is answered with 503.
	Timeout time.Duration
	// Gate lets requests in.
	Gate *access.Gate
	// Alive, Ready and Metrics answer /health/alive, /health/ready and /metrics.
	Alive, Ready, Metrics http.Handler
	// Around goes around every route; it can ask [Route] afterwards.
	Around func(http.Handler) http.Handler
}

type api struct {
	settings Settings
	headers  []requestHeader
}

// NewHandler returns the HTTP API. Every request must come with a usable X-Request-Id, and answers are to be kept by
// nobody unless they say so; infrastructure/httpserver sees to both.
func NewHandler(aggregates []Aggregate, settings Settings) http.Handler {
	a := &api{settings: settings, headers: requestHeaders()}
	router := chi.NewRouter()
	router.Use(settings.Around, middleware.GetHead)
	unrouted := func(w http.ResponseWriter, r *http.Request) {
		methods := allowed(router, r.URL.Path)
		if methods == "" { // chi takes a method that it does not know for one that the path does not allow
			newProblem(http.StatusNotFound, pathNotFound, "there is nothing at this path; /docs tells what there is").write(w)
			return
		}
		w.Header().Set("Allow", methods)
		newProblem(http.StatusMethodNotAllowed, methodNotAllowed, "this path takes "+methods).write(w)
	}
	router.NotFound(unrouted)
	router.MethodNotAllowed(unrouted)

	table := operations(aggregates)
	for _, op := range table {
		router.Post(op.path, a.serve(op))
	}
	router.Method(http.MethodGet, "/health/alive", settings.Alive)
	router.Method(http.MethodGet, "/health/ready", settings.Ready)
	router.Method(http.MethodGet, "/metrics", settings.Metrics)
	router.Get("/", home(settings.Source, settings.Gate.IsOpen()))
	doc := document(settings.Source, aggregates, a.headers)
	if settings.Gate.IsOpen() {
		doc.Info.Description = "**" + access.OpenWarning + "** " + doc.Info.Description
	} else {
		askForTokens(doc, table)
	}
	router.Get("/openapi.json", serveJSON(doc))
	routeDocs(router)
	return router
}

// Route is the pattern of the route that a request took, and empty where it took none.
func Route(r *http.Request) string {
	if route := chi.RouteContext(r.Context()); route != nil {
		return route.RoutePattern()
	}
	return ""
}

func allowed(router chi.Router, path string) string {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if router.Match(chi.NewRouteContext(), method, path) {
			methods = append(methods, method)
			if method == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
		}
	}
	return strings.Join(methods, ", ")
}
