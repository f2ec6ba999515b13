// extra:chat

package browser

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What people expect of a chat, whatever it is built on.

// texts returns the messages that a pane shows, in order.
func (p *tab) texts(pane string) []string {
	p.t.Helper()
	return evaluate[[]string](p, `[...`+pane+`.querySelectorAll('.message p')].map((each) => each.innerText)`)
}

// choose selects an option as somebody does who uses a mouse.
func (p *tab) choose(element, text string) {
	p.t.Helper()
	p.eventually(element+" has "+text, fmt.Sprintf("[...(%s?.options ?? [])].some((each) => each.text.startsWith(%q))", element, text))
	p.run(chromedp.Evaluate(fmt.Sprintf(`{
		const list = %s;
		list.value = [...list.options].find((each) => each.text.startsWith(%q)).value;
		list.dispatchEvent(new Event('change', {bubbles: true}));
	}`, element, text), nil))
}

// beforeEachPage runs a script before those of the pages that are loaded from now on.
func (p *tab) beforeEachPage(script string) {
	p.t.Helper()
	p.run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

// block lets requests to paths fail; without paths, none any more.
func (p *tab) block(paths ...string) {
	p.t.Helper()
	var patterns []*network.BlockPattern
	for _, path := range paths {
		patterns = append(patterns, &network.BlockPattern{URLPattern: "*://*:*" + path + "*", Block: true})
	}
	p.run(network.SetBlockedURLs().WithURLPatterns(patterns))
}

// hide tells the page that its tab is hidden, or shown again.
func (p *tab) hide(hidden bool) {
	p.t.Helper()
	p.run(evaluation(fmt.Sprintf("Object.defineProperty(document, 'hidden', {value: %t, configurable: true}); document.dispatchEvent(new Event('visibilitychange')); null", hidden), nil))
}

// withhold keeps answers from the page until the returned function is called: those to requests for which a condition
// on their path and body is true.
func (p *tab) withhold(condition string) (release func()) {
	p.t.Helper()
	number := evaluate[int](p, `(() => {
		const fetch = globalThis.fetch;
		const { promise, resolve } = Promise.withResolvers();
		const isMeant = (path, body) => `+condition+`;
		globalThis.fetch = async (path, how) => {
			if (!isMeant(String(path), String(how?.body ?? ''))) return fetch(path, how);
			const response = await fetch(path, { ...how, signal: null }); // the page would give up
			await promise;
			return response;
		};
		return (globalThis.withheld ??= []).push(resolve) - 1;
	})()`)
	return func() { p.run(chromedp.Evaluate(fmt.Sprintf("globalThis.withheld[%d]()", number), nil)) }
}

func create(p *tab, pane, thread string) {
	p.t.Helper()
	p.eventually("there is a pane", pane)
	p.run(chromedp.Evaluate(pane+".querySelector('details.new').open = true", nil))
	p.fill(labelled(pane, "Name of the new thread"), thread+"\r")
	p.shows(pane, "1 person")
}

func invite(p *tab, pane, person string) {
	p.t.Helper()
	p.run(chromedp.Evaluate(pane+".querySelector('.people') || "+pane+".querySelector('.title button').click()", nil))
	p.fill(labelled(pane, "Name or account id of who is to be added"), person+"\r")
	p.shows(pane, "2 people")
}

func TestWhatIsTypedOfflineArrivesInOrder(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.allow("Failed to load resource", "net::ERR")
	// Commands can't be sent, and the page can still be loaded.
	p.block("/api/write/")
	typed := []string{"first", "second", "third", "fourth"}
	for _, text := range typed {
		says(p, ada, "Ada", text)
		p.shows(ada, text)
	}
	p.run(reload)
	p.shows(ada, "fourth")
	p.shows(ada, "sending")
	if shown := p.texts(ada); !slices.Equal(shown, typed) {
		t.Errorf("after a reload, these wait: %q", shown)
	}
	p.block()
	p.shows(bob, "fourth")
	p.showsNot(ada, "sending")
	if shown := p.texts(bob); !slices.Equal(shown, typed) {
		t.Errorf("these have arrived: %q", shown)
	}
	// Nothing is sent again later.
	p.run(reload)
	p.shows(bob, "fourth")
	p.eventually("the outbox is empty", "Object.keys(localStorage).every((key) => !key.startsWith('threads.outbox'))")
	if shown := p.texts(bob); !slices.Equal(shown, typed) {
		t.Errorf("after another reload: %q", shown)
	}
}

// What is ordered after a reload comes after what waits, also if the clock was set back meanwhile.
func TestAClockThatIsSetBackChangesNoOrder(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.allow("Failed to load resource", "net::ERR")
	p.block("/api/write/")
	says(p, ada, "Ada", "first")
	p.shows(ada, "first")
	p.beforeEachPage("{ const now = Date.now; Date.now = () => now() - 24 * 3600 * 1000; }")
	// What is damaged stops nothing.
	p.run(evaluation("for (const key of ['outbox.0', 'tour', 'panes']) localStorage.setItem('threads.' + key, '{'); null", nil))
	p.run(reload)
	p.shows(ada, "first")
	says(p, ada, "Ada", "second")
	p.shows(ada, "second")
	p.run(reload)
	p.shows(ada, "second")
	p.block()
	p.shows(bob, "second")
	p.shows(bob, "first")
	if shown := p.texts(bob); !slices.Equal(shown, []string{"first", "second"}) {
		t.Errorf("these have arrived: %q", shown)
	}
}

func TestARejectedMessageCanBeMended(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.allow("422")
	p.fill(labelled(ada, "Message from Ada"), "x")
	p.run(chromedp.Evaluate(`{
		const field = `+labelled(ada, "Message from Ada")+`;
		field.value = 'x'.repeat(4001);
		field.dispatchEvent(new Event('input', {bubbles: true}));
	}`, nil))
	p.press(kb.Enter)
	p.shows(ada, "Rejected:")
	// The aggregate has not been asked: the picture doesn't show that it was.
	p.shows(flow, "not a command: invalid_request")
	p.eventually("the aggregate is not reached", `[...`+flow+`.querySelectorAll('.station.reached')].map((each) => each.innerText).join() === 'Command'`)
	p.run(chromedp.Reload())
	p.shows(ada, "Rejected:") // also where the page was loaded again in the meantime
	p.click(labelled(ada, "Mend it"))
	p.eventually("the text is back", labelled(ada, "Message from Ada")+".value.length === 4001 && document.activeElement.tagName === 'TEXTAREA'")
	p.showsNot(ada, "Rejected:")
	p.eventually("nothing is kept of it", "Object.keys(localStorage).every((key) => !key.startsWith('threads.outbox'))")
}

// editWaits lets an edit of Ada's wait for the network. It will be rejected, as it changes nothing.
func editWaits(p *tab) {
	says(p, ada, "Ada", "Keep this")
	p.shows(bob, "Keep this")
	p.allow("Failed to load resource", "net::ERR")
	p.block("/api/write/")
	p.click(labelled(ada, `Edit "Keep this"`))
	p.fill(labelled(ada, "New text"), "Keep this\r")
	p.shows(ada, "edit sending")
}

// A rejection is told until the next try, also where the page was loaded again in the meantime.
func TestARejectionIsTold(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	editWaits(p)
	p.run(reload)
	p.shows(ada, "edit sending")
	p.block()
	p.shows(ada, "Rejected: edit message: the message has this text already")
	p.showsNot(ada, "sending")
	// The list of threads is read once a second, which must not take the rejection away.
	p.eventually("the list was read again", "performance.getEntriesByType('resource').filter((each) => each.name.endsWith('/status')).length > 4")
	p.shows(ada, "Rejected: edit message")
}

// An edit that is rejected while another thread is open is told there, and its text waits in its own. Meanwhile nothing
// else changes the message.
func TestARejectedEditIsNotLost(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	says(p, ada, "Ada", "Keep this")
	p.shows(bob, "Keep this")
	create(p, ada, "Lunch")
	picker, draft := ada+".querySelector('.picker select')", labelled(ada, "Message from Ada")
	p.choose(picker, "Tea at four")
	p.shows(ada, "Keep this")
	p.showsNot(ada, "not in the rows yet")
	p.allow("Failed to load resource", "net::ERR")
	p.block("/api/write/")
	p.click(labelled(ada, `Edit "Keep this"`))
	p.fill(labelled(ada, "New text"), "Keep this\r")
	p.shows(ada, "edit sending")
	p.run(focus(draft))
	p.press(kb.ArrowUp)
	if evaluate[bool](p, labelled(ada, "New text")+" != null") {
		t.Error("a message that is being changed can be edited")
	}
	p.choose(picker, "Lunch")
	p.block()
	p.shows(ada, "Rejected: edit: the message has this text already")
	p.choose(picker, "Tea at four")
	p.eventually("the text is there", draft+"?.value === 'Keep this'")
	p.run(reload) // as a login does
	p.choose(picker, "Tea at four")
	p.eventually("it is still there", draft+"?.value === 'Keep this'")
}

// Who has lost a thread can still read what was rejected there, and throw it away.
func TestARejectionOutlivesItsThread(t *testing.T) {
	t.Parallel()
	install(t)
	s, p := chatting(t, 1440, 900)
	p.allow("Failed to load resource", "net::ERR")
	p.block("/api/write/")
	says(p, bob, "Bob", "Wait for me")
	p.shows(bob, "sending")
	person := func(at int) string {
		return evaluate[string](p, fmt.Sprintf("document.querySelectorAll('.who .name select')[%d].value", at))
	}
	thread := evaluate[string](p, bob+".querySelector('.picker select').value")
	send(t, s, "/threads/remove_member", map[string]any{"executor_id": person(0), "thread_id": thread, "user_account_id": person(1)})
	p.shows(bob, "Bob is not in this thread any more")
	p.block()
	p.shows(bob, "Rejected messages: 1")
	p.shows(bob, "Wait for me")
	if evaluate[bool](p, "!!"+labelled(bob, "Mend it")) {
		t.Error("a text is put back where nobody can write")
	}
	p.accessible("a rejection in a thread that is gone")
	create(p, bob, "Lunch")
	p.shows(bob, "Rejected messages in other threads: 1")
	p.run(reload)
	p.shows(bob, "Rejected messages in other threads: 1")
	p.click(bob + ".querySelector('.rejected summary')")
	p.shows(bob, "Wait for me")
	p.click(labelled(bob, "Discard it"))
	p.click(labelled(question, "Discard the message"))
	p.showsNot(bob, "Rejected")
	p.eventually("nothing is kept of it", "Object.keys(localStorage).every((key) => !key.startsWith('threads.outbox'))")
}

// A proxy may refuse a command with a page of its own: what comes after it is sent all the same.
func TestARefusalOnTheWayHoldsNothingUp(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.fetching(`
		const body = String(asked[1]?.body);
		if (body.includes('Let me in') && !globalThis.passed) {
			globalThis.passed = true;
			return new Response('<h1>Slow down</h1>', {status: 429});
		}
		return body.includes('Too much') ? new Response('<h1>Too large</h1>', {status: 413}) : load(...asked)`)
	says(p, ada, "Ada", "Too much")
	says(p, ada, "Ada", "Let me in")
	p.shows(bob, "Let me in")
	p.shows(ada, "Rejected: refused on the way to the server (413)")
	p.shows(flow, "sent 2 times, with one key")
	p.click(labelled(ada, "Mend it"))
	p.eventually("the text is back", labelled(ada, "Message from Ada")+".value === 'Too much'")
}

// What is rejected after a reload is told also if it was before the thread is open, and its text is not lost. What is
// rejected while another thread is open is told with the name of its own.
func TestARejectionIsToldWhereItBelongs(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	editWaits(p)
	p.beforeEachPage(`{
		const load = globalThis.fetch;
		globalThis.fetch = async (...asked) => {
			if (String(asked[1]?.body).includes('threadList')) await new Promise((later) => setTimeout(later, 3000));
			return load(...asked);
		};
	}`)
	p.block()
	p.run(reload)
	p.shows(ada, "Rejected: edit message: the message has this text already")
	p.eventually("the text is there", labelled(ada, "Message from Ada")+".value === 'Keep this'")

	create(p, ada, "Lunch")
	picker := ada + ".querySelector('.picker select')"
	p.choose(picker, "Tea at four")
	p.shows(ada, "2 people")
	p.block("/api/write/")
	p.click(labelled(ada, "2 people"))
	p.fill(labelled(ada, "New name of the thread"), "Tea at four\r")
	p.choose(picker, "Lunch")
	p.shows(ada, "1 person")
	p.block()
	p.shows(ada, "Tea at four: the thread has this name already")
}

// scrolled moves a pane's messages as a wheel does, and waits until the page knows.
func (p *tab) scrolled(pane string, top string) {
	p.t.Helper()
	evaluate[int](p, `new Promise((done) => {
		const list = `+pane+`.querySelector('.messages');
		list.scrollTop = `+top+`;
		requestAnimationFrame(() => requestAnimationFrame(() => done(1)));
	})`)
}

func TestAListOpensAtItsEndAndHasAllMessages(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 900)
	postMany(p, s, 120)
	p.run(reload)
	p.shows(ada, "number 120 of many")
	atEnd := func(about, pane string) {
		t.Helper()
		p.eventually(about, `(() => { const list = `+pane+`?.querySelector('.messages'); return list && list.scrollTop + list.clientHeight > list.scrollHeight - 2; })()`)
	}
	atEnd("the newest message is in view", ada)
	p.showsNot(ada, "number 70 of many")

	// Scrolling up loads earlier messages, above what is looked at.
	top := `Math.round(` + ada + `.querySelector('.messages').scrollTop)`
	for _, oldest := range []string{"number 21 of many", "number 1 of many"} {
		first := p.texts(ada)[0]
		p.scrolled(ada, "100")
		place := fmt.Sprintf(`Math.round([...%s.querySelectorAll('.message')].find((each) => each.innerText.includes(%q))?.getBoundingClientRect().top)`, ada, first)
		before := evaluate[int](p, place)
		p.shows(ada, oldest)
		if after := evaluate[int](p, place); after < before-40 || after > before+40 {
			t.Errorf("%q has moved from %d to %d", first, before, after)
		}
	}
	if shown := p.texts(ada); len(shown) != 120 {
		t.Errorf("%d messages are shown", len(shown))
	}
	p.showsNot(ada, "Earlier messages")

	// What comes now does not move the list, but is announced.
	p.scrolled(ada, "200")
	before := evaluate[int](p, top)
	says(p, bob, "Bob", "Are you still reading?")
	p.shows(ada, "One new message")
	says(p, bob, "Bob", "Hello?")
	p.shows(ada, "2 new messages")
	if after := evaluate[int](p, top); after != before {
		t.Errorf("the list has moved from %d to %d", before, after)
	}
	p.screenshot("pill")
	p.click(labelled(ada, "2 new messages ↓"))
	atEnd("the newest messages are in view", ada)
	p.showsNot(ada, "new messages")

	// A message that is above the last fifty changes, too.
	p.scrolled(ada, "0")
	p.click(labelled(ada, `Edit "number 3 of many messages"`))
	p.fill(labelled(ada, "New text"), "number three\r")
	p.shows(ada, "number three")
	p.shows(ada, "edited")
	p.showsNot(ada, "edit written")
}

