package updater

import (
	"example.com/threads/cmd/internal/aggregates"
	"example.com/threads/domain/account"
	"example.com/threads/es/run"
	"example.com/threads/extras/publishing"
	"example.com/threads/interfaceadaptor/chatstore"
)

// erasedBy returns the account that an event erases; empty: none.
func erasedBy(event publishing.Event) (owner string) {
	if event.AggregateType == account.AggregateType && event.Event.Type == accountErased {
		return event.AggregateID
	}
	return ""
}

var accountErased = chatstore.Accounts().Events.EventType(account.Erased{})

func (p program) newPublication(turn *run.Turn) (run.Consumer, error) {
	return publishing.Consumer(p.settings.Publishing, publishing.Events{
		Types: publishing.All(aggregates.Types()),
		Around: func(broker publishing.Broker) publishing.Broker {
			return publishing.Opened(broker, p.databases.Keys, erasedBy)
		},
	}, p.ports.Log)(turn)
}
