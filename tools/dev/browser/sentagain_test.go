// extra:chat

package browser

import (
	"slices"
	"testing"
)

// Whoever was slower than other writers, again and again, has not been rejected.
func TestAConflictIsSentAgain(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.fetching(`
		if (!String(asked[0]).endsWith('/post_message') || globalThis.refused) return load(...asked);
		globalThis.refused = true;
		return Response.json({status: 409, title: 'Conflict', code: 'concurrent_update', detail: 'try again'}, {status: 409})`)
	says(p, ada, "Ada", "After you")
	p.shows(bob, "After you")
	p.shows(flow, "sent 2 times, with one key")
	p.showsNot(ada, "Rejected")
}

// The push of a message can come before the answer that says its id, which only operators are told elsewhere.
func TestAMessageIsShownOnce(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.allow("Failed to load resource", "net::ERR")
	p.block("/api/operate/")
	p.run(reload)
	p.shows(ada, "2 people")
	p.fetching(`
		const response = await load(...asked);
		if (String(asked[0]).endsWith('/post_message')) await new Promise((done) => (globalThis.answer = done));
		return response`)
	for range 2 {
		says(p, ada, "Ada", "Once")
	}
	p.eventually("the first is pushed", ada+".querySelector('.message:not(.pending)')")
	if shown := p.texts(ada); !slices.Equal(shown, []string{"Once", "Once"}) { // the second one waits
		t.Errorf("shown are %q", shown)
	}
	p.run(evaluation("globalThis.answer()", nil))
	p.eventually("the second is pushed", ada+".querySelectorAll('.message:not(.pending)').length === 2")
	if shown := p.texts(ada); !slices.Equal(shown, []string{"Once", "Once"}) {
		t.Errorf("shown are %q", shown)
	}
	p.run(evaluation("globalThis.answer()", nil))
	p.eventually("the outbox is empty", "Object.keys(localStorage).every((key) => !key.startsWith('threads.outbox'))")
}

// sockets has the page keep its WebSockets, and what it sends by them.
const sockets = `globalThis.sockets = []; globalThis.sent = [];
	globalThis.WebSocket = class extends WebSocket {
		constructor(...given) { super(...given); globalThis.sockets.push(this); }
		send(text) { globalThis.sent.push(JSON.parse(text)); super.send(text); }
		close() { if (!globalThis.hangs) super.close(); }
	};`

// A subscription may fail for a moment: then an answer has errors, and no data. It begins again.
func TestASubscriptionThatFailsBeginsAgain(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.beforeEachPage(sockets)
	p.run(reload)
	p.shows(ada, "2 people")
	p.shows(bob, "2 people")
	p.run(evaluation(`
		globalThis.followed = () => globalThis.sent.filter(({type, payload}) => type === 'subscribe' && payload.query.includes('threadChanged')).map(({id}) => id);
		globalThis.failed = globalThis.followed();
		for (const id of globalThis.failed) {
			const payload = {errors: [{message: 'try again', extensions: {code: 'UNAVAILABLE'}}], data: {threadChanged: null}};
			globalThis.sockets[0].onmessage({data: JSON.stringify({type: 'next', id, payload})});
		}
		null`, nil))
	says(p, ada, "Ada", "Do you hear me?")
	p.shows(bob, "Do you hear me?")
	p.shows(ada, "version 3")
	if !evaluate[bool](p, "globalThis.failed.length === 2 && globalThis.followed().length === 4") {
		t.Error("the subscriptions have not begun again")
	}
	if !evaluate[bool](p, "globalThis.failed.every((id) => globalThis.sent.some((each) => each.type === 'complete' && each.id === id))") {
		t.Error("the server was not told that the failed ones have ended")
	}
}

// The end of a connection that nobody answers on may be confirmed minutes later: nobody waits for that.
func TestASilentConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.beforeEachPage(sockets + `
		globalThis.hangs = true;
		const later = setTimeout;
		globalThis.setTimeout = (then, ms, ...more) => later(then, ms === 45_000 && globalThis.sockets.length === 1 ? 1500 : ms, ...more);`)
	p.run(reload)
	p.shows(ada, "2 people")
	p.eventually("there is another connection", "globalThis.sockets.length === 2 && document.querySelector('.live').innerText === 'live'")
	p.run(evaluation("globalThis.sockets[0].onmessage = null; globalThis.sockets[0].onclose?.(); null", nil))
	says(p, ada, "Ada", "Are you still there?")
	p.shows(bob, "Are you still there?")
	p.eventually("it stays", "globalThis.sockets.length === 2 && document.querySelector('.live').innerText === 'live'")
}
