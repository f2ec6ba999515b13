package tasks_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/erasure/keystoretest"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
)

// keyring has its keys in memory.
func keyring(t *testing.T) *erasure.Keyring {
	t.Helper()
	master, err := erasure.ParseMaster(strings.Repeat("A", 43) + "=") // 32 bytes of 0
	if err != nil {
		t.Fatal(err)
	}
	return erasure.NewKeyring(keystoretest.NewMemory(), master, time.Now)
}

// readable returns the content of all files, with everything opened that the existing keys open.
func (w *world) readable(t *testing.T) string {
	t.Helper()
	sealed := regexp.MustCompile("(\x01|" + `\\u0001` + ")1[0-9A-Z]{26}:[A-Za-z0-9_-]{40,}")
	var all strings.Builder
	for _, content := range w.files {
		text, before := string(content), ""
		for text != before {
			before = text
			text = sealed.ReplaceAllStringFunc(text, func(found string) string {
				opened, err := w.keys.OpenOne(t.Context(), es.Tenant(""), strings.Replace(found, `\u0001`, "\x01", 1))
				if err != nil {
					t.Fatal(err)
				}
				return opened
			})
		}
		all.WriteString(text)
	}
	return all.String()
}

// Lines in the name of another account can't be read any more when that account is erased.
func TestLinesInTheNameOfOthers(t *testing.T) { testenv.Bubble(t, testLinesInTheNameOfOthers) }

func testLinesInTheNameOfOthers(t *testing.T) {
	w := newWorld()
	w.keys = keyring(t)
	line := func(author fmt.Stringer, text string) string {
		return fmt.Sprintf(`{"path":"/say","body":{"executor_id":"%s","key":"1","text":"%s"}}`+"\n", author, text)
	}
	forged := "\x01" + "1" + bob.String() + ":AAAA\n" + `{"sealed":"\u00011` + bob.String() + ":AAAA\",\"text\":\"!\"}\n"
	input := line(ada, "adas") + line(bob, "bobs") + line(bob, "bobs rejected!") + line(ada, "adas rejected!") + forged + line(bob, "last")
	begin := func() task.ID {
		t.Helper()
		asked := asked()
		asked.Principal.ActsForOthers = true
		result, err := w.store().Import(t.Context(), asked, strings.NewReader(input))
		return created(t, result, err)
	}
	contains := func(when, text string, want bool, words ...string) {
		t.Helper()
		for _, word := range words {
			if strings.Contains(text, word) != want {
				t.Errorf("%s: %q is there: %t, in %s", when, word, !want, text)
			}
		}
	}

	first, rejection := begin(), problemOf(t, ident.Conflict("rejected", w.problem))
	contains("before", w.readable(t), true, "bobs", "last", "bobs rejected", "adas rejected")
	_, rejected := w.finish(t, first)
	contains("before", rejected, true, `{"line":3,"request":{"path":"/say","body":{"executor_id":"`+bob.String()+`","key":"1","text":"bobs rejected!"}},"problem":`+rejection+`}`,
		`{"line":4,"request":{"path":"/say","body":{"executor_id":"`+ada.String()+`","key":"1","text":"adas rejected!"}}`, `{"line":6,"request":{"sealed":`)
	contains("before", rejected, false, "last", `"bobs"`)
	contains("before", w.readable(t), true, "bobs rejected", "adas rejected")
	if want := "1:adas 1:bobs 1:last"; strings.Join(w.order, " ") != want {
		t.Errorf("applied %v", w.order)
	}
	waiting := begin() // is erased before it is done
	if err := w.keys.Destroy(t.Context(), es.Tenant(""), bob.String()); err != nil {
		t.Fatal(err)
	}
	late := begin()
	contains("erased", w.readable(t), false, "bobs", "last")
	contains("erased", w.readable(t), true, "adas rejected")
	for _, id := range []task.ID{waiting, late} {
		_, rejected := w.finish(t, id)
		contains("erased", rejected, true, `{"line":2,"request":"[erased]","problem":`+problemOf(t, account.ErrAccountErased)+`}`, "adas rejected")
		contains("erased", rejected, false, "bobs", "last")
	}
	_, rejected = w.finish(t, first)
	contains("erased later", rejected, true, `{"line":3,"request":"[erased]","problem":`+rejection+`}`)
	contains("erased", w.readable(t), false, "bobs", "last")
}

// A task may erase its creator. It has succeeded then, too.
func TestATaskThatErasesItsCreator(t *testing.T) { testenv.Bubble(t, testATaskThatErasesItsCreator) }

func testATaskThatErasesItsCreator(t *testing.T) {
	for about, begin := range map[string]func(tasks.Store) (es.Result, error){
		"a command": func(s tasks.Store) (es.Result, error) {
			return s.Later(t.Context(), "/say", saying(`{"text":"forget me"}`))
		},
		"an import": func(s tasks.Store) (es.Result, error) {
			return s.Import(t.Context(), asked(), strings.NewReader(`{"path":"/say","body":{"key":"1","text":"forget me"}}`+"\n"+`{}`))
		},
	} {
		w := newWorld()
		w.keys = keyring(t)
		w.onSay = func(say) error { return w.keys.Destroy(t.Context(), es.Tenant(""), ada.String()) }
		result, err := begin(w.store())
		found, answer := w.finish(t, created(t, result, err))
		if found.Status != task.Succeeded || found.Done != found.Total || len(w.order) != 1 || answer != `"[erased]"`+"\n" {
			t.Errorf("%s: %+v, %s", about, found.Row, answer)
		}
	}
}

