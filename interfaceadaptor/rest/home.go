package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

// home answers / with a description of the service: a page for browsers, JSON for other clients.
func home(service, warning string) http.HandlerFunc {
	page := template.Must(template.ParseFS(pageFiles, "page/home.html"))
	asJSON := serveJSON(homeAnswer{Service: service, Docs: "/docs", OpenAPI: "/openapi.json", Health: "/health/ready", Metrics: "/metrics"})
	shown := struct{ Service, Warning string }{service, warning}
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			asJSON(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = page.Execute(w, shown) // fails only when the client has gone
	}
}

// serveJSON sends a constant document.
func serveJSON(document any) http.HandlerFunc {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		panic(fmt.Sprintf("rest: a document of ours can't be written: %v", err)) // it is the same in every run
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", MediaJSON)
		_, _ = w.Write(body.Bytes())
	}
}
