// Package sqldialect holds all differences between MySQL (and MariaDB) and SQLite: in statements, in locks and in the
// meaning of errors. The SQL adapters use it and are otherwise the same for all databases.
package sqldialect
