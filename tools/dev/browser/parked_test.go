// extra:chat

package browser

import "testing"

// The list of what is parked follows what becomes of it, and a refusal is seen.
func TestWhatIsParkedIsTold(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900, "LAB=on")
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(within("Make an event unreadable"), "Break the next event"))
	p.shows(within("Make an event unreadable"), "The thread is parked")
	p.click(labelled("document", "Operations"))
	parked := within("Parked aggregates")
	p.shows(parked, "on event 3")
	p.fetching(`
		if (String(asked[0]).endsWith('/retry') && !globalThis.refused) {
			globalThis.refused = true;
			return Response.json({status: 409, title: 'Conflict', code: 'not_parked', detail: 'it is refused'}, {status: 409});
		}
		const response = await load(...asked);
		if (globalThis.refused && String(asked[0]).endsWith('/dead-letters')) globalThis.listed = true;
		return response`)
	p.click(labelled(parked, "Retry"))
	p.eventually("the list was read again", "globalThis.listed")
	p.run(evaluation("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100))).then(() => null)", nil))
	p.shows(parked, "it is refused")
	p.allow("/dead-letters/retry") // it may have gone on by itself
	p.set(`{"unreadable": 0, "break_next": false}`)
	p.click(labelled(parked, "Retry"))
	p.shows(parked, "Nothing is parked")
}
