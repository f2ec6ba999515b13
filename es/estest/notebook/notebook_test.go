package notebook_test

import (
	"fmt"
	"testing"

	"example.com/threads/es/estest"
	"example.com/threads/es/estest/notebook"
)

func TestRules(t *testing.T) {
	given := func(events ...notebook.Event) estest.Scenario[notebook.Notebook, notebook.Command, notebook.Event] {
		return estest.Given(notebook.Aggregate(), events...)
	}
	opened := notebook.Opened{Owner: "ann", Title: "plans"}

	given().When(notebook.Open{By: "ann", Title: "plans"}).Then(t, opened)
	given(opened).When(notebook.Write{By: "ann", Text: "tea"}).Then(t, notebook.Written{By: "ann", Text: "tea"})
	given(opened, notebook.Shared{With: "bob"}).When(notebook.Write{By: "bob", Text: "tea"}).Then(t, notebook.Written{By: "bob", Text: "tea"})

	given().When(notebook.Write{By: "ann"}).Rejects(t, notebook.ErrNotFound)
	given(opened).When(notebook.Write{By: "bob"}).Rejects(t, notebook.ErrNotShared)
	given(opened, notebook.Shared{With: "bob"}, notebook.Unshared{With: "bob"}).When(notebook.Write{By: "bob"}).Rejects(t, "forbidden")
	given(opened, notebook.Closed{}).When(notebook.Rename{By: "ann"}).Rejects(t, "conflict")
}

// failures counts the failures of a test.
type failures struct {
	testing.TB
	messages []string
}

func (f *failures) Helper() {}
func (f *failures) Errorf(format string, args ...any) {
	f.messages = append(f.messages, fmt.Sprintf(format, args...))
}

func TestOtherOutcomesFail(t *testing.T) {
	found := &failures{TB: t}
	opens := estest.Given(notebook.Aggregate()).When(notebook.Open{By: "ann", Title: "plans"})
	opens.Then(found)
	opens.Then(found, notebook.Opened{Owner: "bob", Title: "plans"})
	opens.Rejects(found, notebook.ErrNotFound)
	writes := estest.Given(notebook.Aggregate()).When(notebook.Write{By: "ann"})
	writes.Then(found, notebook.Written{By: "ann"})
	writes.Rejects(found, notebook.ErrClosed)
	writes.Rejects(found, "conflict")
	if len(found.messages) != 6 {
		t.Errorf("%d of 6 outcomes fail: %q", len(found.messages), found.messages)
	}
}
