package sqlstore_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

func TestExpiredFilesArePruned(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		now := time.Now()
		add := func(tenant, file string, parts uint64, expires time.Time) {
			t.Helper()
			for number := range parts {
				if err := gateway.PutPart(t.Context(), tenant, file, number, []byte("content"), expires); err != nil {
					t.Fatal(err)
				}
			}
		}
		add("", "young", 1, now.Add(time.Hour))
		add("", "old", 3, now.Add(-time.Hour))
		add("acme", "old", 2, now.Add(-time.Hour))
		add("acme", "older", 1, now.Add(-2*time.Hour))
		for _, dryRun := range []bool{true, false} {
			if pruned, err := gateway.PruneSpool(t.Context(), now, dryRun); err != nil || pruned != 6 {
				t.Errorf("dry run %t: %d pruned, %v", dryRun, pruned, err)
			}
		}
		if pruned, err := gateway.PruneSpool(t.Context(), now, false); err != nil || pruned != 0 {
			t.Errorf("again: %d pruned, %v", pruned, err)
		}
		if _, found, err := gateway.Part(t.Context(), "", "young", 0); !found || err != nil {
			t.Errorf("a part that has not expired: %t, %v", found, err)
		}
	})
}
