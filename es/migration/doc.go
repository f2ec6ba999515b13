// Package migration migrates the schemas of relational databases up and down, with goose.
//
// A [Set] is an independent schema with its own version table, so that several sets can share a database. The packages
// that read and write tables offer their sets (sqlstore.Schema, rowstore.Schema); a program adds its own. It calls [Up]
// before it starts, or [Check] if something else migrates.
package migration
