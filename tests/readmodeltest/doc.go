// Package readmodeltest gives tests of the read side a migrated, empty read model on MySQL or MariaDB and on SQLite,
// and a counter of statements. A world feeds the projection:
//
//	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
//		w := db.World(t, "acme")
//		lunch := w.Thread("Lunch", alice)
//		...
//	})
package readmodeltest
