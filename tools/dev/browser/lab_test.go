// extra:chat

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// held is the verdict on each experiment whose promise was kept.
const held = "held"

// holds waits for the verdict that an experiment's promise was kept.
func (p *tab) holds(experiment string) {
	p.t.Helper()
	p.eventually(experiment+" has held", within(experiment)+".querySelector('.verdict')?.innerText === '"+held+"'")
}

func TestEachFaultKeepsItsPromise(t *testing.T) {
	t.Parallel()
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 900)
	begin(p)
	p.click(labelled("document", "Failure lab"))
	experiment := func(name, button, result string) {
		t.Helper()
		p.click(labelled(within(name), button))
		if result == held {
			p.holds(name)
		} else {
			p.shows(within(name), result)
		}
	}

	experiment("Pause the projection", "Pause", "it stays grey")
	p.shows(within("Broken on purpose"), "The projection is paused")
	says(p, bob, "Bob", "while it is paused")
	p.shows(bob, "not in the rows yet")
	experiment("Pause the projection", "Resume", held)
	p.showsNot(bob, "not in the rows yet")

	experiment("Kill the projection", "Kill", "It is dead")
	says(p, bob, "Bob", "while it is dead")
	p.shows(bob, "not in the rows yet")
	experiment("Kill the projection", "Start again", held)
	p.showsNot(bob, "not in the rows yet")

	// What comes again is told for some seconds, in which a busy machine may not have got through the experiment.
	p.run(chromedp.Evaluate("window.arrived = []; setInterval(() => arrived.push("+arrival+"?.innerText), 200)", nil))
	experiment("Deliver events twice", "Send messages twice", held)
	p.shows(within("Deliver events twice"), "20 of 20 messages have a number of their own. All are seen")
	p.showsNot(within("Deliver events twice"), "Duplicates left out: 0.")
	p.shows(within("Deliver events twice"), "Before")
	p.eventually("the duplicates bounced off", "arrived.some((text) => /came again, bounced off: already at/i.test(text))")
	p.run(chromedp.Evaluate(within("Failure lab")+".scrollTo(0, 0)", nil))
	p.screenshot("lab")
	experiment("Deliver out of order", "Shuffle messages", held)
	p.shows(within("Deliver out of order"), "20 of 20 messages have a number of their own. All are seen")
	p.click(labelled(within("Lose events"), "Lose messages"))
	p.shows(arrival, "never came: the rows have a hole")
	p.shows(readSide, "is missing")
	p.shows(arrival, "it is in the journal")
	p.shows(arrival, "is read from the journal: it never came")
	p.holds("Lose events")
	p.showsNot("document.body", "Each batch of events waits")
	p.shows(within("Lose events"), "20 of 20 messages have a number of their own. All are seen")
	p.showsNot(within("Lose events"), "from the journal: 0.")

	experiment("Make an event unreadable", "Break the next event", "The thread is parked")
	p.allow("409") // of a retry that finds nothing to do, because the projection's own was faster
	experiment("Make an event unreadable", "Mend it", "Nothing is parked any more")
	p.shows(bob, "nobody will read this")

	experiment("A second writer", "Write from both", "20 messages, 20 versions, 0 refused")
	p.holds("A second writer")

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

// What was not observed has not held.
func TestAnExperimentThatFailsIsRed(t *testing.T) {
	t.Parallel()
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 900)
	begin(p)
	p.click(labelled("document", "Failure lab"))
	twice := within("Deliver events twice")
	p.allow("Failed to load resource", "net::ERR")
	p.click(labelled(twice, "Send messages twice"))
	p.shows(twice, "20 of 20")
	p.holds("Deliver events twice")

	p.block("/api/operate/")
	p.click(labelled(twice, "Send messages twice"))
	p.shows(twice, "could not be observed: Failed to fetch")
	p.eventually("it has not held", twice+".querySelector('.verdict.failed').innerText === 'not held'")
	p.screenshot("lab-not-held")
	p.block()
}

// One click mends all that is broken.
func TestTheBannerMendsAll(t *testing.T) {
	t.Parallel()
	install(t)
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 900)
	begin(p)
	p.allow("409") // of a comparison while the projection is dead, and of a retry when the projection's own was faster
	broken := within("Broken on purpose")
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(within("Make an event unreadable"), "Break the next event"))
	p.shows(within("Make an event unreadable"), "The thread is parked")
	p.click(labelled(within("Kill the projection"), "Kill"))
	p.click(labelled(within("A slow event store"), "Slow down"))
	for _, view := range []string{"Operations", "Chat"} { // it is shown wherever one looks
		p.click(labelled("document", view))
		for _, text := range []string{"The projection is killed", "An event can not be read", "Each write waits 1.5 s"} {
			p.shows(broken, text)
		}
	}
	p.accessible("the banner")
	p.screenshot("banner")
	p.click(labelled(broken, "Mend all"))
	p.shows(bob, "nobody will read this")
	p.showsNot("document.body", "Broken on purpose")
}
