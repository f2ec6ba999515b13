// extra:chat

package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var readModel = within("Read model")

// What is said of a rebuild is what the updater knows of it.
func TestARebuildEndsInTheView(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1200, 900, "LAB=on")
	p.click(labelled("document", "Operations"))
	p.shows(readModel, "Rebuild")
	// Each text, whether the updater knew of the rebuild's end when it was said, and how far the rebuild was.
	p.run(chromedp.Evaluate(`globalThis.said = []; globalThis.done = 0; globalThis.progress = ''; {
		const fetch = globalThis.fetch;
		globalThis.fetch = async (...asked) => {
			const response = await fetch(...asked);
			if (asked[0] === '/status') {
				const { programs } = await response.clone().json();
				globalThis.done = programs[1].figures.projection_rebuild_done_timestamp_seconds ?? globalThis.done;
			}
			return response;
		};
		new MutationObserver(() => {
			const text = `+readModel+`.querySelector('[role=status]').innerText;
			if (text && globalThis.said.at(-1)?.[0] !== text) globalThis.said.push([text, globalThis.done > 0]);
			globalThis.progress += `+readModel+`.innerText;
		}).observe(`+readModel+`, {subtree: true, childList: true, characterData: true});
	} null`, nil))
	// The lab ends it some seconds after it was asked for last.
	p.run(evaluation(`{
		globalThis.slow = () => fetch('/lab/state', {method: 'POST', body: '{"replay_ms":2000}'});
		setInterval(slow, 3000);
	} slow().then(() => null)`, nil))
	p.click(labelled(readModel, "Rebuild"))
	p.eventually("it was asked for", "said.some(([text]) => text.includes('it begins in a moment'))")
	p.eventually("it was running", "said.some(([text]) => text === 'The rebuild is running.')")
	p.eventually("it was half done", "progress.includes('reading: 2 of 4 events')")
	p.screenshot("rebuild-running")
	p.shows(readModel, "The rebuild has ended after")
	p.shows(readModel, "the rows are new")
	for _, said := range evaluate[[][]any](p, "globalThis.said") {
		if text, done := said[0].(string), said[1].(bool); done != strings.HasPrefix(text, "The rebuild has ended ") {
			t.Errorf("the page says %q, and the updater has finished a rebuild: %v", text, done)
		}
	}
	p.eventually("another one can begin", "!"+labelled(readModel, "Rebuild")+".disabled")
}

// pretends that no rebuild is asked for, and that the updater tells of one as globalThis.told of the page says.
func (p *tab) pretends() {
	p.t.Helper()
	p.run(chromedp.Evaluate(`globalThis.told = undefined; {
		const fetch = globalThis.fetch;
		globalThis.fetch = async (...asked) => {
			if (String(asked[0]).endsWith('/rows/rebuild')) return Response.json({asked: true});
			const response = await fetch(...asked);
			if (asked[0] !== '/status') return response;
			const answer = await response.json();
			answer.programs[1].health.rebuild = globalThis.told;
			return Response.json(answer);
		};
	}`, nil))
}

func TestARebuildThatFails(t *testing.T) {
	t.Parallel()
	install(t)
	_, p := chatting(t, 1200, 900)
	p.click(labelled("document", "Operations"))
	p.pretends()
	p.click(labelled(readModel, "Rebuild"))
	p.shows(readModel, "it begins in a moment")
	p.run(chromedp.Evaluate("globalThis.told = {phase: 'reading', events: 1200, events_total: 5000, interrupted: false}", nil))
	p.shows(readModel, "The rebuild is running.")
	p.shows(readModel, "reading: 1,200 of 5,000 events")
	p.run(chromedp.Evaluate("globalThis.told = {phase: 'verifying', events: 5000, events_total: 5000, failure: 'the disk is full', interrupted: false}", nil))
	p.shows(readModel, "The rebuild has stopped: the disk is full. The rows are the old ones")
	p.shows(readModel, "ten seconds later")
	p.showsNot(readModel, "has ended")
	p.accessible("a rebuild that has stopped")
	p.screenshot("rebuild-stopped")
	// Asked for again it goes on, and somebody cancels it.
	p.click(labelled(readModel, "Rebuild"))
	p.shows(readModel, "it begins in a moment")
	p.run(chromedp.Evaluate("globalThis.told = {phase: 'verifying', events: 5000, events_total: 5000, interrupted: false}", nil))
	p.shows(readModel, "The rebuild is running.")
	p.run(chromedp.Evaluate("globalThis.told = undefined", nil))
	p.shows(readModel, "The rebuild was cancelled: the rows are the old ones.")
}

// An updater that does not begin has not ended anything.
func TestARebuildThatDoesNotBegin(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1200, 900)
	p.click(labelled("document", "Operations"))
	p.pretends()
	p.click(labelled(readModel, "Rebuild"))
	p.shows(readModel, "it begins in a moment")
	p.shows(readModel, "The rebuild has not begun within 10 s: the rows are the old ones")
	p.shows(readModel, "threadctl rows rebuild")
	p.showsNot(readModel, "has ended")
}
