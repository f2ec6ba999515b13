package rest_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestBodiesThatAreNotJSON(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	for _, body := range []string{
		"", " ", "{", `{"name":`, `{"name":"x"} {}`, `{"name":"x"}x`, "{\"name\":\"\xff\"}", "\xef\xbb\xbf{}", `{'name':'x'}`, `{"a":1,}`,
		`{"name":"a` + "\x00" + `"}`, "{\"name\":\"a\nb\"}", `{"n":01}`, `nul`, strings.Repeat("[", 60000), strings.Repeat(`{"a":`, 10000), `{"name":"\u12"}`,
	} {
		post(t, handler, "/threads/create", body, nil).problem(t, http.StatusBadRequest, "malformed_request")
	}
}

func TestBodiesThatAreNoObjects(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	for _, body := range []string{"null", "[]", "7", `"x"`, "true", "1e999999", `[{"name":"x"}]`} {
		a := post(t, handler, "/threads/create", body, nil)
		a.problem(t, http.StatusUnprocessableEntity, "invalid_request")
		if a.locations() != "body" {
			t.Errorf("%s: %s", body, a.raw)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	for raw, valid := range map[string]bool{
		`"01H42K4ABWQ5V2XQEP3A48VE0Z"`:                     true,
		`"01h42k4abwq5v2xqep3a48ve0z"`:                     true,
		`"01890535-c59c-72d5-08a8-dcea316374c8"`:           true,
		`{"value":"01H42K4ABWQ5V2XQEP3A48VE0Z"}`:           true,
		`{"value":"01890535-c59c-72d5-08a8-dcea316374c8"}`: true,
		`{"value":"01H42K4ABWQ5V2XQEP3A48VE0Z","x":1}`:     false,
		`{"value":"` + ada + `","value":"` + ada + `"}`:    false,
		`{"value":{"value":"` + ada + `"}}`:                false,
		`{"Value":"` + ada + `"}`:                          false,
		`{}`:                                               false,
		`null`:                                             false,
		`["` + ada + `"]`:                                  false,
		`1e400`:                                            false,
		`""`:                                               false,
		`" 01H42K4ABWQ5V2XQEP3A48VE0Z"`:                    false,
		`"01H42K4ABWQ5V2XQEP3A48VE0U"`:                     false, // U is not a Crockford character
		`"8ZZZZZZZZZZZZZZZZZZZZZZZZZ"`:                     false, // more than 128 bits
		`"00000000000000000000000000"`:                     false,
		`"00000000-0000-0000-0000-000000000000"`:           false,
		`"01890535c59c72d508a8dcea316374c8"`:               false,
		`"01H42K4ABWQ5V2XQEP3A48VE0\ud83d"`:                false,
		`"` + strings.Repeat("0", 4000) + `"`:              false,
		strings.Repeat(`{"value":`, 500) + `1` + strings.Repeat("}", 500): false,
	} {
		a := post(t, handler, "/threads/delete", `{"executor_id":"`+ada+`","thread_id":`+raw+`}`, nil)
		if valid {
			a.problem(t, http.StatusNotFound, reached)
			continue
		}
		a.problem(t, http.StatusUnprocessableEntity, "invalid_request")
		if a.locations() != "body.thread_id" {
			t.Errorf("%s: %s", raw, a.raw)
		}
	}
}

func TestNamesAndTexts(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	for _, test := range []struct {
		raw        string // between the quotes of a JSON string
		name, text bool
	}{
		{"x", true, true},
		{strings.Repeat("x", 64), true, true},
		{strings.Repeat("x", 65), false, true},
		{strings.Repeat("茶", 64), true, true},
		{strings.Repeat("茶", 65), false, true},
		{strings.Repeat(`\ud83d\ude00`, 64), true, true},
		{strings.Repeat("😀", 4000), false, true},
		{strings.Repeat("😀", 4001), false, false},
		{"   " + strings.Repeat("x", 64) + `\n\t `, true, true},
		{"", false, false},
		{` \t\n `, false, false},
		{`\u3000\u2003`, false, false},
		{`\u0085`, false, false}, // next line is white space, so alone it is empty
		{`a\u0085b`, false, false},
		{`a\nb`, false, true},
		{`a\tb`, false, true},
		{`a\rb`, false, false},
		{`a\r\nb`, false, false},
		{`a\u0000b`, false, false},
		{`a\u001bb`, false, false},
		{`a\u007fb`, false, false},
		{`\ud800`, false, false},
		{`a\udc00\ud800b`, false, false},
		{`\udc00\udc01`, false, false},
		{`\ud83d\u0041`, false, false},
		{`\ud83d\\ude00`, false, false},
		{`\ud83d\\\ude00`, false, false},
		{`\\ud83d`, true, true}, // a backslash and five letters
		{`\ufffd`, true, true},
		{`\/\"`, true, true},
	} {
		for path, valid := range map[string]bool{"/threads/rename": test.name, "/threads/post_message": test.text} {
			field := map[string]string{"/threads/rename": "name", "/threads/post_message": "text"}[path]
			a := post(t, handler, path, `{"executor_id":"`+ada+`","thread_id":"`+nobody+`","`+field+`":"`+test.raw+`"}`, nil)
			if valid {
				a.problem(t, http.StatusNotFound, reached)
				continue
			}
			a.problem(t, http.StatusUnprocessableEntity, "invalid_request")
			if a.locations() != "body."+field {
				t.Errorf("%s %.40s: %s", field, test.raw, a.raw)
			}
		}
	}
}

func TestAllInvalidFieldsAtOnce(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	for body, locations := range map[string]string{
		`{}`: "body.executor_id body.thread_id body.user_account_id body.role",
		`{"executor_id":1,"thread_id":[],"user_account_id":null,"role":"admin"}`:                                                   "body.executor_id body.thread_id body.user_account_id body.role",
		`{"zzz":{"deep":[1,{}]},"executor_id":"` + ada + `","thread_id":"` + nobody + `","role":{}}`:                               "body.user_account_id body.role body.zzz",
		`{"role":"Admin","role":"Admin","executor_id":"` + ada + `","thread_id":"` + nobody + `","user_account_id":"` + bob + `"}`: "body.role",
		`{"Role":"Admin","executor_id":"` + ada + `","thread_id":"` + nobody + `","user_account_id":"` + bob + `"}`:                "body.role body.Role",
	} {
		a := post(t, handler, "/threads/add_member", body, nil)
		a.problem(t, http.StatusUnprocessableEntity, "invalid_request")
		if got, want := strings.Fields(a.locations()), strings.Fields(locations); !slices.Equal(sorted(got), sorted(want)) {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}

// Thousands of unknown fields must not make an answer that is much larger than the body.
func TestOnlyTheFirstUnknownFieldsAreNamed(t *testing.T) {
	const maxUnknown = 20
	handler := handlerOf(willing, io.Discard)
	for count, want := range map[int]int{maxUnknown: maxUnknown, maxUnknown + 1: maxUnknown + 1, 5000: maxUnknown + 1} {
		body := `{` + strings.Repeat(`"a":1,`, count) + `"executor_id":"` + ada + `","name":"tea"}`
		a := post(t, handler, "/threads/create", body, nil)
		a.problem(t, http.StatusUnprocessableEntity, "invalid_request")
		if got := strings.Fields(a.locations()); len(got) != want {
			t.Errorf("%d unknown fields: %d places are named", count, len(got))
		}
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// FuzzBody sends any body. It must never cause an internal error, and the service must get exactly the fields.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"executor_id":"` + ada + `","thread_id":{"value":"` + nobody + `"},"text":"hi"}`,
		`{"executor_id":"` + ada + `","thread_id":"` + nobody + `","text":"\ud83d\ude00","text":""}`,
		`{"text":"\ud800\\","thread_id":{"value":{}}}`, `[{"a":[]}]`, `{"":{}}`, `null`, `{"text":"\`, "\xff", `{"text":"` + strings.Repeat("x", 5000) + `"}`,
	} {
		f.Add(seed)
	}
	handler := handlerOf(willing, io.Discard)
	f.Fuzz(func(t *testing.T, body string) {
		a := post(t, handler, "/threads/post_message", body, nil)
		switch a.status {
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		case http.StatusNotFound:
			var members map[string]any
			if err := json.Unmarshal([]byte(body), &members); err != nil {
				t.Fatalf("%q was accepted, but is not JSON: %v", body, err)
			}
			if names := slices.Sorted(maps.Keys(members)); !slices.Equal(names, []string{"executor_id", "text", "thread_id"}) {
				t.Fatalf("%q was accepted with %v", body, names)
			}
		default:
			t.Fatalf("%q: %d %s", body, a.status, a.raw)
		}
	})
}
