// extra:chat

package browser

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestTimeTravel(t *testing.T) {
	t.Parallel()
	install(t)
	s, p := chatting(t, 1440, 900)
	says(p, ada, "Ada", "Anyone for a cup?")
	p.shows(bob, "Anyone for a cup?")
	p.click(labelled(ada, `Edit "Anyone for a cup?"`))
	p.fill(labelled(ada, "New text"), "Anyone for a pot?\r")
	p.shows(bob, "Anyone for a pot?")
	says(p, bob, "Bob", "Gladly")
	p.shows(ada, "Gladly")

	// The journal's own event is shown at its station.
	p.click(labelled("document", "Journal"))
	p.shows(flow, `"eventId"`)

	p.click(labelled("document", "Time travel"))
	events, then, causes := within("Events"), within("The thread as it was"), within("Causes")
	p.shows(events, "message edited")
	p.shows(events, "of 5")
	p.shows(then, "Anyone for a pot?")
	p.shows(then, "Gladly")
	// Go back, by the slider and by the list.
	p.run(focus(events + ".querySelector('input[type=range]')"))
	p.press(kb.ArrowLeft, kb.ArrowLeft)
	p.shows(then, "Anyone for a cup?")
	p.showsNot(then, "Gladly")
	p.screenshot("time-travel")
	p.accessible("time travel")
	// What happens is said in words, also while it is played.
	p.click(labelled(within("Play"), "Next"))
	p.shows(events, "Ada edited “Anyone for a cup?” into “Anyone for a pot?”")
	p.click(events + ".querySelectorAll('.timeline button')[0]")
	p.shows(events, "Ada created the thread “Tea at four”")
	release := p.withhold(stateAt(3)) // each event is shown for a second only
	p.click(labelled(within("Play"), "Play"))
	p.shows(events, "Ada said “Anyone for a cup?”")
	p.click(labelled(within("Play"), "Pause"))
	release()
	p.shows(then, "Anyone for a cup?")
	p.showsNot(then, "Gladly")
	p.click(labelled(within("Play"), "Play"))
	p.shows(events, "Bob said “Gladly”")
	p.shows(then, "Gladly")
	p.eventually("the end is reached", labelled(within("Play"), "Play"))
	// New events are pushed.
	viewer := evaluate[string](p, "JSON.parse(localStorage.getItem('threads.people'))[0].id")
	thread := evaluate[string](p, `fetch('/api/read/graphql', {method: 'POST', headers: {'Content-Type': 'application/json'},
		body: JSON.stringify({query: '{ getThreads(userAccountId: "`+viewer+`") { id } }'})}).then((answer) => answer.json()).then((answer) => answer.data.getThreads[0].id)`)
	send(t, s, "/threads/post_message", map[string]any{"executor_id": viewer, "thread_id": thread, "text": "by curl"})
	p.shows(events, "Ada said “by curl”")
	p.shows(then, "by curl")
	p.click(events + ".querySelectorAll('.timeline button')[0]")
	p.showsNot(then, "Bob")
	p.shows(causes, "message posted")

	// A closed account leaves its threads: the process manager's commands in each of them are shown below its event.
	p.click(labelled("document", "Chat"))
	p.shows(ada, "Tea at four")
	p.run(chromedp.Evaluate(ada+".querySelector('details.new').open = true", nil))
	p.fill(labelled(ada, "Name of the new thread"), "Lunch\r")
	p.shows(ada, "1 person")
	p.click(labelled(ada, "1 person"))
	p.fill(labelled(ada, "Name or account id of who is to be added"), "Bob\r")
	p.shows(ada, "2 people")
	p.click(labelled(bob, "2 people"))
	p.click(labelled(bob, "Close Bob's account"))
	p.click(labelled(question, "Close Bob's account for ever"))
	p.shows(ada, "1 person")
	p.click(labelled("document", "Time travel"))
	p.shows(causes, "process/leave-on-close")
	for _, thread := range []string{"Lunch", "Tea at four"} {
		p.eventually("the account's event has led to Bob's leaving "+thread, fmt.Sprintf(`[...%s.querySelectorAll('li')].some((event) =>
			event.querySelector(':scope > b')?.innerText === '2 account closed' &&
			[...event.querySelectorAll(':scope > ul > li')].some((led) => /process.leave-on-close.* member removed %s/.test(led.innerText)))`, causes, thread))
	}
	graph := within("Graph of causes")
	p.eventually("the graph has a column for each aggregate", "new Set([..."+graph+".querySelectorAll('.node')].map((node) => node.style.left)).size === 3")
	p.eventually("the graph has an arrow to each event", graph+".querySelectorAll('path').length === 3")
	for _, text := range []string{"command of Bob", "Bob 2", "Lunch 3", "Tea at four 7"} {
		p.shows(graph, text)
	}
	p.screenshot("causes")
	p.accessible("causes")
}

