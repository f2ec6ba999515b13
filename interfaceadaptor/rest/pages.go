package rest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed home.html
var homePage string

// homeAnswer describes the service.
type homeAnswer struct {
	Service string `json:"service" doc:"The program's name." example:"write-api"`
	Docs    string `json:"docs" doc:"Where this document is as a page." example:"/docs"`
	OpenAPI string `json:"openapi" doc:"Where this document is." example:"/openapi.json"`
	Health  string `json:"health" doc:"Where to ask whether commands can be taken." example:"/health/ready"`
	Metrics string `json:"metrics" doc:"Where the measurements are." example:"/metrics"`
}

// home answers / with a description of the service: a page for browsers, JSON for other clients.
func home(service, warning string) http.HandlerFunc {
	page := template.Must(template.New("home").Parse(homePage))
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

// healthAnswer is the response of the health handlers.
type healthAnswer struct {
	Status string            `json:"status" doc:"The verdict." enum:"alive,ready,not ready" example:"ready"`
	Note   string            `json:"warning,omitempty" doc:"What the operator should know."`
	Checks map[string]string `json:"checks,omitempty" doc:"With ready and not ready: what was checked, by name, and whether it is ok or has failed."`
}

// describePages describes the routes that are not commands.
func describePages(schemas huma.Registry) []*huma.Operation {
	text := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	asJSON := func(answer reflect.Type) *huma.MediaType {
		return &huma.MediaType{Schema: schemas.Schema(answer, true, "")}
	}
	health := map[string]*huma.MediaType{MediaJSON: asJSON(reflect.TypeFor[healthAnswer]())}
	get := func(path, id, summary, description string, answer map[string]*huma.MediaType) *huma.Operation {
		responses := describeProblems(schemas, earlyProblems())
		responses["200"] = &huma.Response{Description: summary + ".", Headers: describeHeaders(requestID), Content: answer}
		return &huma.Operation{
			Method: http.MethodGet, Path: path, OperationID: id, Tags: []string{"operation"},
			Summary: summary, Description: description, Responses: responses,
		}
	}
	ready := get("/health/ready", "ready", "Commands can be taken", "Checks what the program depends on, within two seconds.", health)
	ready.Responses["503"] = &huma.Response{
		Description: "Commands can't be taken; `checks` tells what failed.", Headers: describeHeaders(requestID), Content: health,
	}
	return []*huma.Operation{
		get("/", "home", "What this is, and where to go on", "A page for browsers and JSON for everybody else.",
			map[string]*huma.MediaType{MediaJSON: asJSON(reflect.TypeFor[homeAnswer]()), "text/html": text}),
		get("/docs", "docs", "This document as a page", "The page loads nothing from elsewhere.", map[string]*huma.MediaType{"text/html": text}),
		get("/openapi.json", "openapi", "This document", "OpenAPI 3.1, made from what the program serves.",
			map[string]*huma.MediaType{MediaJSON: {Schema: &huma.Schema{Type: huma.TypeObject}}}),
		get("/health/alive", "alive", "The program runs", "Checks nothing beyond that the program can answer.", health),
		ready,
		get("/metrics", "metrics", "The program's measurements", "In the text format of Prometheus.", map[string]*huma.MediaType{"text/plain": text}),
	}
}