// Somebody may scroll as soon as the messages are there, before the first frame shows them.
func TestAListCanBeScrolledAtOnce(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 900)
	postMany(p, s, 60)
	p.beforeEachPage(`new MutationObserver((_, observer) => {
		const list = ` + ada + `?.querySelector('.messages');
		if (list?.querySelectorAll('.message').length !== 50) return;
		observer.disconnect();
		list.scrollTop = 100;
	}).observe(document, {childList: true, subtree: true})`)
	p.run(reload)
	p.shows(ada, "number 1 of many")
}

func TestTheConnectionIsLostOnlyWhenItWas(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.beforeEachPage(`new MutationObserver(() => { globalThis.alarmed ||= document.body?.innerText.includes('connection lost') })
		.observe(document, {childList: true, subtree: true, characterData: true})`)
	p.run(reload)
	p.shows("document.querySelector('.live')", "live")
	p.shows(ada, "2 people")
	if evaluate[bool](p, "globalThis.alarmed") {
		t.Error("a page that has just been opened tells of a lost connection")
	}
}

func TestWhatIsDoneIsSeen(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	latest := flow + "?.querySelector('.trace')"
	p.click(labelled(bob, "2 people"))
	p.click(labelled(bob, "Leave the thread"))
	p.click(labelled(question, "Leave"))
	p.shows(latest, "remove member")
	p.shows(latest, "seen after")
	p.click(labelled(ada, "1 person"))

	// Before it happens, one is asked, and may keep the thread.
	p.click(labelled(ada, "Delete thread"))
	p.shows(question, "It can't be undone")
	p.accessible("a question")
	p.screenshot("question")
	p.click(labelled(question, "Cancel"))
	p.eventually("the button has the focus again", labelled(ada, "Delete thread")+" === document.activeElement")
	p.shows(ada, "Tea at four")
	p.click(labelled(ada, "Delete thread"))
	p.click(labelled(question, "Delete the thread for ever"))
	p.shows(latest, "Ada delete")
	p.shows(latest, "seen after")
}

