package lab_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/lab"
)

// A page that has been closed no longer asks for the hold.
func TestAHoldEndsUnlessItIsAskedForAgain(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		l := lab.New()
		holds := func() bool {
			answer := httptest.NewRecorder()
			l.Handler("", nil).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/state", nil))
			return strings.Contains(answer.Body.String(), `"hold_ms":3000`)
		}
		for range 10 {
			set(t, l, `{"hold_ms":3000}`)
			<-time.After(5 * time.Second)
			if !holds() {
				t.Fatal("the hold has ended, although it is asked for")
			}
		}
		<-time.After(10 * time.Second)
		if holds() {
			t.Error("the hold goes on")
		}
	})
}
