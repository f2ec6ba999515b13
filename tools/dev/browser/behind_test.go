// extra:chat

package browser

import (
	"fmt"
	"testing"
)

// fetching runs a script around each request of the page: it has load, to send the request, and asked, its arguments.
func (p *tab) fetching(script string) {
	p.t.Helper()
	p.run(evaluation(`{ const load = globalThis.fetch; globalThis.fetch = async (...asked) => { `+script+` }; } null`, nil))
}

// set sets faults of the failure lab.
func (p *tab) set(faults string) {
	p.t.Helper()
	p.run(evaluation("fetch('/lab/state', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: `"+faults+"`}).then(() => null)", nil))
}

// While only a lower bound of the lag is known, nothing is lost, and the rows are not at the journal's end.
func TestALowerBoundOfTheLagIsNoLag(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 1000, "LAB=on")
	p.set(`{"paused": true}`)
	p.fetching(`
		const response = await load(...asked);
		if (asked[0] !== '/status') return response;
		const answer = await response.json();
		Object.assign(answer.programs[1].health, {behind_seconds: 30, behind_records: 0, behind_at_least: true});
		globalThis.looked = (globalThis.looked ?? 0) + 1;
		return Response.json(answer)`)
	says(p, ada, "Ada", "Is it lost?")
	p.shows(flow, "not seen yet")
	p.run(evaluation("globalThis.looked = 0", nil))
	p.eventually("the page has looked", "globalThis.looked > 3")
	p.showsNot(flow, "the record is lost")
	p.shows(flow, "Lag of the projection now: at least 30.0 s, 0 events")
	p.click(labelled("document", "Operations"))
	p.shows(within("Programs"), "at least 30.0 s, 0 events")
	p.showsNot(within("Programs"), "journal at, rows at")
}

// Where the journal ends is known also while nobody writes.
func TestTheEndOfAQuietJournalIsKnown(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 1000)
	p.run(reload)
	p.shows(ada, "2 people")
	p.click(labelled("document", "Operations"))
	p.shows(within("Programs"), "journal at, rows at\n4, 4")
}

// A tab that was hidden knows events of a new aggregate, of which there are no rows yet.
func TestAHiddenTabMissesNoDistance(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 1100, "LAB=on")
	p.shows(everything, "all in the rows")
	p.set(`{"paused": true}`)
	created := send(t, s, "/threads/create", map[string]any{"executor_id": carol, "name": "Secrets"})
	for n := range 3 {
		send(t, s, "/threads/post_message", map[string]any{"executor_id": carol, "thread_id": created["thread_id"], "text": fmt.Sprint(n)})
	}
	p.shows(everything, "4 not in the rows yet")
	p.hide(true)
	p.hide(false)
	p.shows(everything, "4 not in the rows yet")
	p.set(`{"paused": false}`)
	p.shows(everything, "all in the rows")
}
