// extra:chat

package browser

import (
	"fmt"
	"testing"
)

var (
	everything = within("In the whole system")
	openEvent  = within("Event")
)

const carol = "01BX5ZZKBKACTAV9WEVGEMMVS0"

func TestTheMapShowsWhatOthersDo(t *testing.T) {
	t.Parallel()
	install(t)
	s, p := chatting(t, 1440, 1100)
	p.shows(everything, "all in the rows")
	thread := evaluate[string](p, "document.querySelector('.picker select').value")
	viewer := evaluate[string](p, "document.querySelector('.who select').value")

	// Another client writes to the thread that is shown: the map knows the event, although this page has sent no
	// command.
	send(t, s, "/threads/post_message", map[string]any{"executor_id": viewer, "thread_id": thread, "text": "by curl"})
	p.shows(writeSide, "3 message posted Ada")
	p.shows(theMap, "journal 3, projection 3: no distance")
	p.shows(everything, "Tea at four 3 message posted")

	// And to a thread that this page can't show.
	send(t, s, "/accounts/register", map[string]any{"executor_id": carol, "name": "Carol"})
	created := send(t, s, "/threads/create", map[string]any{"executor_id": carol, "name": "Secrets"})
	send(t, s, "/threads/post_message", map[string]any{"executor_id": carol, "thread_id": created["thread_id"], "text": "unseen"})
	p.shows(everything, "Secrets 2 message posted Carol, post message")
	p.shows(everything, "all in the rows")
	p.accessible("the events of the whole system")
	p.screenshot("whole-system")
	p.click(everything + ".querySelector('li:last-child button')")
	for _, text := range []string{"Carol said “unseen”", "the command of Carol", "threads", "messages", `"text": "unseen"`, `"correlation_id"`} {
		p.shows(openEvent, text)
	}
	p.accessible("an event")
	p.screenshot("event")
	p.click(labelled(openEvent, "Close"))

	// A process manager's command names the event that caused it.
	send(t, s, "/threads/add_member", map[string]any{"executor_id": viewer, "thread_id": thread, "user_account_id": carol, "role": "Member"})
	send(t, s, "/accounts/close", map[string]any{"executor_id": carol})
	p.shows(everything, "Secrets 3 thread deleted")
	p.shows(everything, "Tea at four 5 member removed") // the list moves no more
	p.click("[..." + everything + ".querySelectorAll('button')].find((each) => each.innerText.startsWith('Carol 2'))")
	p.shows(openEvent, "Carol closed the account")
	p.shows(openEvent, "Led to")
	p.click("[..." + openEvent + ".querySelectorAll('button')].find((each) => each.innerText.startsWith('Tea at four'))")
	p.shows(openEvent, "Carol left")
	p.shows(openEvent, "Caused by\nCarol 2 account closed")
	p.click(labelled(openEvent, "Close"))

	// A tab that was hidden has missed events. It shows nothing as ahead that is in the rows, and finds all of them.
	p.click(labelled("document", "Events"))
	events := within("All events")
	p.shows(events, "that is all") // it is not read again before the tab is shown
	p.hide(true)
	for n := range 3 {
		send(t, s, "/threads/post_message", map[string]any{"executor_id": viewer, "thread_id": thread, "text": fmt.Sprint("unwatched ", n)})
	}
	until(p, "they are in the rows", fmt.Sprintf(`fetch('/api/read/graphql', {method: 'POST', headers: {'Content-Type': 'application/json'},
		body: JSON.stringify({query: '{ getThread(threadId: %q, userAccountId: %q) { version } }'})}).then((answer) => answer.json()).then((answer) => answer.data.getThread.version)`,
		thread, viewer), func(version int) bool { return version == 8 })
	p.showsNot(events, "unwatched 0")
	p.hide(false)
	p.shows(events, "unwatched 0")
	p.showsNot(events, "More events come than can be shown")
	send(t, s, "/threads/post_message", map[string]any{"executor_id": viewer, "thread_id": thread, "text": "watched again"})
	p.shows(events, "watched again")
	p.click(labelled("document", "Chat"))
	p.shows(ada, "unwatched 2")
	p.shows(everything, "Tea at four 9 message posted")
	p.shows(everything, "all in the rows")
	p.click(labelled("document", "Events"))

	// People are found by the names that the page has learned; a request, and a time, by theirs.
	p.fill(labelled(events, "Person"), "carol\r")
	p.shows(events, "6 events are shown, that is all") // by her, and by the process manager for her
	p.showsNot(events, "unwatched")
	p.click("[..." + events + ".querySelectorAll('tbody tr')].find((each) => each.innerText.includes('closed the account')).querySelector('td:last-child button')")
	p.shows(events, "3 events are shown, that is all")
	p.shows(events, "Carol left")
	p.click(labelled(events, "All"))
	p.shows(events, "unwatched 0")
	// Each search changes what is shown.
	find := func(field, time string) {
		t.Helper()
		p.run(evaluation(fmt.Sprintf("{ const field = %s; field.value = %q; field.dispatchEvent(new Event('input', {bubbles: true})); } null", labelled(events, field), time), nil))
		p.click(labelled(events, "Find"))
	}
	none := "/(^|\\D)0 events are shown/.test(" + events + ".innerText)"
	const past, future = "2001-01-01T00:00", "2099-01-01T00:00"
	find("From", future)
	p.eventually("nothing is of the future", none)
	find("From", past)
	p.shows(events, "unwatched 0")
	find("To", past)
	p.eventually("nothing is so old", none)
	find("To", future)
	p.shows(events, "unwatched 0")
}

// While the projection stands still, events are not in the rows, whoever has written them.
func TestTheMapShowsTheDistanceOfOthersEvents(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 1100, "LAB=on")
	p.shows(everything, "all in the rows")
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(within("Pause the projection"), "Pause"))
	p.shows(within("Pause the projection"), "it stays grey")
	created := send(t, s, "/threads/create", map[string]any{"executor_id": carol, "name": "Secrets"})
	for n := range 3 {
		send(t, s, "/threads/post_message", map[string]any{"executor_id": carol, "thread_id": created["thread_id"], "text": fmt.Sprint(n)})
	}
	p.shows(everything, "4 not in the rows yet")
	p.click(labelled(within("Pause the projection"), "Resume"))
	p.shows(everything, "all in the rows")
}

// A failure says nothing about whether there are earlier events.
func TestEarlierEventsCanBeAskedForAgain(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 1100)
	postMany(p, s, 110)
	p.click(labelled("document", "Events"))
	browser := within("All events")
	p.shows(browser, "100 events are shown, there may be more")
	p.allow("Failed to load resource", "net::ERR")
	p.block("/api/operate/journal")
	p.click(labelled(browser, "Earlier events"))
	p.shows(browser, "Failed to fetch")
	p.shows(browser, "100 events are shown, there may be more")
	p.block()
	p.click(labelled(browser, "Earlier events"))
	p.shows(browser, "that is all")
	p.showsNot(browser, "Failed to fetch")
}
