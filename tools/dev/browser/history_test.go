package browser

import (
	"testing"

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

	// A closed account leaves: the process manager's command is shown with its cause.
	p.click(labelled("document", "Chat"))
	p.click(labelled(bob, "2 people"))
	p.click(labelled(bob, "Close Bob's account"))
	p.shows(ada, "1 person")
	p.click(labelled("document", "Time travel"))
	p.shows(causes, "process/leave-on-close")
}
