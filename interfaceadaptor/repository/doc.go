// Package repository keeps threads: [ThreadRepository] turns what an [EventPersistenceGateway] stores - a journal of
// events and, beside it, snapshots - into the states that commands are decided on, and the events that they decide
// into journal entries.
//
// On a command's path it stands between usecase/command, whose port it fills, and the gateways (gateway/dynamodb,
// gateway/sqlstore), whose port it defines: a gateway knows aggregates, entries and payloads, and nothing of threads.
// The JSON inside the payloads is eventcodec's.
package repository
