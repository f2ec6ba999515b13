// Package logging creates the programs' logger: log/slog on one stream, as JSON for machines or as text for people.
// Lines that are logged with a context contain its attributes, such as request id and trace id.
//
// cmd/* creates one logger and passes it on; package httpserver puts the request's attributes into the context.
package logging