// What is shown of the past stays while nobody answers, and nothing is played while nobody looks.
func TestThePastStaysWhileNobodyAnswers(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, chromium(t), s.url, 1440, 900)
	talk(p)
	thread := evaluate[string](p, "document.querySelector('.picker select').value")
	p.click(labelled("document", "Time travel"))
	events, then := within("Events"), within("The thread as it was")
	p.shows(events, "event 4 of 4")
	p.shows(then, "Yes, with milk")
	p.fetching(`
		if (globalThis.broken && /threadHistory|threadAt/.test(String(asked[1]?.body))) throw new Error('nobody answers');
		return load(...asked)`)
	p.run(evaluation("globalThis.broken = true; null", nil))
	viewer := evaluate[string](p, "JSON.parse(localStorage.getItem('threads.people'))[0].id")
	send(t, s, "/threads/post_message", map[string]any{"executor_id": viewer, "thread_id": thread, "text": "by curl"})
	p.shows(events, "nobody answers")
	p.shows(events, "event 4 of 4")
	p.shows(then, "Yes, with milk")
	p.run(evaluation("globalThis.broken = false; null", nil))
	p.click(events + ".querySelectorAll('.timeline button')[0]")
	p.showsNot(then, "Yes, with milk")
	p.showsNot(events, "nobody answers")

	p.hide(true)
	p.run(evaluation(labelled(within("Play"), "Play")+".click()", nil), chromedp.Sleep(2500*time.Millisecond))
	p.shows(events, "event 1 of 4")
	p.hide(false)
	p.shows(events, "Bob said “Yes, with milk”")
}

// stateAt is the condition for [tab.withhold] that a request asks for a thread as it was after an event. The page plays
// no further before it has the answer.
func stateAt(event int) string {
	return fmt.Sprintf("body.includes('query threadAt') && JSON.parse(body).variables.version === %d", event)
}

// long is the number of events of a long thread, 1,000 unless BROWSER_EVENTS is set.
func long(t *testing.T) int {
	t.Helper()
	count, err := strconv.Atoi(cmp.Or(os.Getenv("BROWSER_EVENTS"), "1000"))
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// fill imports messages into a thread until it has so many events, and returns when the import has ended: its own last
// event is in the journal, too.
func fill(t *testing.T, s *program, viewer, thread string, have, want int) {
	t.Helper()
	var lines strings.Builder
	for n := have + 1; n <= want; n++ {
		fmt.Fprintf(&lines, `{"path":"/threads/post_message","body":{"executor_id":%q,"thread_id":%q,"text":"m%d"}}`+"\n", viewer, thread, n)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/write/tasks/import", strings.NewReader(lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	request.Header.Set("X-Executor-Id", viewer)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		t.Fatalf("the import: %s", response.Status)
	}
	for deadline := time.Now().Add(patience + time.Duration(want)*10*time.Millisecond); !hasEnded(t, s); {
		if time.Now().After(deadline) {
			t.Fatal("the import has not ended")
		}
		<-time.After(100 * time.Millisecond)
	}
}

// hasEnded looks in the journal for the end of a task.
func hasEnded(t *testing.T, s *program) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/operate/journal?type=TaskFinished", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var found struct{ Events []any }
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("the journal: %s %v", response.Status, err)
	}
	return len(found.Events) > 0
}

