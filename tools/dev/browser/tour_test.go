// extra:chat

package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What a newcomer does first, by what the page offers alone.
func TestANewcomersFirstMinute(t *testing.T) {
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 900)
	views := func(name string) {
		t.Helper()
		p.fits(name)
		p.screenshot("tour-" + name)
		p.prefer("dark")
		p.screenshot("tour-" + name + "-dark")
		p.prefer("light")
		p.run(chromedp.EmulateViewport(390, 844))
		p.fits(name + " on a phone")
		p.screenshot("tour-" + name + "-phone")
		p.run(chromedp.EmulateViewport(1440, 900))
	}
	p.shows("document.body", "Start a chat")
	views("welcome")
	talk(p)
	p.click(labelled("document", "Projection"))
	views("chat")

	p.click(labelled("document", "Time travel"))
	p.shows(within("The thread as it was"), "Yes, with milk")
	p.run(focus(within("Events") + ".querySelector('input[type=range]')"))
	p.press(kb.ArrowLeft)
	p.shows(within("The thread as it was"), "Anyone for a cup?")
	p.showsNot(within("The thread as it was"), "Yes, with milk")
	views("past")

	p.click(labelled("document", "Failure lab"))
	p.click(labelled(within("Kill the projection"), "Kill"))
	p.shows(within("Kill the projection"), "It is dead")
	says(p, ada, "Ada", "Who reads this?")
	p.shows(ada, "not in the read model yet")
	views("killed")
	p.click(labelled(within("Kill the projection"), "Start again"))
	p.shows(bob, "Who reads this?")
	p.holds("Kill the projection")
	views("caught-up")
	p.click(labelled("document", "Operations"))
	p.shows("document.body", "Tasks of Ada")
	views("operations")
}

// fits expects that nothing sticks out of the page's parts to the right.
func (p *tab) fits(about string) {
	p.t.Helper()
	if wide := evaluate[string](p, `[...document.querySelectorAll('html, nav, .card, .card ol, .card ul')].filter((part) => part.scrollWidth > part.clientWidth + 1)
		.map((part) => part.tagName + '.' + part.className + ' ' + (part.getAttribute('aria-label') ?? '')).join(', ')`); wide != "" {
		p.t.Errorf("%s: what is in these is wider than they are: %s", about, wide)
	}
}

var theTour = within("Tour")

// looks expects that the tour points at a part of the map which can be seen.
func (p *tab) looks(place, element string) {
	p.t.Helper()
	p.eventually("the tour points at the "+place, fmt.Sprintf(`(() => {
		const box = document.querySelector('[data-look=%s]') && %s?.getBoundingClientRect();
		return box && box.height > 0 && box.top < innerHeight && getComputedStyle(%[2]s).outlineStyle === 'solid';
	})()`, place, element))
}

