package thread_test

import (
	"strings"
	"testing"

	"example.com/threads/domain/thread"
)

func TestParseCode(t *testing.T) {
	for input, valid := range map[string]bool{
		"THREAD-000001": true, "THREAD-2026-1000000": true, "x": true, strings.Repeat("x", 64): true,
		"": false, " ": false, "THREAD 1": false, "a\n": false, "茶": false, strings.Repeat("x", 65): false,
	} {
		want := ""
		if valid {
			want = input
		}
		code, err := thread.ParseCode(input)
		checkParsed(t, "code", code.String(), err, want, !valid)
	}
}