// A task may end after it has destroyed a key, and before the account is closed. The next attempt must close it, though
// it can't read the input any more.
func TestAnErasureIsCompleted(t *testing.T) { testenv.Bubble(t, testAnErasureIsCompleted) }

func testAnErasureIsCompleted(t *testing.T) {
	line := func(who ident.UserID) string {
		return fmt.Sprintf(`{"path":%q,"body":{"executor_id":%q}}`, erasure.Path, who)
	}
	command := func(s tasks.Store) (es.Result, error) {
		return s.Later(t.Context(), erasure.Path, saying(fmt.Sprintf(`{"executor_id":%q}`, ada)))
	}
	for about, c := range map[string]struct {
		who    ident.UserID
		status task.Status
		begin  func(tasks.Store) (es.Result, error)
	}{
		"a command": {ada, task.Succeeded, command},
		"an import": {ada, task.Failed, func(s tasks.Store) (es.Result, error) {
			return s.Import(t.Context(), asked(), strings.NewReader(line(ada)))
		}},
		"an import in the name of another": {bob, task.Succeeded, func(s tasks.Store) (es.Result, error) {
			asked := asked()
			asked.Principal.ActsForOthers = true
			return s.Import(t.Context(), asked, strings.NewReader(line(bob)))
		}},
	} {
		w := newWorld()
		w.keys = keyring(t)
		w.busy = 8 // longer than an attempt
		result, err := c.begin(w.store())
		found, _ := w.finish(t, created(t, result, err))
		if want := []string{"closed:" + c.who.String()}; found.Status != c.status || !slices.Equal(w.order, want) {
			t.Errorf("%s: %+v, %q", about, found.Row, w.order)
		}
	}

	w := newWorld()
	w.keys, w.busy = keyring(t), 8
	w.onSay = func(say) error { return ident.Conflict("rejected", "not now") }
	result, err := command(w.store())
	if found, _ := w.finish(t, created(t, result, err)); found.Status != task.Failed || found.Message != "not now" {
		t.Errorf("refused: %+v", found.Row)
	}
}

// Sealed content does not compress, so a part must be small enough for an item of DynamoDB as it is.
func TestAPartOfAResultFitsIntoAnItem(t *testing.T) {
	testenv.Bubble(t, testAPartOfAResultFitsIntoAnItem)
}

func testAPartOfAResultFitsIntoAnItem(t *testing.T) {
	const item = 380_000 // what the gateway stores, after it has undone the base64
	unknown := func(count int, name string) string {
		return strings.TrimSuffix(strings.Repeat(`"`+name+`":1,`, count), ",")
	}
	inputs := map[string]string{
		"control characters":   strings.Repeat("\x02", tasks.MaxLine),
		"no UTF-8":             strings.Repeat("\xff", tasks.MaxLine),
		"line separators":      strings.Repeat("\u2028", tasks.MaxLine/3),
		"the longest names":    `{"path":"/say","body":{` + unknown(20, strings.Repeat("x", tasks.MaxLine/21)) + `}}`,
		"each needs much":      strings.Repeat(`{"path":"/fill","body":{}}`+"\n", 500),
		"each may need much":   strings.Repeat(`{"path":"/fill","body":{"a":0,"b":0,"c":0,"d":0,"e":0}}`+"\n", 500),
		"short, and then long": strings.Repeat(`{"":1,"":1,"":1,"":1,"":1,"":1}`+"\n", 290) + strings.Repeat("\xff", tasks.MaxLine),
	}
	for _, count := range []int{1, 4, 6, 8, 10, 15} {
		inputs[fmt.Sprintf("%d unknown members", count)] = strings.Repeat(`{`+unknown(count, "")+"}\n", 500)
	}
	for _, author := range []fmt.Stringer{ada, bob} {
		inputs["in the name of "+author.String()] = strings.Repeat(fmt.Sprintf(`{"path":"/say","body":{"executor_id":"%s"}}`+"\n", author), 500)
	}
	for about, input := range inputs {
		w := newWorld()
		w.keys = keyring(t)
		asked := asked()
		asked.Principal.ActsForOthers = true
		result, err := w.store().Import(t.Context(), asked, strings.NewReader(input))
		if found, _ := w.finish(t, created(t, result, err)); found.Status != task.Succeeded || found.Rejected != found.Total {
			t.Errorf("%s: %+v", about, found.Row)
		}
		for name, content := range w.files {
			if size := len(content) / 4 * 3; size > item {
				t.Errorf("%s: %s has %d bytes", about, name, size)
			}
		}
	}
}