// An Admin is asked before others lose access, and before the rights are gone.
func TestAnAdminIsAsked(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.click(labelled(ada, "2 people"))
	p.click(labelled(ada, "Make Admin: Bob"))
	p.eventually("Bob is an Admin", labelled(ada, "Make Member: Bob"))
	p.click(labelled(ada, "Make Member: yourself"))
	p.shows(question, "Only another Admin can make you an Admin again")
	p.click(labelled(question, "Cancel"))
	p.click(labelled(ada, "Remove Bob"))
	p.shows(question, "Remove Bob from this thread?")
	p.click(labelled(question, "Cancel"))
	p.shows(ada, "2 people")
	p.click(labelled(ada, "Make Member: yourself"))
	p.click(labelled(question, "Be a Member"))
	p.eventually("Ada is no Admin", "!"+labelled(ada, "Remove Bob"))
	p.click(labelled(bob, "2 people"))
	p.click(labelled(bob, "Remove Ada"))
	p.click(labelled(question, "Remove Ada"))
	p.shows(bob, "1 person")
	p.shows(ada, "not in this thread any more")
}

// All threads can be opened, also those after the five hundred that an answer has at most.
func TestTheListOfThreadsGoesOn(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 900)
	viewer := evaluate[string](p, "document.querySelector('.who select').value")
	for n := range 510 {
		send(t, s, "/threads/create", map[string]any{"executor_id": viewer, "name": fmt.Sprint("thread ", n+1)})
	}
	list := ada + ".querySelector('.picker select')"
	for listed := 50; listed < 511; listed *= 2 {
		// The first line says that the open one is not among those listed, and the last one that there are more.
		p.eventually(fmt.Sprint(listed, " are listed"), list+".options[1].text === 'thread 510' && "+list+fmt.Sprint(".options.length === ", listed+2))
		p.choose(list, "More threads")
		p.eventually("the thread is still open", ada+".querySelector('.title h2').innerText === 'Tea at four'")
	}
	p.eventually("all are listed", list+".options.length === 511 && ![..."+list+".options].some((each) => each.text.startsWith('More'))")
	p.choose(list, "thread 1")
	p.choose(list, "Tea at four")
	p.shows(ada, "2 people")
	p.eventually("the list stays long", list+".options.length === 511")
}

