package thread_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
)

func TestParseNameAndText(t *testing.T) {
	for _, c := range []struct {
		about          string
		input          string
		name, text     string // as parsed
		noName, noText bool
	}{
		{about: "plain", input: "tea", name: "tea", text: "tea"},
		{about: "trimmed", input: "\t tea \n", name: "tea", text: "tea"},
		{about: "empty", input: "", noName: true, noText: true},
		{about: "white space alone", input: " \t\n\u3000", noName: true, noText: true},
		{about: "64 code points", input: strings.Repeat("茶", 64), name: strings.Repeat("茶", 64), text: strings.Repeat("茶", 64)},
		{about: "64 code points between spaces", input: " " + strings.Repeat("🍵", 64) + " ", name: strings.Repeat("🍵", 64), text: strings.Repeat("🍵", 64)},
		{about: "65 code points", input: strings.Repeat("茶", 65), noName: true, text: strings.Repeat("茶", 65)},
		{about: "4,000 code points", input: strings.Repeat("🍵", 4000), noName: true, text: strings.Repeat("🍵", 4000)},
		{about: "4,001 code points", input: strings.Repeat("🍵", 4001), noName: true, noText: true},
		{about: "newline and tab inside", input: "a\n\tb", noName: true, text: "a\n\tb"},
		{about: "carriage return inside", input: "a\rb", noName: true, noText: true},
		{about: "zero byte inside", input: "a\x00b", noName: true, noText: true},
		{about: "C1 control inside", input: "a\u0085b", noName: true, noText: true},
		{about: "delete inside", input: "a\x7fb", noName: true, noText: true},
		{about: "broken UTF-8", input: "a\xffb", noName: true, noText: true},
		{about: "joined emoji", input: "👩‍🚀", name: "👩‍🚀", text: "👩‍🚀"},
	} {
		t.Run(c.about, func(t *testing.T) {
			name, err := writing.ParseName(c.input)
			checkParsed(t, "name", name.String(), err, c.name, c.noName)
			text, err := thread.ParseText(c.input)
			checkParsed(t, "text", text.String(), err, c.text, c.noText)
		})
	}
}

func checkParsed(t *testing.T, field, got string, err error, want string, invalid bool) {
	t.Helper()
	var reason *ident.InvalidError
	if errors.As(err, &reason) != invalid || invalid && reason.Field != field {
		t.Errorf("%s: got error %v", field, err)
	}
	if got != want {
		t.Errorf("%s: got %q", field, got)
	}
}

func TestParseID(t *testing.T) {
	const canonical = "01H42KBHCW1BZG504J4ZXKA2F2"
	for input, want := range map[string]string{
		canonical:                              canonical,
		strings.ToLower(canonical):             canonical,
		"01890535-c59c-72d5-08a8-dcea316374c8": "01H42KBHCWEBAGHA6WX8RP6X68",
		"01890535-C59C-72D5-08A8-DCEA316374C8": "01H42KBHCWEBAGHA6WX8RP6X68",
		"":                                     "",
		canonical[1:]:                          "",
		canonical + "0":                        "",
		"81H42KBHCW1BZG504J4ZXKA2F2":           "", // needs more than 128 bits
		"01H42KBHCW1BZG504J4ZXKA2FU":           "", // U is not a Crockford character
		"00000000000000000000000000":           "", // the zero id
		"00000000-0000-0000-0000-000000000000": "",
		"01890535xc59c-72d5-08a8-dcea316374c8": "",
		"01890535-c59c-72d5-08a8-dcea316374cg": "",
		"01890535-c59c-72d5-08a8-dcea31637-c8": "",
		"thread-" + canonical:                  "",
	} {
		id, err := ident.Parse[thread.Thread](input)
		var invalid *ident.InvalidError
		if id.String() != want || errors.As(err, &invalid) != (want == "") || id.IsZero() != (want == "") {
			t.Errorf("%q: got %q, %v", input, id, err)
		}
	}
}

func TestParseRole(t *testing.T) {
	for _, role := range []thread.Role{thread.RoleAdmin, thread.RoleMember} {
		if got, err := thread.ParseRole(role.String()); got != role || err != nil {
			t.Errorf("%s: got %s, %v", role, got, err)
		}
	}
	for _, text := range []string{"", "admin", "ADMIN", "Owner"} {
		var invalid *ident.InvalidError
		if got, err := thread.ParseRole(text); !errors.As(err, &invalid) || got != (thread.Role{}) {
			t.Errorf("%q: got %s, %v", text, got, err)
		}
	}
}
