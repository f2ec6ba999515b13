// extra:chat

package browser

import (
	"testing"
	"time"

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
	_, p := chatting(t, 1440, 900, "LAB=on")
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
	experiment("Pause the projection", "Resume", "nothing was written meanwhile")
	if evaluate[bool](p, "!!"+within("Pause the projection")+".querySelector('.verdict')") {
		t.Error("a promise is held that was not tried")
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
	p.notes()
	experiment("Deliver events twice", "Send, and deliver twice", held)
	p.shows(within("Deliver events twice"), "20 of 20 messages have a number of their own. All are seen")
	p.showsNot(within("Deliver events twice"), "Duplicates left out: 0.")
	p.shows(within("Deliver events twice"), "Before")
	p.noted("arrival", "ame again, bounced off: already at")
	p.run(chromedp.Evaluate(within("Failure lab")+".scrollTo(0, 0)", nil))
	p.screenshot("lab")
	experiment("Deliver out of order", "Send, and shuffle", held)
	p.shows(within("Deliver out of order"), "20 of 20 messages have a number of their own. All are seen")
	p.click(labelled(within("Lose events"), "Send, and lose"))
	p.noted("arrival", "never came: the rows have a hole")
	p.noted("rows", "is missing")
	p.noted("arrival", "it is in the journal")
	p.noted("arrival", "never came: it was read from the journal")
	p.holds("Lose events")
	p.showsNot("document.body", "Each batch of events waits")
	p.shows(within("Lose events"), "20 of 20 messages have a number of their own. All are seen")
	p.showsNot(within("Lose events"), "from the journal: 0.")

	experiment("Make an event unreadable", "Break the next event", "The thread is parked")
	p.noted("arrival", "can't be read: it is parked, and waits")
	p.allow("409") // of a retry that finds nothing to do, because the projection's own was faster
	experiment("Make an event unreadable", "Mend it", "Nothing is parked any more")
	p.shows(bob, "nobody will read this")

	experiment("A second writer", "Write from both", "20 messages, 20 versions, 0 not written")
	p.holds("A second writer")

	experiment("A slow event store", "Slow down", "Send messages as both people at once")
	says(p, ada, "Ada", "no hurry")
	p.noted("pending", "no hurry\n\nsending")
	p.shows(bob, "no hurry")
	experiment("A slow event store", "Full speed", held)

	p.allow("503")
	experiment("Lose an answer", "Send, and lose the answer", held)
	p.eventually("it is there once", bob+".innerText.split('sent twice, written once').length === 2")
}

var rebuilding = within("Rebuild the read model")

// A rebuild of 10,000 events is seen: the second set of tables fills beside the live one, in which the chat goes on.
func TestTheLabRebuilds(t *testing.T) {
	t.Parallel()
	install(t)
	_, p := chatting(t, 1440, 900, "LAB=on")
	// The server cuts off who is too busy to read.
	p.allow("ERR_CONTENT_LENGTH_MISMATCH", "ERR_INCOMPLETE_CHUNKED_ENCODING")
	// The lab waits for the rows for some seconds, and a busy machine needs more: an answer comes when they are there.
	p.run(chromedp.Evaluate(`{
		const fetch = globalThis.fetch;
		globalThis.fetch = async (path, how) => {
			if (path !== '/lab/seed') return fetch(path, how);
			const response = await fetch(path, { ...how, signal: null });
			const { first, count } = JSON.parse(how.body);
			const version = 'version ' + (first + count - 1);
			while (!`+ada+`.innerText.includes(version)) await new Promise((again) => setTimeout(again, 100));
			return response;
		};
	}`, nil))
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(rebuilding, "Rebuild"))
	p.shows(rebuilding, "of 10,000 events")
	p.accessible("messages are posted")
	began := time.Now()
	for !evaluate[bool](p, rebuilding+".innerText.includes('Second set')") {
		if failed := evaluate[bool](p, "!!"+rebuilding+".querySelector('.verdict.failed')"); failed || time.Since(began) > 5*time.Minute {
			t.Fatal("no rebuild was seen")
		}
		p.run(chromedp.Sleep(200 * time.Millisecond))
	}
	t.Logf("10,000 events after %s", time.Since(began))
	p.eventually("the second set fills", `/A second set, at event [1-9]\d*: not read yet/.test(`+readSide+".innerText)")
	p.shows(readSide, "The live set: it is read")
	p.shows(rebuilding, "reading: ")
	p.eventually("its messages are counted", "/the last messages, of [1-9]/.test("+readSide+".innerText)")
	p.accessible("a rebuild in the lab")
	p.screenshot("lab-rebuild")
	p.shows(bob, "written during the rebuild")
	p.eventually("the second set has no row for it", "!document.querySelector('.set + .set')?.innerText.includes('written during')")
	p.holds("Rebuild the read model")
	for _, text := range []string{"was seen to fill, at", "A message that was posted meanwhile is event 10,001", "when the second set had event", "The rebuild has ended after", "are what the journal says"} {
		p.shows(rebuilding, text)
	}
	p.shows(readSide, "The second set: it is the live one now")
	p.showsNot("document.body", "A rebuild waits")
	t.Log(evaluate[string](p, rebuilding+".innerText"))
	p.screenshot("lab-rebuilt")
}