// All members can be seen, also those after the first hundred, and who is one of them is no less an Admin.
func TestAThreadOfManyPeople(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 900)
	add := func(user, role string) {
		t.Helper()
		send(t, s, "/threads/add_member", map[string]any{
			"executor_id": evaluate[string](p, "document.querySelector('.who select').value"), "role": role, "user_account_id": user,
			"thread_id": evaluate[string](p, "document.querySelector('.picker select').value"),
		})
	}
	for n := range 600 {
		add(fmt.Sprintf("01H42K4ABWQ5V2XQEP3A4%05d", n), "Member")
	}
	carl := within("What Carl sees")
	p.click(bob + `.querySelector('button[title="Somebody new"]')`)
	p.fill(labelled(bob, "Name of the new person"), "Carl")
	p.click(labelled(bob, "Register"))
	p.shows(carl, "Carl is in no thread")
	add(evaluate[string](p, "document.querySelectorAll('.who .name select')[1].value"), "Admin")

	p.click(labelled(carl, "101 or more people"))
	p.eventually("Carl is an Admin", labelled(carl, "Delete thread"))
	people := ada + ".querySelectorAll('.people li').length"
	p.click(labelled(ada, "100 or more people"))
	for listed := 100; listed < 603; listed += 100 {
		p.eventually(fmt.Sprint(listed, " people are listed"), fmt.Sprint(people, " === ", listed))
		p.click(labelled(ada, "More people"))
	}
	p.shows(ada, "603 people")
	p.showsNot(ada, "More people")
	says(p, carl, "Carl", "So many of you")
	p.shows(ada, "So many of you")
	p.eventually("all stay listed", people+" === 603")
	p.click(labelled(carl, "Make Member: yourself"))
	p.click(labelled(question, "Be a Member"))
	p.eventually("Carl is no Admin", "!"+labelled(carl, "Delete thread"))
	p.shows(ada, "603 people")
}

