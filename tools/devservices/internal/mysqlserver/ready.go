package mysqlserver

import (
	"context"
	"database/sql"
	"time"

	_ "github.com/go-sql-driver/mysql" // registers the driver "mysql"
)

// Ready logs in and selects the database: the server can be up before its first statements ran.
func Ready(port int) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		db, err := sql.Open("mysql", DSN(port, Database))
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		return db.PingContext(ctx)
	}
}
