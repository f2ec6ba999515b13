package rowstore

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
)

// On a large file, pages would otherwise take ever longer.
func TestAPageBeginsAtItsPlaceInTheIndex(t *testing.T) {
	db, err := database.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "rows.db"), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := migration.Up(t.Context(), db, Schema()); err != nil {
		t.Fatal(err)
	}
	store, err := New(db, "rows")
	if err != nil {
		t.Fatal(err)
	}
	var plan []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	where, keys := store.beyond("", es.AggregateID{Type: "order", ID: "01H42K4ABWQ5V2XQEP3A48VE0Z"})
	err = db.SelectContext(t.Context(), &plan, "EXPLAIN QUERY PLAN SELECT * FROM projection_positions WHERE "+ofSet+" AND "+where,
		slices.Concat(store.set(), keys, []any{500})...)
	if err != nil || !strings.Contains(plan[0].Detail, ">(?,?,?)") {
		t.Errorf("%+v, %v", plan, err)
	}
}