// The members of a thread are read also if those of another one were still on their way.
func TestTheMembersOfTheNextThreadAreRead(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 900)
	id := func(at int) string {
		return evaluate[string](p, fmt.Sprintf("document.querySelectorAll('.who .name select')[%d].value", at))
	}
	admin, last := id(0), id(1)
	for _, name := range []string{"One", "Two"} {
		thread := send(t, s, "/threads/create", map[string]any{"executor_id": admin, "name": name})["thread_id"]
		add := func(user, role string) {
			t.Helper()
			send(t, s, "/threads/add_member", map[string]any{"executor_id": admin, "thread_id": thread, "user_account_id": user, "role": role})
		}
		for n := range 100 {
			add(fmt.Sprintf("01H42K4ABWQ5V2XQEP3A4%05d", n), "Member")
		}
		add(last, "Admin")
	}
	release := p.withhold("body.includes('query ownMember') && !globalThis.asked++")
	p.run(evaluation("globalThis.asked = 0; null", nil))
	picker := bob + ".querySelector('.picker select')"
	p.choose(picker, "One")
	p.eventually("it is asked who Bob is there", "globalThis.asked > 0")
	p.choose(picker, "Two")
	p.eventually("the other thread is open", bob+".querySelector('.title h2')?.innerText === 'Two'")
	release()
	p.shows(bob, "101 or more people")
	p.click(labelled(bob, "101 or more people"))
	p.eventually("Bob is an Admin", labelled(bob, "Delete thread"))
}

