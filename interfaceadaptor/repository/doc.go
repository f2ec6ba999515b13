// Package repository keeps aggregates: a [Repository] turns what an [eventstore.EventPersistenceGateway] stores - a journal
// of events and, beside it, snapshots - into the states that commands are decided on, and the events that they decide
// into journal entries.
//
// On a command's path it stands between usecase/command, whose port it fills, and the gateways (gateway/dynamodb,
// gateway/sqlstore): a gateway knows aggregates, entries and payloads, and nothing of what is in them. The JSON inside the
// payloads is that of an application's codecs. chatstore has the repositories of this application.
package repository
