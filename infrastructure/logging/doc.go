// Package logging makes the programs' logger: log/slog on one stream, as JSON for machines or as text for people, with
// what the context carries - request id, trace id - on every line that is logged with that context.
//
// cmd/* makes one logger and hands it down; package httpserver puts the request's attributes into the context.
package logging