func TestWhoComesBackIsLetIn(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.click(labelled(bob, "2 people"))
	p.click(labelled(bob, "Leave the thread"))
	p.click(labelled(question, "Leave"))
	p.shows(bob, "not in this thread any more")
	p.shows(ada, "1 person")
	invite(p, ada, "Bob")
	says(p, bob, "Bob", "Here I am again")
	p.shows(ada, "Here I am again")
}

func TestPeopleStayWhereTheyWere(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.choose("document.querySelectorAll('.who select:not(.picker select)')[0]", "Bob")
	p.choose("document.querySelectorAll('.who select:not(.picker select)')[1]", "Ada")
	names := "[...document.querySelectorAll('.pane')].map((each) => each.ariaLabel).join()"
	p.eventually("they have changed sides", names+" === 'What Bob sees,What Ada sees'")
	p.run(reload)
	p.shows(ada, "2 people")
	if found := evaluate[string](p, names); found != "What Bob sees,What Ada sees" {
		t.Errorf("after a reload: %s", found)
	}

	// Arrows through the list choose among those who are there, and register nobody.
	p.run(focus("document.querySelector('.who select')"))
	p.press(kb.ArrowDown, kb.ArrowUp, kb.ArrowDown, kb.ArrowDown, kb.ArrowDown)
	if count := evaluate[int](p, "JSON.parse(localStorage.getItem('threads.people')).length"); count != 2 {
		t.Errorf("there are %d people", count)
	}
	p.showsNot(flow, "register")

	// A new one has a name of their own.
	p.click("document.querySelectorAll('.pane')[1].querySelector('.who button')")
	p.fill(labelled("document", "Name of the new person"), "Cleo\r")
	p.shows(within("What Cleo sees"), "Cleo is in no thread")
}

func TestTheFocusStaysOnThePage(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	says(p, ada, "Ada", "one")
	p.shows(bob, "one")
	stays := func(about string) {
		t.Helper()
		p.eventually("the focus is on the page after "+about, "document.activeElement !== document.body")
	}
	press := func(pane, button string) {
		t.Helper()
		p.eventually("there is "+button, labelled(pane, button))
		p.run(focus(labelled(pane, button)))
		p.press(kb.Enter)
	}
	press(ada, `Edit "one"`)
	p.run(chromedp.KeyEvent(" and a half\r"))
	p.shows(bob, "one and a half")
	stays("an edit")
	press(ada, `Edit "one and a half"`)
	p.press(kb.Escape)
	p.showsNot(ada, "Cancel")
	stays("an edit that was given up")
	press(ada, `Delete "one and a half"`)
	press(question, "Delete the message")
	p.showsNot(bob, "one and a half")
	p.showsNot(ada, "one and a half")
	stays("a deletion")
	press(bob, "2 people")
	press(bob, "Leave the thread")
	press(question, "Leave")
	p.shows(bob, "not in this thread any more")
	stays("leaving")
}

func TestTheLastMessageIsEditedByArrow(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	says(p, ada, "Ada", "Tee?")
	says(p, bob, "Bob", "What?")
	p.shows(ada, "What?")
	p.showsNot(ada, "not in the rows yet")
	p.run(focus(labelled(ada, "Message from Ada")))
	p.press(kb.ArrowUp)
	p.eventually("her last text has the focus", "document.activeElement.value === 'Tee?'")
	p.fill("document.activeElement", "Tea?\r")
	p.shows(bob, "Tea?")
	p.eventually("she can go on writing", labelled(ada, "Message from Ada")+" === document.activeElement")
	// What is typed outlives its message.
	p.run(focus(labelled(bob, "Message from Bob")))
	p.press(kb.ArrowUp)
	p.eventually("his last text has the focus", "document.activeElement.value === 'What?'")
	p.fill("document.activeElement", "What kind?")
	p.click(labelled(ada, `Delete "What?"`))
	p.click(labelled(question, "Delete the message"))
	p.shows(bob, "The message that you were editing has been deleted.")
	p.eventually("his text waits", labelled(bob, "Message from Bob")+".value === 'What kind?'")
}

