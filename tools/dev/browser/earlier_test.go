// extra:chat

package browser

import (
	"fmt"
	"testing"
)

// Many messages may come while earlier ones are loaded: none is missing afterwards.
func TestEarlierMessagesHaveNoGap(t *testing.T) {
	t.Parallel()
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 900)
	begin(p)
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
	s := start(t)
	p := open(t, chromium(t), s.url, 1440, 900)
	begin(p)
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
