package database_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"example.com/threads/es/database"
)

// Statements below a recorded span get spans without their values; others get none.
func TestStatementsHaveSpans(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	db, err := database.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "traced.db"), database.Settings{Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE words (word TEXT)"); err != nil {
		t.Fatal(err)
	}
	ctx, parent := tracer.Tracer("test").Start(t.Context(), "parent")
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO words VALUES (?)", "secret")
	if err := errors.Join(err, tx.Commit()); err != nil {
		t.Fatal(err)
	}
	var words []string
	if err := db.SelectContext(ctx, &words, "SELECT word FROM words"); err != nil || !slices.Equal(words, []string{"secret"}) {
		t.Fatalf("%q, %v", words, err)
	}
	if _, err := db.ExecContext(ctx, "DELETE FROM nowhere"); err == nil {
		t.Fatal("the statement on a missing table succeeded")
	}

	var got []string
	for _, span := range spans.Ended() {
		if span.Parent().SpanID() != parent.SpanContext().SpanID() {
			t.Errorf("%s is not below the recorded span", span.Name())
		}
		text := ""
		for _, attribute := range span.Attributes() {
			text += attribute.Value.AsString()
		}
		got = append(got, span.Name()+"|"+text+"|"+span.Status().Code.String())
	}
	want := []string{
		"sql.conn.begin_tx||Unset", "INSERT|INSERT INTO words VALUES (?)|Unset", "sql.tx.commit||Unset",
		"SELECT|SELECT word FROM words|Unset", "DELETE|DELETE FROM nowhere|Error",
	}
	if !slices.Equal(got, want) {
		t.Errorf("spans %q", got)
	}
}