func TestUnreadMessagesAreCounted(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	create(p, ada, "Lunch")
	invite(p, ada, "Bob")
	says(p, ada, "Ada", "Soup?")
	says(p, ada, "Ada", "Or salad?")
	p.shows(bob, "Lunch (2 unread)")
	p.eventually("the title has the count", "document.title === '(2) Threads'")
	p.screenshot("unread")
	p.choose(bob+".querySelector('.picker select')", "Lunch")
	p.shows(bob, "Or salad?")
	p.showsNot(bob, "unread")
	p.eventually("the title has no count", "document.title === 'Threads'")
	p.hide(true)
	says(p, ada, "Ada", "Are you there?")
	p.eventually("who looks elsewhere is told", "document.title === '(1) Threads'")
	p.hide(false)
	p.eventually("and reads it on return", "document.title === 'Threads'")
	p.choose(bob+".querySelector('.picker select')", "Tea at four")
	p.run(reload)
	p.shows(bob, "Tea at four")
	p.showsNot(bob, "unread")
	// A line says on which day something was said.
	p.eventually("the day is there", "[...document.querySelectorAll('.day')].some((each) => each.innerText === 'Today')")
	p.beforeEachPage(`globalThis.Date = class extends Date {
		constructor(...given) { given.length ? super(...given) : super(Date.now()); }
		static now() { return super.now() + 24 * 3600 * 1000; }
	}`)
	p.run(reload)
	p.eventually("it was yesterday", "[...document.querySelectorAll('.day')].some((each) => each.innerText === 'Yesterday')")
}

func TestTextsRunInTheirDirection(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	says(p, ada, "Ada", "שלום, מה שלומך?")
	p.shows(bob, "שלום")
	p.eventually("it runs from the right", "getComputedStyle("+bob+".querySelector('.message p')).direction === 'rtl'")
	p.fill(labelled(bob, "Message from Bob"), "שלום")
	p.eventually("so does what is being written", "getComputedStyle("+labelled(bob, "Message from Bob")+").direction === 'rtl'")
}

func TestNothingMovesForThoseWhoWantNoMotion(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, moving(t), s.url, 1440, 900)
	p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}))
	p.run(chromedp.Evaluate(`globalThis.moved = 0; {
		const animate = Element.prototype.animate;
		Element.prototype.animate = function (...how) { globalThis.moved++; return animate.apply(this, how); };
		for (const kind of ['transitionrun', 'animationstart']) document.addEventListener(kind, () => globalThis.moved++);
	}`, nil))
	talk(p)
	if moved := evaluate[int](p, "globalThis.moved"); moved > 0 {
		t.Errorf("%d things have moved", moved)
	}
}

func TestNamesWithTheIssuerForDevelopment(t *testing.T) {
	t.Parallel()
	s := start(t, "AUTH=dev")
	p := open(t, chromium(t), s.url, 1200, 900)
	other := open(t, chromium(t), s.url, 1200, 900)
	p.click(labelled("document", "Log in as ada"))
	create(p, ada, "Secrets")
	p.shows(flow, "register")
	p.showsNot(flow, "not seen yet")
	invite(p, ada, "bob")
	p.shows(ada, "Bob")
	other.click(labelled("document", "Log in as bob"))
	says(other, bob, "Bob", "I can keep one")
	p.shows(ada, "I can keep one")
	for who, text := range map[string]string{"ada": evaluate[string](p, ada+".innerText"), "bob": evaluate[string](other, bob+".innerText")} {
		if regexp.MustCompile("…[0-9A-Z]{6}").MatchString(text) {
			t.Errorf("%s sees a number for a name:\n%s", who, text)
		}
	}
	other.shows(within("Live flow"), "register")
	other.showsNot(within("Live flow"), "not seen yet")
}

// A browser without room for the outbox sends what is written all the same.
func TestAMessageWithoutRoomInTheBrowser(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1200, 900)
	evaluate[int](p, `(() => {
		let keys = 0
		for (let room = 1 << 22; room >= 1;) {
			try {
				localStorage.setItem('filler' + keys++, 'x'.repeat(room))
			} catch {
				room = Math.floor(room / 2)
			}
		}
		return keys
	})()`)
	says(p, ada, "Ada", "No room in here")
	p.shows(bob, "No room in here")
}

