package aggregates

import (
	"example.com/threads/extras/erasure"    // extra:erasure
	"example.com/threads/extras/publishing" // extra:publishing
	"example.com/threads/usecase/chat"
)

// OtherProjections are those that a rebuild of the read model leaves alone.
func OtherProjections() []string {
	names := []string{chat.LeaveOnClose}
	names = append(names, erasure.Forgetting)    // extra:erasure
	names = append(names, publishing.Projection) // extra:publishing
	return names
}
