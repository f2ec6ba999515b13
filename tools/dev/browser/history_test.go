package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestTimeTravel(t *testing.T) {
	install(t)
	s := start(t)
	p := open(t, chromium(t), s.url, 1440, 900)
	begin(p)
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
	p.click(events + ".querySelectorAll('button')[0]")
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
	p.screenshot("causes")
	p.accessible("causes")
}
