package eventcodec_test

import (
	"testing"

	"example.com/threads/interfaceadaptor/eventcodec"
)

func TestIdentifiersInEveryForm(t *testing.T) {
	for written, want := range map[string]string{
		`"abc"`: "abc", `{"value":"abc"}`: "abc", `{ "value": "abc" }`: "abc", `{"other":1,"value":"abc"}`: "abc", `"a\u0062c"`: "abc", `{"value":"a\"c"}`: `a"c`,
		`""`: "", `{"value":""}`: "", `{}`: "", `{"value":"a","value":"b"}`: "b",
	} {
		if got, err := eventcodec.IDText([]byte(written)); got != want || err != nil {
			t.Errorf("%s: %q, %v", written, got, err)
		}
	}
	for _, written := range []string{`7`, `[]`, `{"value":7}`, `{"value":{"value":"abc"}}`, `true`} {
		if got, err := eventcodec.IDText([]byte(written)); err == nil {
			t.Errorf("%s: %q", written, got)
		}
	}
}

// A table that says two things is found when the program starts, not when the second is read.
func TestATableThatContradictsItself(t *testing.T) {
	type done struct{}
	row := func(name string) eventcodec.Row[any] {
		return eventcodec.Event[any](name, func(done) done { return done{} }, func(done) (done, error) { return done{}, nil })
	}
	former := eventcodec.Former[any]("Done", func(done) (done, error) { return done{}, nil })
	for about, table := range map[string][]eventcodec.Row[any]{"an event twice": {row("Done"), row("Finished")}, "a name twice": {row("Done"), former}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken", about)
				}
			}()
			eventcodec.New("task", func(text string) (string, error) { return text, nil }, table...)
		}()
	}
	codec := eventcodec.New("task", func(text string) (string, error) { return text, nil }, row("Finished"), former)
	if codec.EventType(done{}) != "Finished" || codec.EventType(7) != "" {
		t.Error("names are mixed up")
	}
}
