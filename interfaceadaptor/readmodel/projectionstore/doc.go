// Package projectionstore keeps how far projections are, on MySQL, MariaDB and SQLite: the positions of aggregates, the
// dead letters of parked ones, the checkpoints of sources, and what is remembered of aggregate types, each by the name
// of the projection. It belongs to the engine: what a projection makes of events is in tables of the application, which
// it reaches by [SQL] in the same transaction. The tables are made by rdb-migration.
package projectionstore
