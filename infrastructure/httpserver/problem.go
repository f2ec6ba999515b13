package httpserver

import (
	"encoding/json"
	"net/http"
	"strings"
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

// WithProblems serves mux, with a problem document for requests that have no route. hint names the existing paths.
func WithProblems(mux *http.ServeMux, hint string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		allowed := strings.Join(methodsOf(mux, r), ", ")
		if allowed == "" {
			WriteProblem(w, http.StatusNotFound, "path_not_found", "there is nothing at this path; "+hint)
			return
		}
		w.Header().Set("Allow", allowed)
		WriteProblem(w, http.StatusMethodNotAllowed, "method_not_allowed", "this path takes "+allowed)
	})
}

// methodsOf returns the methods that have a route for the request's path.
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
