package rest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

var errTooFew = es.Reject(es.Conflict, "too_few", "there are too few pieces")

// TestErrorsOfUseCases makes the service fail with each kind of error, wrapped in internal causes.
func TestErrorsOfUseCases(t *testing.T) {
	told := map[error]struct {
		status int
		code   string
	}{
		thread.ErrThreadNotFound:  {404, "thread_not_found"},
		thread.ErrMessageNotFound: {404, "message_not_found"},
		thread.ErrMemberNotFound:  {404, "member_not_found"},
		thread.ErrNotMember:       {403, "not_a_member"},
		thread.ErrNotAdmin:        {403, "not_an_admin"},
		thread.ErrNotSender:       {403, "not_the_sender"},
		thread.ErrThreadExists:    {409, "concurrent_update"},
		thread.ErrThreadDeleted:   {409, "thread_deleted"},
		thread.ErrAlreadyMember:   {409, "already_a_member"},
		thread.ErrNameUnchanged:   {409, "name_unchanged"},
		thread.ErrRoleUnchanged:   {409, "role_unchanged"},
		thread.ErrTextUnchanged:   {409, "text_unchanged"},
		thread.ErrLastAdmin:       {409, "last_admin"},
		es.ErrConcurrentUpdate:    {409, "concurrent_update"},
		errTooFew:                 {409, "too_few"},
		es.ErrKeyReused:           {422, "idempotency_key_reused"},
		es.ErrUnavailable:         {503, "store_unavailable"},
		es.ErrBehind:              {503, "store_unavailable"},
		context.DeadlineExceeded:  {503, "store_unavailable"},
		// not canceled by the client, which is still connected
		context.Canceled:                                         {503, "store_unavailable"},
		errors.New("a fault"):                                    {500, "internal"},
		&es.InconsistentError{Head: 2, Event: 3}:                 {500, "store_inconsistent"},
		&es.VersionMismatchError{Expected: 1, Current: 2}:        {412, "version_mismatch"},
		&ident.InvalidError{Field: "name", Reason: "is too odd"}: {422, "invalid_request"},
	}
	for err, want := range told {
		var log bytes.Buffer
		handler := handlerOf(failing(fmt.Errorf("table secret-7: %w", err)), &log)
		a := post(t, handler, "/threads/rename", fields{"executor_id": ada, "thread_id": nobody, "name": "x"}, nil)
		a.problem(t, want.status, want.code)
		if strings.Contains(a.raw, "secret-7") || strings.Contains(a.raw, "fault") {
			t.Errorf("a cause was sent to the client: %s", a.raw)
		}
		// the service logs these itself, once per batch
		if logged := strings.Contains(log.String(), "secret-7"); logged != (want.status >= 500 && want.code != "store_inconsistent") {
			t.Errorf("%v: the cause is logged: %v", err, logged)
		}
		if (a.header.Get("Retry-After") == "1") != (want.status == 503 || want.code == "concurrent_update") {
			t.Errorf("%v: Retry-After is %q", err, a.header.Get("Retry-After"))
		}
		if current := a.body["current_version"]; want.status == 412 && current != 2.0 {
			t.Errorf("the current version is %v", current)
		}
		if want.code == "invalid_request" && a.locations() != "body.name" {
			t.Errorf("invalid is %s", a.locations())
		}
	}
}

// A full disk is told as what it is: waiting does not help.
func TestAFullDiskIsTold(t *testing.T) {
	handler := handlerOf(failing(fmt.Errorf("table secret-7: %w", es.ErrFull)), io.Discard)
	a := post(t, handler, "/threads/rename", fields{"executor_id": ada, "thread_id": nobody, "name": "x"}, nil)
	a.problem(t, 503, "store_unavailable")
	if detail, _ := a.body["detail"].(string); !strings.HasPrefix(detail, "the disk of the event store is full") {
		t.Errorf("the detail is %q", detail)
	}
}

func TestAClientThatHasGoneIsNoFault(t *testing.T) {
	var log bytes.Buffer
	ctx, leave := context.WithCancel(t.Context())
	leave()
	body := strings.NewReader(`{"executor_id":"` + ada + `","thread_id":"` + nobody + `"}`)
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/threads/delete", body)
	request.Header.Set("Content-Type", "application/json")
	a := send(t, handlerOf(failing(fmt.Errorf("read: %w", context.Canceled)), &log), request)
	if a.status != 499 || strings.Contains(log.String(), `"ERROR"`) || strings.Contains(log.String(), `"status":5`) {
		t.Errorf("%d, logged %s", a.status, &log)
	}
}

func TestABodyThatBreaksOff(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(`{"executor_id":`), brokenReader{})
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/threads/delete", broken)
	request.Header.Set("Content-Type", "application/json")
	send(t, handlerOf(willing, io.Discard), request).problem(t, http.StatusBadRequest, "malformed_request")
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
