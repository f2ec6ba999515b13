// extra:chat

package browser

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestEverybodyCanUseIt(t *testing.T) {
	t.Parallel()
	install(t)
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 900)
	p.shows("document.body", "Start a chat")
	p.accessible("the welcome")
	begin(p)
	says(p, ada, "Ada", "Anyone for a cup?")
	p.shows(bob, "Anyone for a cup?")
	p.click(labelled(ada, "2 people"))
	p.shows(ada, "Close Ada's account")
	for _, scheme := range []string{"light", "dark"} {
		p.prefer(scheme)
		for _, view := range []string{"Chat", "Failure lab", "Operations"} {
			p.click(labelled("document", view))
			p.eventually(view+" is shown", "document.querySelector('[aria-current=page]').innerText === '"+view+"'")
			p.accessible(view + ", " + scheme)
			p.screenshot(strings.ToLower(strings.ReplaceAll(view, " ", "-")) + "-" + scheme)
		}
	}
	p.click(labelled("document", "Chat"))
	p.click(labelled(ada, "2 people"))
	p.run(chromedp.EmulateViewport(375, 812))
	fits := func(view string) {
		t.Helper()
		if wide := evaluate[string](p, `[...document.body.querySelectorAll('*')].filter((each) => each.getBoundingClientRect().right > 376 && each.offsetParent)
			.map((each) => each.tagName + '.' + each.className).join(' ')`); evaluate[int](p, "document.documentElement.scrollWidth") > 375 {
			t.Errorf("%s: these are wider than a phone: %s", view, wide)
		}
	}
	for _, view := range []string{"Failure lab", "Operations", "Events", "Chat"} {
		p.click(labelled("document", view))
		p.eventually(view+" is shown", "document.querySelector('[aria-current=page]').innerText === '"+view+"'")
		fits(view)
	}
	p.accessible("a phone")
	p.screenshot("phone-dark")
	p.click(labelled("document", "Bob"))
	p.shows(bob, "Anyone for a cup?")
}

// tabTo presses Tab until a field or button has the focus.
func (p *tab) tabTo(part, name string) {
	p.t.Helper()
	for range 80 {
		p.press(kb.Tab)
		if evaluate[bool](p, labelled(part, name)+" === document.activeElement") {
			return
		}
	}
	p.t.Fatalf("%q can't be reached by Tab", name)
}

func TestTheKeyboardIsEnough(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, chromium(t), s.url, 1440, 900)
	p.shows("document.body", "Start a chat")
	p.tabTo("document", "Start a chat between Ada and Bob")
	p.press(kb.Enter)
	p.shows(bob, "Tea at four")
	p.tabTo(ada, "Message from Ada")
	p.run(chromedp.KeyEvent("typed\r"))
	p.shows(bob, "typed")
	p.tabTo(bob, "Message from Bob")
	p.run(chromedp.KeyEvent("and answered"))
	p.tabTo(bob, "Send")
	p.press(kb.Enter)
	p.shows(ada, "and answered")
	p.tabTo(ada, `Edit "typed"`)
	p.press(kb.Enter)
	p.eventually("the text has the focus", "document.activeElement.tagName === 'TEXTAREA' && document.activeElement.value === 'typed'")
	p.run(chromedp.KeyEvent(", and changed"))
	p.press(kb.Enter)
	p.shows(bob, "typed, and changed")
	p.tabTo(ada, `Delete "typed, and changed"`)
	p.press(kb.Enter)
	p.tabTo(question, "Delete the message")
	p.press(kb.Enter)
	p.showsNot(bob, "typed, and changed")
	// Without LAB=on the page has no lab.
	p.showsNot("document.body", "Failure lab")
	// Who skips to the content of a view stays in this view.
	p.tabTo("document", "Operations")
	p.press(kb.Enter)
	shown := "document.querySelector('[aria-current=page]').innerText === 'Operations'"
	p.eventually("the operations are shown", shown)
	p.tabTo("document", "Skip to the content")
	p.press(kb.Enter)
	p.eventually("the content has the focus", "document.activeElement.id === 'main'")
	p.shows("document.querySelector('#main')", "read-model-updater")
	p.eventually("the operations are still shown", shown+" && location.hash === '#operations'")
}

