package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

// The server of the read model dies in the middle of a transaction, and a replica that lacks the last ones takes its
// address. The rows must be right in the end, also those of what has not changed since.
func TestFailoverInATransaction(t *testing.T) {
	startsPrograms(t)
	for name, store := range map[string]func(*testing.T) []string{"a stream": dynamoDB, "a queue": oneMySQL} {
		t.Run(name, func(t *testing.T) {
			one, other := mariaDBs(t)
			where := newAddress(t, one)
			// Without VERIFY_RATE, which would find and mend what is missing.
			s := threePrograms(t, append(store(t), "DATABASE_URL="+urlAt(where.at), "VERIFY_RATE=0"))

			ada := s.person("")
			create := func(name string) (thread string) {
				created := ada.command(t, "/threads/create", fields{"name": name})
				ada.view(t, created.text("thread_id"), token(created))
				return created.text("thread_id")
			}
			quiet, busy := create("quiet"), create("busy")
			post := func(thread string) answer {
				return ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "hello"})
			}
			arrives := func(thread string, posted answer) {
				t.Helper()
				testenv.Eventually(t, 40*time.Second, func() error {
					view, errs, err := ada.tryView(t.Context(), thread, token(posted))
					if err != nil || len(errs) > 0 || view.Version < posted.version() {
						return fmt.Errorf("version %d of %d: %w %+v", view.Version, posted.version(), err, errs)
					}
					return nil
				})
			}

			// A planned one. The connection with the lock, if the updater has it still, stays open: it must not keep
			// the updater from going on.
			arrives(busy, post(busy))
			one.run(t, "SET GLOBAL read_only = 1")
			other.awaitLevel(t, one)
			other.promote(t)
			where.lead(other)
			one.cut(t, "NOT id <=> IS_USED_LOCK(CONCAT('updater.', MD5('threads')))")
			one.follow(t, other, 0)
			arrives(busy, post(busy))

			// The replica stops: it lacks what follows.
			one.awaitLevel(t, other)
			one.run(t, "STOP SLAVE")
			lost := post(quiet)
			arrives(quiet, lost)
			db := other.open(t)
			blocks, err := db.BeginTxx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = blocks.Rollback() }()
			if _, err := blocks.ExecContext(t.Context(), "UPDATE threads SET name = 'blocked' WHERE id = ?", busy); err != nil {
				t.Fatal(err)
			}
			inHand := post(busy)
			testenv.Eventually(t, 20*time.Second, func() error {
				var waiting int
				<-time.After(200 * time.Millisecond) // the server renews the table once it has not been read for 100 ms
				err := db.GetContext(t.Context(), &waiting, "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")
				if err == nil && waiting == 0 {
					err = errors.New("no transaction is under way")
				}
				return err
			})
			other.kill(t)
			one.promote(t)
			where.lead(one)
			arrives(busy, inHand)
			arrives(quiet, lost)
			s.operate(t, allIsWell, "rows", "verify")
			arrives(busy, post(busy))
		})
	}
}
