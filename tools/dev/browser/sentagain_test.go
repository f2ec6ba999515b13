// extra:chat

package browser

import (
	"slices"
	"testing"
)

// Whoever was slower than other writers, again and again, has not been rejected.
func TestAConflictIsSentAgain(t *testing.T) {
	t.Parallel()
	p := open(t, chromium(t), start(t).url, 1440, 900)
	begin(p)
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
	p := open(t, chromium(t), start(t).url, 1440, 900)
	begin(p)
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
