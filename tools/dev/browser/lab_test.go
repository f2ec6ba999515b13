package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// held is the result of each experiment whose promise was kept.
const held = "are what the journal says"

func TestEachFaultKeepsItsPromise(t *testing.T) {
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 900)
	begin(p)
	p.click(labelled("document", "Failure lab"))
	experiment := func(name, button, result string) {
		t.Helper()
		p.click(labelled(within(name), button))
		p.shows(within(name), result)
	}

	experiment("Pause the projection", "Pause", "it stays grey")
	says(p, bob, "Bob", "while it is paused")
	p.shows(bob, "not in the read model yet")
	experiment("Pause the projection", "Resume", held)
	p.showsNot(bob, "not in the read model yet")

	experiment("Kill the projection", "Kill", "It is dead")
	says(p, bob, "Bob", "while it is dead")
	p.shows(bob, "not in the read model yet")
	experiment("Kill the projection", "Start again", held)
	p.showsNot(bob, "not in the read model yet")

	experiment("Deliver events twice", "Send messages twice", held)
	p.shows(within("Deliver events twice"), "20 of 20 messages have a number of their own; all are seen")
	p.showsNot(within("Deliver events twice"), "Duplicates left out: 0")
	p.run(chromedp.Evaluate(within("Failure lab")+".scrollTo(0, 0)", nil))
	p.screenshot("lab")
	experiment("Deliver out of order", "Shuffle messages", held)
	p.shows(within("Deliver out of order"), "20 of 20 messages have a number of their own; all are seen")
	experiment("Lose events", "Lose messages", held)
	p.shows(within("Lose events"), "20 of 20 messages have a number of their own; all are seen")
	p.showsNot(within("Lose events"), "from the journal: 0")

	experiment("Make an event unreadable", "Break the next event", "The thread is parked")
	p.allow("409") // of a retry that finds nothing to do, because the projection's own was faster
	experiment("Make an event unreadable", "Mend it", "Nothing is parked any more")
	p.shows(bob, "nobody will read this")

	experiment("A second writer", "Write from both", "20 messages, 20 versions, 0 refused")
	p.shows(within("A second writer"), held)

	experiment("A slow event store", "Slow down", "Send messages as both people at once")
	says(p, ada, "Ada", "slowly")
	p.shows(ada, "sending")
	p.shows(bob, "slowly")
	experiment("A slow event store", "Full speed", held)

	p.allow("503")
	experiment("Lose an answer", "Send, and lose the answer", held)
	p.eventually("it is there once", bob+".innerText.split('sent twice, written once').length === 2")

	experiment("Rebuild the read model", "Rebuild", held)
	p.shows(within("Rebuild the read model"), "sent meanwhile is seen")
}
