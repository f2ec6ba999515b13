package rest

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// homeAnswer describes the service.
type homeAnswer struct {
	Service string `json:"service" doc:"The program's name." example:"write-api"`
	Docs    string `json:"docs" doc:"Where this document is as a page." example:"/docs"`
	OpenAPI string `json:"openapi" doc:"Where this document is." example:"/openapi.json"`
	Health  string `json:"health" doc:"Where to ask whether commands can be taken." example:"/health/ready"`
	Metrics string `json:"metrics" doc:"Where the measurements are." example:"/metrics"`
}

// healthAnswer is the response of the health handlers.
type healthAnswer struct {
	Status string            `json:"status" doc:"The verdict." enum:"alive,ready,not ready" example:"ready"`
	Note   string            `json:"warning,omitempty" doc:"What the operator should know."`
	Checks map[string]string `json:"checks,omitempty" doc:"With ready and not ready: what was checked, by name, and whether it is ok or has failed."`
}

// pages describes the routes that are not commands.
func pages(schemas huma.Registry) []*huma.Operation {
	text := &huma.Schema{Type: huma.TypeString}
	html := map[string]*huma.MediaType{"text/html": {Schema: text}}
	asJSON := func(answer reflect.Type) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{MediaJSON: {Schema: schemas.Schema(answer, true, "")}}
	}
	health := asJSON(reflect.TypeFor[healthAnswer]())
	home := asJSON(reflect.TypeFor[homeAnswer]())
	home["text/html"] = html["text/html"]

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
		get("/", "home", "What this is, and where to go on", "A page for browsers and JSON for everybody else.", home),
		get("/docs", "docs", "This document as a page", "The page loads nothing from elsewhere.", html),
		get("/openapi.json", "openapi", "This document", "OpenAPI 3.1, made from what the program serves.",
			map[string]*huma.MediaType{MediaJSON: {Schema: &huma.Schema{Type: huma.TypeObject}}}),
		get("/health/alive", "alive", "The program runs", "Checks nothing beyond that the program can answer.", health),
		ready,
		get("/metrics", "metrics", "The program's measurements", "In the text format of Prometheus.",
			map[string]*huma.MediaType{"text/plain": {Schema: text}}),
	}
}
