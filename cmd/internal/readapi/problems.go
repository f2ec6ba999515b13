package readapi

import (
	"net/http"
	"strings"

	"example.com/threads/infrastructure/httpserver"
)

// withProblems answers what the router has no route for as the write-api does: with a problem document.
func withProblems(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		allowed := strings.Join(methodsOf(mux, r), ", ")
		if allowed == "" {
			httpserver.WriteProblem(w, http.StatusNotFound, "path_not_found", "there is nothing at this path; GraphQL is at /graphql, and / is a page to try it on")
			return
		}
		w.Header().Set("Allow", allowed)
		httpserver.WriteProblem(w, http.StatusMethodNotAllowed, "method_not_allowed", "this path takes "+allowed)
	})
}

// methodsOf are the methods that the path of a request has routes for.
func methodsOf(mux *http.ServeMux, r *http.Request) []string {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := mux.Handler(probe); pattern != "" {
			methods = append(methods, method)
		}
	}
	return methods
}

// route is the path of the route that a request took, and empty where it took none.
func route(r *http.Request) string {
	_, path, _ := strings.Cut(r.Pattern, " ")
	return path
}
