// Package sqldialect is the one place that knows how MySQL (MariaDB, too) and SQLite differ: in statements, in locks and
// in what an error means. The adapters that speak SQL ask it and are otherwise the same for all of them.
package sqldialect