// Without a rebuild nothing has held.
func TestTheLabDoesNotSeeARebuild(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900, "LAB=on")
	p.pretends()
	// Nor are there so many events.
	p.run(chromedp.Evaluate(`{
		const fetch = globalThis.fetch;
		globalThis.fetch = (...asked) => asked[0] === '/lab/seed' ? Promise.resolve(Response.json({message: {}, first: 1, count: 1000})) : fetch(...asked);
	}`, nil))
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(rebuilding, "Rebuild"))
	p.shows(rebuilding, "The messages are NOT in the rows.")
	p.shows(rebuilding, "The second set of tables was NOT seen to fill.")
	p.shows(rebuilding, "The rebuild has not begun within 10 s")
	p.eventually("it has not held", rebuilding+".querySelector('.verdict.failed').innerText === 'not held'")
}

// What was not observed has not held.
func TestAnExperimentThatFailsIsRed(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900, "LAB=on")
	p.click(labelled("document", "Failure lab"))
	twice := within("Deliver events twice")
	p.allow("Failed to load resource", "net::ERR")
	p.click(labelled(twice, "Send, and deliver twice"))
	p.shows(twice, "20 of 20")
	p.holds("Deliver events twice")

	p.block("/api/operate/")
	p.click(labelled(twice, "Send, and deliver twice"))
	p.shows(twice, "could not be observed: Failed to fetch")
	p.eventually("it has not held", twice+".querySelector('.verdict.failed').innerText === 'not held'")
	p.screenshot("lab-not-held")
	p.block()
}

// One click mends all that is broken.
func TestTheBannerMendsAll(t *testing.T) {
	t.Parallel()
	install(t)
	_, p := chatting(t, 1440, 900, "LAB=on")
	p.allow("409") // of a comparison while the projection is dead, and of a retry when the projection's own was faster
	broken := within("Broken on purpose")
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(within("Make an event unreadable"), "Break the next event"))
	p.shows(within("Make an event unreadable"), "The thread is parked")
	p.click(labelled(within("Kill the projection"), "Kill"))
	p.click(labelled(within("A slow event store"), "Slow down"))
	for _, view := range []string{"Operations", "Chat"} { // it is shown wherever one looks
		p.click(labelled("document", view))
		for _, text := range []string{"The projection is killed", "The projection can not read an event", "Each write waits 1.5 s"} {
			p.shows(broken, text)
		}
	}
	p.accessible("the banner")
	p.screenshot("banner")
	p.click(labelled(broken, "Mend all"))
	p.shows(bob, "nobody will read this")
	p.showsNot("document.body", "Broken on purpose")
}

// A thread that is made while the projection stands still is new, and not gone.
func TestANewThreadIsOpenedOnceItIsInTheRows(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900, "LAB=on")
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(within("Pause the projection"), "Pause"))
	p.shows(within("Pause the projection"), "it stays grey")
	p.click(labelled("document", "Chat"))
	p.click(ada + ".querySelector('.new summary')")
	p.fill(labelled(ada, "Name of the new thread"), "Coffee\r")
	p.shows(ada, "The new thread is not in the rows yet.")
	p.showsNot(ada, "any more")
	p.click(labelled(within("Broken on purpose"), "Mend all"))
	p.showsNot(ada, "not in the rows yet")
	says(p, ada, "Ada", "Black, please")
	p.shows(ada, "Black, please")
}

// If the lab's script does not arrive, the rest of the page is there.
func TestThePageGoesOnWithoutTheLabsScript(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900, "LAB=on")
	p.allow("Failed to load resource", "net::ERR")
	p.block("/lab/lab.js")
	p.run(reload)
	p.shows(ada, "2 people")
	p.showsNot("document.body", "Failure lab")
	says(p, ada, "Ada", "Still here")
	p.shows(bob, "Still here")
}