func TestTheTour(t *testing.T) {
	install(t)
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 900)
	begin(p)
	picture := func(name string) {
		t.Helper()
		p.fits(name)
		p.screenshot("tour-step-" + name)
	}
	p.shows(theTour, "1 of 7 · Say something")
	p.looks("tape", writeSide+".querySelector('.tape')")
	picture("1")
	p.accessible("the tour")

	// The first message of a new visitor is slow for real: its event is written, and the other person's rows lack it.
	says(p, ada, "Ada", "Anyone for a cup?")
	p.shows(theTour, "Event 3 is in the journal, but Bob still reads the rows of event 2")
	p.shows(ada, "written as event 3, not in the read model yet")
	p.shows(within("Broken on purpose"), "The projection holds each batch for 3 s")
	if text := evaluate[string](p, bob+".innerText"); strings.Contains(text, "Anyone for a cup?") {
		t.Error("Bob has it already")
	}
	picture("1-slow")
	p.shows(theTour, "your message is event 3 in the journal")
	p.shows(bob, "Anyone for a cup?")
	p.showsNot("document.body", "Broken on purpose")
	p.shows(within("Slow motion"), "Now it is fast again")
	p.shows(theTour, "2 of 7 · Be refused")
	p.looks("aggregate", labelled("document", "Aggregate"))
	picture("2")

	// The second one is not, and a tour that is left is taken up where it was, also after a reload.
	p.click(labelled(theTour, "Leave the tour"))
	p.eventually("the tour is gone", "!"+theTour)
	p.run(reload)
	p.shows(bob, "Anyone for a cup?")
	p.eventually("the tour is still gone", "!"+theTour)
	p.click(labelled("document", "Tour (2 of 7)"))
	p.allow("403")
	p.click(labelled(theTour, "Rename it as Bob"))
	p.shows(theTour, "(not_an_admin)")

	p.shows(theTour, "3 of 7 · Read something old")
	p.looks("distance", theMap+".querySelector('.distance')")
	p.click(labelled(theTour, "Pause the projection"))
	p.shows(theTour, "now write a message as Ada")
	p.shows(within("Broken on purpose"), "The projection is paused")
	says(p, ada, "Ada", "Who reads this?")
	p.shows(theTour, "the journal has event 4, and Bob's query has just been answered from the rows at event 3")
	p.shows(theTour, "4 of 7 · Ask with a token")
	p.looks("rows", readSide)
	picture("4")

	// The answer does not come before the rows have the event.
	p.click(labelled(theTour, "Ask as Bob with the token"))
	p.shows(theTour, "its answer waits for event 4 (told once that it is not there yet, and asked again)")
	p.click(labelled(theTour, "Resume the projection"))
	p.shows(theTour, "and has event 4")

	p.shows(theTour, "5 of 7 · Send twice")
	p.click(labelled(theTour, "Send it twice"))
	p.shows(theTour, "both answers say event 5")
	p.shows(writeSide, "sent again: already at 5")
	p.eventually("there is one card for it", writeSide+".querySelectorAll('.tape li').length === 5")
	picture("6")

	p.shows(theTour, "6 of 7 · Lose a record")
	p.click(labelled(theTour, "Send a message, and lose its record"))
	p.shows(theTour, "The stream has lost the record of event 6")
	p.shows(ada, "written as event 6, not in the read model yet")
	p.shows(writeSide, "the stream has lost it")
	picture("6-hole")
	p.click(labelled(theTour, "Send the next message"))
	p.shows(theTour, "event 7 came, the projection saw that event 6 was missing, and read it from the journal")
	p.shows(theMap, "read from the journal: a record was lost, or late")
	p.shows(bob, "The stream forgets this one")
	picture("7")

	p.shows(theTour, "7 of 7 · Rebuild")
	p.click(labelled(theTour, "Rebuild the rows"))
	p.shows(theTour, "all rows are new, made from the journal alone")
	for _, lesson := range []string{"Write side", "Read side", "Eventual consistency", "Replay", "Exactly once"} {
		p.shows(theTour, lesson)
	}
	picture("end")
	p.accessible("the end of the tour")
	p.click(labelled(theTour, "Close"))
	p.eventually("the tour is gone", "!"+theTour)
}

// Without a lab, the tour says what is left out, and does the rest.
func TestTheTourWithoutALab(t *testing.T) {
	s := start(t)
	p := open(t, chromium(t), s.url, 375, 667)
	begin(p)
	says(p, ada, "Ada", "Anyone for a cup?")
	p.shows(theTour, "your message is event 3")
	p.fits("the tour on a phone")
	p.screenshot("tour-phone")
	p.allow("403")
	p.click(labelled(theTour, "Rename it as Bob"))
	p.shows(theTour, "(not_an_admin)")
	p.shows(theTour, "Read something old: left out: it needs the failure lab, which is off here")
	p.click(labelled(theTour, "Ask as Bob with the token"))
	p.shows(theTour, "and has event 4")
	p.click(labelled(theTour, "Send it twice"))
	p.shows(theTour, "both answers say event 5")
	p.shows(theTour, "Lose a record: left out")
	p.click(labelled(theTour, "Rebuild the rows"))
	p.shows(theTour, "all rows are new")
}
