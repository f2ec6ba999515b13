package httpserver

import (
	"encoding/json"
	"net/http"
)

// WriteProblem answers with a problem document (RFC 9457): detail is for people, code for programs.
func WriteProblem(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct { // fails only when the client has gone
		Status int    `json:"status"`
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Code   string `json:"code"`
	}{status, http.StatusText(status), detail, code})
}
