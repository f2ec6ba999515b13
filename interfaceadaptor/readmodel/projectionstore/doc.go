// Package projectionstore is the read model's write side on MySQL, MariaDB and SQLite: it stores the rows that package
// projection makes of events, the checkpoints of the sources, and the dead letters. queryreader reads what it wrote; the
// tables are made by rdb-migration.
package projectionstore
