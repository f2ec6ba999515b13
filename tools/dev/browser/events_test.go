// extra:chat

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

var (
	everything = within("In the whole system")
	openEvent  = within("Event")
)

const carol = "01BX5ZZKBKACTAV9WEVGEMMVS0"

func TestTheMapShowsWhatOthersDo(t *testing.T) {
	t.Parallel()
	install(t)
	s := start(t)
	p := open(t, chromium(t), s.url, 1440, 1100)
	begin(p)
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
	p.run(chromedp.Evaluate("1", nil))
}

// While the projection stands still, events are not in the rows, whoever has written them.
func TestTheMapShowsTheDistanceOfOthersEvents(t *testing.T) {
	t.Parallel()
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 1100)
	begin(p)
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
