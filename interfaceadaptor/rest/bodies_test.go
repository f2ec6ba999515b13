package rest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/usecase/chat"
)

type shade string

// Paint is a made-up command with a field of each kind, and what its request body is.
type Paint struct {
	Coats  int         `json:"coats" minimum:"1" maximum:"9" example:"2" doc:"How often."`
	Litres float64     `json:"litres" example:"2.5" doc:"How much."`
	Tins   uint8       `json:"tins" doc:"How many."`
	Glossy bool        `json:"glossy" doc:"Whether it shines."`
	Due    time.Time   `json:"due" doc:"When it must be dry."`
	Shade  shade       `json:"shade" enum:"red,green" doc:"Which colour."`
	Note   string      `json:"note,omitempty" maxLength:"5" doc:"For the painter."`
	Name   thread.Name `json:"name" minLength:"1" maxLength:"64" doc:"Of the work."`
	Member thread.Role `json:"role" enum:"Admin,Member" doc:"Whose work it is."`
}

type paintBody struct {
	OnThread
	Paint
}

func (b paintBody) asked() es.Request[Paint] {
	return es.Request[Paint]{ID: b.Thread.String(), Command: b.Paint, Name: "wall.Paint"}
}

// walls returns an API with one operation that takes bodies of type B.
func walls[B interface {
	body
	asked() es.Request[Paint]
}](service chat.Service[Paint]) http.Handler {
	return NewHandler([]Aggregate{{Name: "walls", Operations: []Operation{{
		Path: "/walls/paint", Summary: "Paint a wall", Do: Command(service, threadAnswerOf, B.asked),
	}}}}, Settings{
		Source: "write-api", Log: slog.New(slog.DiscardHandler), Timeout: time.Minute,
	})
}

func TestBodiesArePlainStructs(t *testing.T) {
	const id = `"01H42K4ABWQ5V2XQEP3A48VE0Z"`
	good := map[string]string{
		"executor_id": id, "thread_id": `{"value":` + id + `}`, "coats": "2", "litres": "-2.5e1", "tins": "255", "glossy": "true",
		"due": `"2026-02-28T13:00:00.5+01:00"`, "shade": `"green"`, "note": `"wet"`, "name": `" hall "`, "role": `"Admin"`,
	}
	var last describedRequest
	handler := walls[paintBody](taker[Paint]{last: &last})
	post := func(name, value string) (int, string) {
		var members []string
		for field, of := range good {
			if field == name {
				of = value
			}
			if of != "" {
				members = append(members, fmt.Sprintf("%q:%s", field, of))
			}
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/walls/paint", strings.NewReader("{"+strings.Join(members, ",")+"}"))
		request.Header.Set("Content-Type", MediaJSON)
		request.Header.Set(IdempotencyKey, "key")
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		return recorder.Code, recorder.Body.String()
	}
	status, answer := post("", "")
	want := Paint{2, -25, 255, true, time.Date(2026, 2, 28, 12, 0, 0, 5e8, time.UTC), "green", "wet", writing.RecordedName("hall"), thread.RoleAdmin}
	if status != http.StatusOK || last.command != want {
		t.Errorf("%d %s: %+v, want %+v", status, answer, last.command, want)
	}
	content := `{"coats":"2","due":"2026-02-28T12:00:00.5Z","executor_id":` + id + `,"glossy":"true","litres":"-25","name":"hall","note":"wet",` +
		`"role":"Admin","shade":"green","thread_id":` + id + `,"tins":"255"}`
	if last.content != content {
		t.Errorf("the content is %s, want %s", last.content, content)
	}
	if status, answer := post("note", ""); status != http.StatusOK || strings.Contains(last.content, "note") {
		t.Errorf("without an optional field: %d %s: %s", status, answer, last.content)
	}
	for field, values := range map[string][]string{
		"coats":  {"", "null", `"2"`, "2.0", "2e0", "0", "10", "99999999999999999999", "true", "{}"},
		"litres": {"", "null", `"1"`, "1e999", "[]"},
		"tins":   {"", "256", "-1", "1.5"},
		"glossy": {"", "null", "1", `"true"`, "0"},
		"due":    {"", "null", "1", `"2026-02-28"`, `"2026-02-30T00:00:00Z"`, `""`},
		"shade":  {"", "null", `"blue"`, `"Red"`, `""`},
		"note":   {"null", "1", `"too long"`, `"\ud83d"`},
		"name":   {"", "null", `" "`, `{"value":"x"}`},
		"role":   {"", "null", `"admin"`},
	} {
		for _, value := range values {
			status, answer := post(field, value)
			if status != http.StatusUnprocessableEntity || strings.Count(answer, `"location":`) != 1 || !strings.Contains(answer, `"body.`+field+`"`) {
				t.Errorf("%s: %q: %d %s", field, value, status, answer)
			}
		}
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil))
	for _, described := range []string{
		`"coats":{"description":"How often.","examples":[2],"format":"int64","maximum":9,"minimum":1,"type":"integer"}`,
		`"shade":{"description":"Which colour.","enum":["red","green"],"type":"string"}`, `"format":"date-time"`, `"type":"boolean"`, `"type":"number"`,
	} {
		if !strings.Contains(recorder.Body.String(), described) {
			t.Errorf("%s is missing in %s", described, recorder.Body)
		}
	}
}

// Bodies that can't be served for their field Bad.
type (
	unservable[F any] struct {
		By
		Bad F `json:"bad"`
	}
	nameless struct {
		By
		Bad int
	}
	twice struct {
		By
		Bad thread.ID `json:"executor_id"`
	}
	contradicting struct {
		By
		Bad thread.Role `json:"bad" enum:"Admin,Owner"`
	}
	mistyped struct {
		By
		Bad int `json:"bad" minimum:"few"`
	}
)

func (unservable[F]) asked() es.Request[Paint] { return es.Request[Paint]{} }
func (nameless) asked() es.Request[Paint]      { return es.Request[Paint]{} }
func (twice) asked() es.Request[Paint]         { return es.Request[Paint]{} }
func (contradicting) asked() es.Request[Paint] { return es.Request[Paint]{} }
func (mistyped) asked() es.Request[Paint]      { return es.Request[Paint]{} }

// A mistake in a body's type is found when the API is made, and named with its route and field.
func TestBodiesThatCantBeServed(t *testing.T) {
	for name, build := range map[string]func(chat.Service[Paint]) http.Handler{
		"slice":                     walls[unservable[[]string]],
		"map":                       walls[unservable[map[string]string]],
		"pointer":                   walls[unservable[*int]],
		"any":                       walls[unservable[any]],
		"function":                  walls[unservable[func()]],
		"struct":                    walls[unservable[struct{ A int }]],
		"context":                   walls[unservable[context.Context]],
		"no name":                   walls[nameless],
		"a name for two":            walls[twice],
		"a value that it refuses":   walls[contradicting],
		"a limit that is no number": walls[mistyped],
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				said, _ := recover().(string)
				if !strings.Contains(said, "/walls/paint") || !strings.Contains(said, "field Bad of ") {
					t.Errorf("it is built, and says %q", said)
				}
			}()
			build(nobody[Paint]{})
		})
	}
}
