package rest

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// Settings of the handler.
type Settings struct {
	// Source is the program's name; it is stored with events and shown on pages.
	Source string
	// Log receives the causes of errors, which clients do not see.
	Log *slog.Logger
	// Timeout limits a request; after it the response is 503.
	Timeout time.Duration
	// Wrap wraps the execution of requests, once they have been decoded and checked. The first is the outermost.
	Wrap []func(Perform) Perform
	// Alive, Ready and Metrics answer /health/alive, /health/ready and /metrics.
	Alive, Ready, Metrics http.Handler
	// Warning is shown on the page at /; empty: there is none.
	Warning string
	// Describe adds to the OpenAPI document.
	Describe []func(*huma.OpenAPI)
	// Around wraps every route; it can call [Route] afterwards.
	Around func(http.Handler) http.Handler
}

type api struct {
	settings Settings
	headers  []requestHeader
	perform  Perform
}

// NewHandler returns the HTTP API. infrastructure/httpserver must give every request a valid X-Request-Id, and
// responses headers that prevent caching.
func NewHandler(aggregates []Aggregate, settings Settings) http.Handler {
	a := &api{settings: settings, headers: requestHeaders()}
	a.perform = func(ctx context.Context, _ http.Header, r Request) (Reply, error) { return r.Execute(ctx) }
	for _, wrap := range slices.Backward(settings.Wrap) {
		a.perform = wrap(a.perform)
	}
	router := chi.NewRouter()
	router.Use(settings.Around, middleware.GetHead)
	unrouted := func(w http.ResponseWriter, r *http.Request) {
		methods := allowed(router, r.URL.Path)
		if methods == "" { // chi takes a method that it does not know for one that the path does not allow
			NewProblem(http.StatusNotFound, PathNotFound, "there is nothing at this path; /docs tells what there is").write(w)
			return
		}
		w.Header().Set("Allow", methods)
		NewProblem(http.StatusMethodNotAllowed, methodNotAllowed, "this path takes "+methods).write(w)
	}
	router.NotFound(unrouted)
	router.MethodNotAllowed(unrouted)

	table := operations(aggregates)
	for _, op := range table {
		router.Post(op.Path, a.serve(op))
	}
	for _, aggregate := range aggregates {
		for _, exchange := range aggregate.Exchanges {
			router.Method(exchange.method(), exchange.Path, a.exchange(exchange))
		}
	}
	router.Method(http.MethodGet, "/health/alive", settings.Alive)
	router.Method(http.MethodGet, "/health/ready", settings.Ready)
	router.Method(http.MethodGet, "/metrics", settings.Metrics)
	router.Get("/", home(settings.Source, settings.Warning))
	doc := document(settings.Source, aggregates, a.headers)
	for _, describe := range settings.Describe {
		describe(doc)
	}
	router.Get("/openapi.json", serveJSON(doc))
	routeDocs(router)
	return router
}

// Route returns the pattern of a request's route; empty if it had none.
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
