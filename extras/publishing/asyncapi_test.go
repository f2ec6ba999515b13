package publishing_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.com/threads/es"
	"example.com/threads/extras/publishing"
	"example.com/threads/extras/tasks/task" // extra:tasks
	"example.com/threads/extras/tenants"    // extra:tenants
	"example.com/threads/interfaceadaptor/eventjson"
)

const asyncAPI = "../../docs/asyncapi.yaml"

// Every published event must match the document, and the document must describe every event type.
func TestPublishedEventsAreAsDocumented(t *testing.T) {
	text, err := os.ReadFile(asyncAPI)
	if err != nil {
		t.Fatal(err)
	}
	text, err = yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	schemas := jsonschema.NewCompiler()
	schemas.DefaultDraft(jsonschema.Draft2020)
	schemas.AssertFormat()
	if err := schemas.AddResource("asyncapi.json", document); err != nil {
		t.Fatal(err)
	}
	components := document.(map[string]any)["components"].(map[string]any)
	documented, described := components["messages"].(map[string]any), components["schemas"].(map[string]any)
	listed := document.(map[string]any)["channels"].(map[string]any)["events"].(map[string]any)["messages"].(map[string]any)

	seen := map[string]bool{}
	for _, each := range []struct {
		folder string
		es.AnyAggregate
	}{
		{"interfaceadaptor/eventjson", eventjson.Threads()},  // extra:chat
		{"interfaceadaptor/eventjson", eventjson.Accounts()}, // extra:chat
		{"extras/tenants", tenants.Aggregate()},              // extra:tenants
		{"extras/tasks/task", task.Aggregate()},              // extra:tasks
	} {
		goldens, err := filepath.Glob("../../" + each.folder + "/testdata/" + each.Type() + "/*.json")
		if err != nil || len(goldens) == 0 {
			t.Errorf("%s has no golden files: %v", each.Type(), err)
		}
		for _, golden := range goldens {
			if strings.HasPrefix(filepath.Base(golden), "snapshot-") {
				continue
			}
			message := publishedOf(t, golden, each)
			kind := message["type"].(string)
			seen[kind] = true
			if documented[kind] == nil || listed[kind] == nil {
				t.Errorf("%s is not in %s", kind, asyncAPI)
				continue
			}
			schema, err := schemas.Compile("asyncapi.json#/components/messages/" + kind + "/payload")
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(message); err != nil {
				t.Errorf("%s is not as documented: %v", golden, err)
			}
			for field := range message["data"].(map[string]any) {
				if !has(described, "Envelope", "properties", field) && !has(described, kind, "properties", "data", "properties", field) {
					t.Errorf("%s has %s, which %s does not describe", golden, field, asyncAPI)
				}
			}
			for _, broken := range []string{"seqnr", "subject"} { // the schema can fail
				delete(message, broken)
				if schema.Validate(message) == nil {
					t.Errorf("%s passes without %s", golden, broken)
				}
			}
		}
	}
	for kind := range documented {
		if !seen[kind] {
			t.Errorf("%s documents %s, which is not published", asyncAPI, kind)
		}
	}
}

// publishedOf returns the published form of the event in a golden file.
func publishedOf(t *testing.T, golden string, aggregate es.AnyAggregate) map[string]any {
	t.Helper()
	payload, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	event, err := publishing.Handler{AnyAggregate: aggregate}.DecodeEvent(payload)
	if err != nil {
		t.Fatalf("%s: %v", golden, err)
	}
	body, err := publishing.Encode(event.Event.(publishing.Event))
	if err != nil {
		t.Fatalf("%s: %v", golden, err)
	}
	message, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return message.(map[string]any)
}

// has reports whether a value exists at the end of a path through objects.
func has(from map[string]any, path ...string) bool {
	value, found := from[path[0]]
	if inner, is := value.(map[string]any); is && len(path) > 1 {
		return has(inner, path[1:]...)
	}
	return found && len(path) == 1
}
