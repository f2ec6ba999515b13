package browser

import (
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
	p.shows(within("Kill the projection"), held)
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