// A long past is shown page by page, and all events are found.
func TestALongPast(t *testing.T) {
	t.Parallel()
	install(t)
	count := long(t)
	s, p := chatting(t, 1440, 1000)
	thread := evaluate[string](p, "document.querySelector('.picker select').value")
	viewer := evaluate[string](p, "document.querySelector('.who select').value")
	// The browser's own symbol in a field for a time.
	p.allow("data:image/svg")
	// The server cuts off who is too busy to read.
	p.allow("ERR_CONTENT_LENGTH_MISMATCH", "ERR_INCOMPLETE_CHUNKED_ENCODING")
	fill(t, s, viewer, thread, 2, count)
	p.shows(ada, fmt.Sprint("version ", count))

	p.click(labelled("document", "Events"))
	browser := within("All events")
	p.shows(browser, fmt.Sprintf("Ada said “m%d”", count))
	p.shows(browser, "100 events are shown, there may be more")
	began := time.Now()
	p.click(labelled(browser, "Earlier events"))
	p.shows(browser, "200 events are shown, there may be more")
	t.Logf("the next page of %d events: %s", count, time.Since(began))
	p.accessible("all events")
	if wide := evaluate[int](p, browser+".querySelectorAll('.filter > label').values().filter((each) => each.lastElementChild.getBoundingClientRect().right > each.getBoundingClientRect().right + 1).toArray().length"); wide > 0 {
		t.Errorf("%d fields of the filter run into the next one", wide)
	}
	p.screenshot("events")
	p.run(chromedp.Evaluate(browser+".querySelector('select').value = 'ThreadMemberAdded'; "+browser+".querySelector('select').dispatchEvent(new Event('change'))", nil))
	began = time.Now()
	p.click(labelled(browser, "Find"))
	p.shows(browser, "1 event is shown, that is all")
	p.shows(browser, "Ada added Bob as Member")
	t.Logf("one event found by type among %d: %s", count, time.Since(began))
	p.click(labelled(browser, "Tea at four"))
	p.shows(browser, "100 events are shown, there may be more")
	// Who follows sees new events at the top, without asking.
	send(t, s, "/threads/post_message", map[string]any{"executor_id": viewer, "thread_id": thread, "text": "the newest"})
	p.eventually("the newest event is the first", browser+".querySelector('tbody tr').innerText.includes('the newest')")
	p.fill(labelled(browser, "Person"), "Bob\r")
	p.shows(browser, "0 events are shown, that is all")
	p.click(labelled(browser, "All"))
	p.shows(browser, "the newest")
	p.shows(browser, "100 events are shown, there may be more") // before the answer, it shows what it has seen come
	p.run(chromedp.Evaluate("navigator.clipboard.writeText = (text) => { globalThis.copied = text; return Promise.resolve(); }", nil))
	p.click(labelled(browser, "Copy as JSON"))
	p.shows(browser, "100 events are copied")
	if copied := evaluate[int](p, "JSON.parse(globalThis.copied).filter((each) => each.event.type && each.position).length"); copied != 100 {
		t.Errorf("%d events are copied", copied)
	}

	p.click(labelled("document", "Time travel"))
	events, then := within("Events"), within("The thread as it was")
	p.shows(events, fmt.Sprintf("event %d of %d", count+1, count+1))
	p.shows(then, "the newest")
	middle := count / 2
	began = time.Now()
	p.run(chromedp.Evaluate(fmt.Sprintf(`(() => { const slider = %s.querySelector('input[type=range]'); slider.value = %d; slider.dispatchEvent(new Event('input')); })()`, events, middle), nil))
	p.shows(then, fmt.Sprintf("m%d", middle))
	p.shows(events, fmt.Sprintf("Ada said “m%d”", middle))
	t.Logf("event %d of %d: %s", middle, count, time.Since(began))
	p.eventually("the end of the messages is in view", `(() => { const list = `+then+`.querySelector('.then'); return list.lastElementChild.getBoundingClientRect().bottom <= list.getBoundingClientRect().bottom + 1; })()`)
	began = time.Now()
	p.click(labelled(within("Play"), "Next"))
	p.shows(then, fmt.Sprintf("m%d", middle+1))
	t.Logf("the next one: %s", time.Since(began))
	release := p.withhold(stateAt(middle + 201))
	p.click(labelled(within("Play"), "every 100th"))
	p.shows(events, fmt.Sprintf("Ada said “m%d”", middle+201))
	p.click(labelled(within("Play"), "Pause"))
	release()
	p.shows(then, fmt.Sprintf("m%d", middle+201))
	p.accessible("a long past")
	p.screenshot("long-past")
}