func TestLoginWithTheIssuerForDevelopment(t *testing.T) {
	t.Parallel()
	s := start(t, "AUTH=dev", "LAB=on")
	first := chromium(t)
	p := open(t, first, s.url, 1000, 900)
	p.click(labelled("document", "Log in as ada"))
	p.shows(ada, "New thread")
	p.run(chromedp.Evaluate("document.querySelector('details.new').open = true", nil))
	p.fill(labelled(ada, "Name of the new thread"), "Secrets\r")
	p.shows(ada, "version 1")
	says(p, ada, "Ada", "Nobody reads this token")
	p.shows(ada, "version 2")
	if seen := evaluate[string](p, "document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"); regexp.MustCompile("eyJ|session=").MatchString(seen) {
		t.Errorf("scripts see %s", seen)
	}
	p.shows("document.body", "Failure lab") // ada is an operator
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(within("A second writer"), "Write from both"))
	p.holds("A second writer")
	p.click(labelled("document", "Operations"))
	p.click(labelled(within("Read model"), "Verify"))
	p.shows(within("Read model"), "all is well")
	p.click(labelled(tasks, "Export the events of Secrets"))
	p.shows(nth(0), "succeeded")

	other := open(t, chromium(t), s.url, 1000, 900)
	other.click(labelled("document", "Log in as bob"))
	other.click(labelled("document", "Operations"))
	other.shows(within("Programs"), "write-api")
	// What the token may not do is not shown, and not asked for.
	for _, text := range []string{"Parked", "Rebuild", "Events", "In the whole system", "Failure lab"} {
		other.showsNot("document.body", text)
	}
	other.allow("403")
	if status := evaluate[int](other, "fetch('/lab/state').then(({ status }) => status)"); status != 403 {
		t.Errorf("the lab answers %d to who is no operator", status)
	}
	other.shows(tasks, "There is no task yet") // ada's are hers
	other.click(labelled("document", "Log out"))
	other.shows("document.body", "Who do you want to be?")
}

// A browser must load little for the first view, also where there is a failure lab.
func TestTheFirstViewIsSmall(t *testing.T) {
	t.Parallel()
	s := start(t, "LAB=on")
	p := openAt(t, chromium(t), s.url, "/", 1000, 900)
	p.shows("document.body", "Start a chat")
	p.shows("document.querySelector('nav')", "Failure lab")
	// What is asked for every second counts once, however long it takes to be here.
	size := evaluate[int](p, `performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
		.filter((each, i, all) => i === all.findIndex(({ name }) => name === each.name) || !['/status', '/lab/state'].includes(new URL(each.name).pathname))
		.reduce((sum, each) => sum + each.encodedBodySize, 0)`)
	if size == 0 || size > 60<<10 {
		t.Errorf("the first view takes %d bytes", size)
	}
	t.Logf("the first view takes %d bytes", size)
}

// An open page asks for little while nothing happens.
func TestAPageAtRestLoadsLittle(t *testing.T) {
	t.Parallel()
	const looks, most = 5, 8 << 10 // at how the programs are, and bytes in a second
	s := start(t)
	p := openAt(t, chromium(t), s.url, "/", 1000, 900)
	begin(p)
	says(p, ada, "Ada", "Good night")
	p.shows(bob, "Good night")
	var loaded atomic.Int64
	began := time.Now()
	chromedp.ListenTarget(p.ctx, func(event any) {
		if finished, is := event.(*network.EventLoadingFinished); is {
			loaded.Add(int64(finished.EncodedDataLength))
		}
	})
	count := "performance.getEntriesByType('resource').filter((each) => each.name.endsWith('/status')).length"
	before := evaluate[int](p, count)
	until(p, "it has looked how the programs are", count, func(now int) bool { return now >= before+looks })
	took := time.Since(began).Seconds()
	if a := float64(loaded.Load()) / took; a == 0 || a > most {
		t.Errorf("%.0f bytes a second were loaded in %.1f s", a, took)
	}
	t.Logf("%d bytes were loaded in %.1f s", loaded.Load(), took)
}

// complains waits until the page has reported an error.
func (p *tab) complains(text string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		p.mutex.Lock()
		so := slices.ContainsFunc(p.wrong, func(wrong string) bool { return strings.Contains(wrong, text) })
		p.mutex.Unlock()
		if so {
			return
		}
		select {
		case <-time.After(30 * time.Millisecond):
		case <-ctx.Done():
			p.t.Fatalf("after %s the page has not complained: %s", patience, text)
		}
	}
}

func TestAnAnswerIsComparedWithItsType(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1000, 900)
	p.run(chromedp.Evaluate(`{
		const fetch = globalThis.fetch;
		globalThis.fetch = async (...request) => {
			const response = await fetch(...request);
			const text = (await response.text()).replaceAll(/"version":(\d+)/g, '"version":"$1"');
			return new Response(text, {status: response.status, headers: response.headers});
		};
	}`, nil))
	says(p, ada, "Ada", "Is this a number?")
	for _, to := range []string{"POST /threads/post_message", "threadList"} {
		p.complains(to + ": the answer has not its type: answer.")
	}
	p.allow("has not its type")
}
