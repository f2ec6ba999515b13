package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// document is an OpenAPI document, as far as types need it.
type document struct {
	Paths map[string]map[string]struct { // by path and method
		RequestBody *struct{ Content content }
		Responses   map[string]struct{ Content content }
	}
	Components struct{ Schemas map[string]*shape }
	Events     map[string][]string `json:"x-events"` // names, by the type of the aggregate
}

// content is that of a body, by media type. There is one of them.
type content map[string]struct{ Schema *shape }

func (c content) shape() *shape {
	for _, each := range c {
		return each.Schema
	}
	return nil
}

// readDocument has tools/openapi describe what the page asks. extras/page embeds bundles, which may have to be made
// yet: meanwhile, empty files stand for them.
func readDocument(ctx context.Context) (doc document, err error) {
	for _, name := range []string{"app.js", "app.css", "check.js"} {
		path := filepath.Join(root, "extras/page", name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				return doc, err
			}
			defer func() { _ = os.Remove(path) }()
		}
	}
	command := exec.CommandContext(ctx, "go", "run", "./tools/openapi")
	command.Dir, command.Stderr = root, os.Stderr
	output, err := command.Output()
	if err != nil {
		return doc, fmt.Errorf("%v: %w", command.Args, err)
	}
	return doc, json.NewDecoder(bytes.NewReader(output)).Decode(&doc)
}

// requests returns the types of bodies and answers, and the names of the events.
func (d document) requests(known catalog) (string, error) {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		if err := known.define(name, d.Components.Schemas[name]); err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "\nexport type %s = %s;\n", name, d.Components.Schemas[name].typescript())
	}
	out.WriteString("\n/** By method and path, with the types of bodies and answers. */\nexport type Requests = {\n")
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			operation := d.Paths[path][method]
			name := strings.ToUpper(method) + " " + path
			done := slices.Min(slices.Collect(maps.Keys(operation.Responses))) // 2xx
			known.Answers[name] = operation.Responses[done].Content.shape()
			var body *shape
			if operation.RequestBody != nil {
				body = operation.RequestBody.Content.shape()
			}
			fmt.Fprintf(&out, "  '%s': { body: %s; answer: %s };\n", name, body.typescript(), known.Answers[name].typescript())
		}
	}
	out.WriteString("};\n\n/** The names of the events, by the type of the aggregate. */\nexport const eventNames: Record<string, string[]> = {\n")
	for _, of := range slices.Sorted(maps.Keys(d.Events)) {
		fmt.Fprintf(&out, "  %s: ['%s'],\n", of, strings.Join(d.Events[of], "', '"))
	}
	out.WriteString("};\n")
	return out.String(), nil
}
