// Package repository loads and saves aggregates. A [Repository] turns the events and snapshots of an
// [eventstore.EventPersistenceGateway] into the states that commands are decided on, and new events into journal
// entries.
//
// It implements the port of es/command on top of the gateways (gateway/dynamodb, gateway/sqlstore), which know
// entries and payloads but not what payloads contain. The application's codecs define the JSON in the payloads.
// chatstore has the repositories of this application.
package repository
