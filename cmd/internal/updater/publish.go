package updater

import (
	"example.com/threads/domain/account"
	"example.com/threads/es/run"
	"example.com/threads/extras/publishing"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/interfaceadaptor/tenantcodec"
	"example.com/threads/interfaceadaptor/threadcodec"
)

// publishedTypes are all aggregate types of this application. docs/asyncapi.yaml describes their events.
func publishedTypes() []publishing.Type {
	return []publishing.Type{
		publishing.Of(threadcodec.Events()),
		publishing.Of(accountcodec.Events()),
		publishing.Of(task.Events()),
		publishing.Of(tenantcodec.Events()),
	}
}

// erasedBy returns the account that an event erases; empty: none.
func erasedBy(event publishing.Event) (owner string) {
	if event.AggregateType == account.AggregateType && event.Event.Type == accountErased {
		return event.AggregateID
	}
	return ""
}

var accountErased = accountcodec.Events().EventType(account.Erased{})

func (p program) newPublication(turn *run.Turn) (run.Consumer, error) {
	return publishing.Consumer(p.settings.Publishing, publishing.Events{
		Types: publishedTypes(),
		Around: func(broker publishing.Broker) publishing.Broker {
			return publishing.Opened(broker, p.databases.Keys, erasedBy)
		},
	}, p.ports.Log)(turn)
}
