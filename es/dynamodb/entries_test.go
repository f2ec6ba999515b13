package dynamodb_test

import (
	"errors"
	"net/http"
	"testing"

	"example.com/threads/es"
)

func TestWhatCameBeforeAFailingPageIsYielded(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 500)
	s.transport.Clear()
	s.transport.On("Query", 1, func(call Call) (*http.Response, error) {
		s.transport.On("Query", Forever, Refuse(http.StatusInternalServerError, "InternalServerError"))
		return call.Send()
	})
	last, err := readAll(t, gateway, id, 500)
	wantUnavailable(t, err)
	if last == 0 || last == 500 {
		t.Errorf("read up to %d", last)
	}
}

func TestKeysThatWereLeftOverAreAskedForAgain(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 300)
	leaveOver := Edit(func(_ Call, answer map[string]any) {
		responses := answer["Responses"].(map[string]any)
		found := responses[s.journal].([]any)
		var keys []any
		for _, left := range found[len(found)/3:] {
			event := left.(map[string]any)
			keys = append(keys, map[string]any{"pkey": event["pkey"], "skey": event["skey"]})
		}
		responses[s.journal] = found[:len(found)/3]
		answer["UnprocessedKeys"] = map[string]any{s.journal: map[string]any{"Keys": keys, "ConsistentRead": true}}
	})

	s.hideEntries(func(seqNr uint64) bool { return seqNr > 10 })
	s.transport.On("BatchGetItem", 12, leaveOver)
	if last, err := readAll(t, gateway, id, 300); last != 300 || err != nil {
		t.Errorf("read up to %d: %v", last, err)
	}

	s.hideEntries(func(seqNr uint64) bool { return seqNr > 10 })
	s.transport.On("BatchGetItem", Forever, leaveOver) // a third of the keys each time, down to none
	last, err := readAll(t, gateway, id, 300)
	wantUnavailable(t, err)
	if last != 10 {
		t.Errorf("read up to %d", last)
	}
}

func TestAHeadOfAnyVersionIsToldToBeWrong(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 3)
	_, err := readAll(t, gateway, id, 1<<40)
	var wrong *es.InconsistentError
	if !errors.As(err, &wrong) || *wrong != (es.InconsistentError{ID: id, Head: 1 << 40, Event: 4}) {
		t.Error(err)
	}
}

func TestAnswersStaySmall(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 400)
	s.transport.Clear()
	if last, err := readAll(t, gateway, id, 400); last != 400 || err != nil {
		t.Fatalf("read up to %d: %v", last, err)
	}
	if pages := len(s.transport.Calls("Query")); pages < 3 || pages > 6 {
		t.Errorf("400 small entries came in %d pages", pages)
	}
	if gets := len(s.transport.Calls("BatchGetItem")); gets != 0 {
		t.Errorf("%d reads by key although the index shows everything", gets)
	}
}
