package database

// Kept returns the number of statements in a connection's cache. conn comes from [sql.Conn.Raw].
func Kept(conn any) int { return conn.(*connection).kept.Len() }

// KeptStatements is the maximum number of cached statements.
const KeptStatements = keptStatements

// KeptTexts is their maximum size in bytes.
const KeptTexts = keptTexts
