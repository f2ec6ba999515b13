// Package rowstore stores the state of projections on MySQL, MariaDB and SQLite: positions of aggregates, dead
// letters, checkpoints of sources and known aggregate types, each under the projection's name. It belongs to the
// engine. The rows of a projection are in tables of the application, which are written in the same transaction through
// [SQL]. rdb-migration creates the tables.
package rowstore
