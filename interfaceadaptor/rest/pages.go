package rest

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// pages describes the routes that are no commands.
func pages() []*huma.Operation {
	get := func(path, id, summary string, statuses map[string]string, types ...string) *huma.Operation {
		op := &huma.Operation{Method: http.MethodGet, Path: path, OperationID: id, Tags: []string{"operation"}, Summary: summary, Responses: map[string]*huma.Response{}}
		for status, description := range statuses {
			content := map[string]*huma.MediaType{}
			for _, t := range types {
				content[t] = &huma.MediaType{}
			}
			op.Responses[status] = &huma.Response{Description: description, Headers: describeHeaders(requestID), Content: content}
		}
		return op
	}
	return []*huma.Operation{
		get("/", "home", "Name the service", map[string]string{"200": "What this is and where to go on."}, mediaJSON, "text/html"),
		get("/docs", "docs", "Show this document as a page", map[string]string{"200": "A page that loads nothing from elsewhere."}, "text/html"),
		get("/openapi.json", "openapi", "Return this document", map[string]string{"200": "OpenAPI 3.1."}, mediaJSON),
		get("/health/alive", "alive", "Tell that the program runs", map[string]string{"200": "It runs."}, mediaJSON),
		get("/health/ready", "ready", "Tell whether commands can be taken", map[string]string{"200": "They can.", "503": "They can't; `checks` tells what failed."}, mediaJSON),
		get("/metrics", "metrics", "Return measurements", map[string]string{"200": "In the text format of Prometheus."}, "text/plain"),
	}
}
