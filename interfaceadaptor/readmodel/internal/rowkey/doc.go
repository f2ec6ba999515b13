// Package rowkey names rows of the read model by their primary keys, and finds those of many keys with one statement.
// projectionstore, which writes the rows, and queryreader, which reads them, share it.
package rowkey
