package httpserver

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
)

// WriteProblem answers with a problem document (RFC 9457): detail is for people, code for programs.
func WriteProblem(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct { // fails only if the client has disconnected
		Status int    `json:"status"`
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Code   string `json:"code"`
	}{status, http.StatusText(status), detail, code})
}

// WithProblems adds a problem document for requests that have no route; hint names the existing paths. What has a route
// for GET answers HEAD, too.
func WithProblems(routes chi.Router, hint string) http.Handler {
	unrouted := func(w http.ResponseWriter, r *http.Request) {
		has := func(method string) bool {
			return routes.Match(chi.NewRouteContext(), method, cmp.Or(r.URL.RawPath, r.URL.Path))
		}
		var allowed []string
		if has(http.MethodGet) {
			allowed = append(allowed, http.MethodGet, http.MethodHead)
		}
		if has(http.MethodPost) {
			allowed = append(allowed, http.MethodPost)
		}
		switch {
		case len(allowed) == 0:
			WriteProblem(w, http.StatusNotFound, "path_not_found", "there is nothing at this path; "+hint)
		case r.Method == http.MethodHead && slices.Contains(allowed, http.MethodHead):
			route := chi.RouteContext(r.Context())
			route.Reset()
			route.RouteMethod = http.MethodGet
			routes.ServeHTTP(w, r)
		default:
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			WriteProblem(w, http.StatusMethodNotAllowed, "method_not_allowed", "this path takes "+strings.Join(allowed, ", "))
		}
	}
	routes.NotFound(unrouted)
	routes.MethodNotAllowed(unrouted)
	return routes
}
