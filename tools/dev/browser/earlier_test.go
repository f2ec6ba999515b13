// extra:chat

package browser

import (
	"fmt"
	"testing"
)

// Many messages may come while earlier ones are loaded: none is missing afterwards.
func TestEarlierMessagesHaveNoGap(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 900, "LAB=on")
	postMany(p, s, 60)
	p.run(reload)
	p.shows(ada, "number 60 of many")
	p.fetching(`
		const response = await load(...asked);
		if (String(asked[1]?.body).includes('earlierMessages') && !globalThis.answer) await new Promise((done) => (globalThis.answer = done));
		return response`)
	p.scrolled(ada, "0")
	p.eventually("earlier ones are under way", "globalThis.answer")
	p.set(`{"paused": true}`)
	postMany(p, s, 60)
	p.set(`{"paused": false}`)
	p.shows(ada, "version 122")
	p.run(evaluation("globalThis.answer()", nil))
	p.eventually("all are there", `(() => { `+ada+`.querySelector('.earlier button')?.click(); return !`+ada+`.querySelector('.earlier'); })()`)
	if shown := p.texts(ada); len(shown) != 120 {
		t.Errorf("%d messages are shown", len(shown))
	}
}

// What is new is counted also if the last message that was read is deleted.
func TestADeletedMessageMakesNoOtherNew(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 900)
	postMany(p, s, 40)
	for _, text := range []string{"one", "two", "the last"} {
		says(p, bob, "Bob", text)
		p.shows(ada, text)
	}
	p.scrolled(ada, "200")
	p.click(labelled(bob, fmt.Sprintf("Delete %q", "the last")))
	p.click(labelled(question, "Delete the message"))
	p.showsNot(ada, "the last")
	p.showsNot(ada, "new message")
	says(p, bob, "Bob", "three")
	p.shows(ada, "One new message")
}

// scrolledUp opens a thread with so many events, whose reader has scrolled up.
func scrolledUp(t *testing.T, events int) (s *program, p *tab, viewer, thread string) {
	s = start(t)
	p = open(t, chromium(t), s.url, 1440, 900)
	begin(p)
	thread = evaluate[string](p, "document.querySelector('.picker select').value")
	viewer = evaluate[string](p, "document.querySelector('.who select').value")
	fill(t, s, viewer, thread, 2, events)
	p.run(reload)
	p.shows(ada, fmt.Sprint("version ", events))
	p.scrolled(ada, "100")
	return s, p, viewer, thread
}

// A change that is no message may be one of an earlier message: they are read again, and stay.
func TestAChangeKeepsEarlierMessages(t *testing.T) {
	t.Parallel()
	s, p, viewer, thread := scrolledUp(t, 1200)
	count := ada + ".querySelectorAll('.message').length"
	p.eventually("all are loaded", `(() => { `+ada+`.querySelector('.earlier button')?.click(); return `+count+` === 1198; })()`)
	p.fetching(`
		if (String(asked[1]?.body).includes('earlierMessages')) globalThis.reads = (globalThis.reads ?? 0) + 1;
		return load(...asked)`)
	send(t, s, "/threads/rename", map[string]any{"executor_id": viewer, "thread_id": thread, "name": "Tea at five"})
	p.shows(ada, "Tea at five")
	p.eventually("they are read again", "globalThis.reads === 3")
	p.scrolled(ada, "200")
	if n := evaluate[int](p, count); n != 1198 {
		t.Errorf("%d messages are left", n)
	}
}

// Who has scrolled up far does not keep all messages that have ever come.
func TestNotAllEarlierMessagesAreKept(t *testing.T) {
	t.Parallel()
	_, p, _, _ := scrolledUp(t, 2150)
	count := ada + ".querySelectorAll('.message').length"
	p.eventually("many are loaded", `(() => { `+ada+`.querySelector('.earlier button')?.click(); return `+count+` > 2050; })()`)
	says(p, bob, "Bob", "Are you still reading?")
	p.eventually("the first of them are forgotten", count+" < 700")
	p.shows(ada, "One new message")
	p.eventually("they can be read again", `(() => { `+ada+`.querySelector('.earlier button')?.click(); return `+count+` > 700; })()`)
}
