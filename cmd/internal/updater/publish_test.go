package updater

import (
	"slices"
	"testing"

	"example.com/threads/extras/publishing"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

// An aggregate type must not stay unpublished because a list lacks it.
func TestEveryAggregateTypeIsPublished(t *testing.T) {
	for _, handler := range chatrows.Handlers() {
		if !slices.ContainsFunc(publishedTypes(), func(each publishing.Type) bool { return each.Name == handler.Type() }) {
			t.Errorf("events of type %s are in the read model and are not published: add its codec to publishedTypes", handler.Type())
		}
	}
}
