package publisher_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/interfaceadaptor/publisher"
	"example.com/threads/interfaceadaptor/tenantcodec"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/usecase/publishing"
)

const asyncAPI = "../../docs/asyncapi.yaml"

// What subscribers get of every event that was ever written is what the document says, and it says it of every type.
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
	documented := document.(map[string]any)["components"].(map[string]any)["messages"].(map[string]any)
	listed := document.(map[string]any)["channels"].(map[string]any)["events"].(map[string]any)["messages"].(map[string]any)

	seen := map[string]bool{}
	look := func(folder string, names []string, decode publishing.Decode) {
		for _, name := range names {
			payload, err := os.ReadFile(folder + "/testdata/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			event, err := decode(payload)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			body, err := publisher.Encode(event)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			kind := event.Event.Type
			seen[kind] = true
			if documented[kind] == nil || listed[kind] == nil {
				t.Errorf("%s is not in %s", kind, asyncAPI)
				continue
			}
			schema, err := schemas.Compile("asyncapi.json#/components/messages/" + kind + "/payload")
			if err != nil {
				t.Fatal(err)
			}
			message, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(message); err != nil {
				t.Errorf("%s is not as documented: %v\n%s", name, err, body)
			}
			for _, broken := range []string{"seqnr", "subject"} { // the schema can fail
				spoilt := message.(map[string]any)
				delete(spoilt, broken)
				if schema.Validate(spoilt) == nil {
					t.Errorf("%s passes without %s", name, broken)
				}
			}
		}
	}
	lookAt(look, "../threadcodec", threadcodec.Events())
	lookAt(look, "../accountcodec", accountcodec.Events())
	lookAt(look, "../tenantcodec", tenantcodec.Events())
	for kind := range documented {
		if !seen[kind] {
			t.Errorf("%s documents %s, which nobody publishes", asyncAPI, kind)
		}
	}
}

func lookAt[E any](look func(string, []string, publishing.Decode), folder string, codec *eventcodec.Codec[E]) {
	look(folder, codec.Names(), publisher.Decode(codec))
}
