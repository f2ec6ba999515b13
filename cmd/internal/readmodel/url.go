// Package readmodel reads which database holds the read model, for the programs that write and read it.
package readmodel

import (
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/database"
)

const expected = "user:password@tcp(host:3306)/threads or sqlite:data/readmodel.db"

// Usage tells the variable of [ReadURL] for --help.
const Usage = `  DATABASE_URL               database of the read model: ` + expected + ` (none: it has to be set)
`

// ReadURL reads DATABASE_URL. What can never be opened is told now; whether the database is there is found out later.
func ReadURL(reader *config.Reader) string {
	return reader.Secret("DATABASE_URL", expected, func(url string) error {
		_, err := database.DriverOf(url)
		return err
	})
}