// Another login in the same browser ends the session of an open tab: what is written there is sent in the new one, and
// nothing in the name of another account.
func TestALoginInAnotherTab(t *testing.T) {
	t.Parallel()
	s := start(t, "AUTH=dev")
	browser := chromium(t)
	p := open(t, browser, s.url, 1200, 900)
	p.allow("401", "403", "net::ERR") // once it is logged out, and in; and while it is blocked
	p.click(labelled("document", "Log in as ada"))
	create(p, ada, "Secrets")
	invite(p, ada, "bob")
	evaluate[bool](p, "window.same = true")
	other := open(t, anotherTab(t, browser), s.url, 1200, 900)
	other.allow("401") // what it asks for while it logs out
	is := func(user string) {
		t.Helper()
		other.click(labelled("document", "Log out"))
		other.click(labelled("document", "Log in as "+user))
	}
	said := func(text string) {
		t.Helper()
		is := fmt.Sprintf("[...%s.querySelectorAll('.message.own:not(.pending)')].some((each) => each.innerText.includes(%q))", ada, text)
		other.eventually("Ada has said "+text, is)
	}
	is("ada")
	other.shows(ada, "Secrets")
	p.shows(ada, "Secrets") // also if it has met the moment without a session: then the field was gone
	says(p, ada, "Ada", "I am still here")
	said("I am still here")

	p.block("/api/")
	says(p, ada, "Ada", "Nobody hears me")
	other.click(labelled("document", "Log out"))
	p.block()
	p.shows("document.body", "Your session has ended")
	other.click(labelled("document", "Log in as ada"))
	other.shows(ada, "Secrets")
	said("Nobody hears me")
	p.shows(ada, "Nobody hears me")
	if !evaluate[bool](p, "window.same === true") {
		t.Error("the tab was loaded again")
	}

	p.block("/api/")
	says(p, ada, "Ada", "Who am I?")
	is("bob")
	other.shows(bob, "Secrets")
	p.block()
	p.shows(bob, "Secrets")
	p.showsNot(bob, "Who am I?")
	is("ada")
	other.shows(ada, "Secrets")
	said("Who am I?")
}

func TestAPhoneIsEnough(t *testing.T) {
	t.Parallel()
	install(t)
	s, p := chatting(t, 375, 667)
	postMany(p, s, 60)
	p.shows(ada, "number 60 of many")
	reachable := func(about string) {
		t.Helper()
		p.eventually(about+": the field is on the screen, and nothing lies on it", `(() => {
			const field = [...document.querySelectorAll('.composer textarea')].find((each) => each.offsetParent);
			const box = field?.getBoundingClientRect();
			return box && box.top > 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth &&
				field.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)) && document.documentElement.scrollWidth <= innerWidth;
		})()`)
	}
	reachable("at the beginning")
	p.screenshot("phone-chat")
	p.scrolled(ada, "0")
	reachable("scrolled up")
	p.click(labelled(ada, "2 people"))
	p.shows(ada, "Close Ada's account")
	reachable("among people")
	p.fits("people on a phone")
	p.screenshot("phone-people")
	p.click(labelled(ada, "2 people"))
	p.click(labelled("document", "Bob"))
	reachable("as Bob")
	says(p, bob, "Bob", "from a phone")
	p.shows(bob, "from a phone")
	p.click(labelled("document", "Ada"))
	p.shows(ada, "from a phone")
	// With its keyboard, a phone shows half of that.
	p.run(chromedp.EmulateViewport(375, 400))
	reachable("with a keyboard")
	p.screenshot("phone-keyboard")
	p.accessible("a phone with a keyboard")
}

// Two people may have one name: who is in the thread already is not meant, and of several others nobody is guessed.
func TestAPersonIsAddedByAUniqueName(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	another := func() {
		t.Helper()
		count := "JSON.parse(localStorage.getItem('threads.people')).length"
		before := evaluate[int](p, count)
		p.click(bob + `.querySelector('button[title="Somebody new"]')`)
		p.fill(labelled(bob, "Name of the new person"), "Bob\r")
		p.eventually("there is another Bob", fmt.Sprint(count, " > ", before))
	}
	add := labelled(ada, "Name or account id of who is to be added")
	another()
	p.click(labelled(ada, "2 people"))
	p.fill(add, "bob\r")
	p.shows(ada, "3 people")
	another()
	another()
	p.fill(add, "Bob\r")
	p.shows(ada, "Several people are called Bob")
	p.shows(ada, "3 people")
	p.fill(add, evaluate[string](p, ada+".querySelector('datalist option').value")+"\r")
	p.shows(ada, "4 people")
	p.showsNot(ada, "Several people")
}
