package database

// Kept is how many statements a connection, as [sql.Conn.Raw] shows it, has prepared and kept.
func Kept(conn any) int { return conn.(tracedConn).fullConn.(*connection).kept.Len() }

// KeptStatements is how many it keeps at most.
const KeptStatements = keptStatements

// KeptTexts is how many bytes of them it keeps at most.
const KeptTexts = keptTexts
