// extra:chat

package browser

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What a newcomer does first, by what the page offers alone.
func TestANewcomersFirstMinute(t *testing.T) {
	t.Parallel()
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 900)
	views := func(name string) {
		t.Helper()
		p.fits(name)
		p.screenshot("tour-" + name)
		p.prefer("dark")
		p.screenshot("tour-" + name + "-dark")
		p.prefer("light")
		p.run(chromedp.EmulateViewport(375, 812))
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
	p.shows(ada, "not in the rows yet")
	views("killed")
	p.click(labelled(within("Kill the projection"), "Start again"))
	p.shows(bob, "Who reads this?")
	p.holds("Kill the projection")
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

var theTour = within("Tour")

// looks expects that the tour points at a part of the map which can be seen.
func (p *tab) looks(place, element string) {
	p.t.Helper()
	p.eventually("the tour points at the "+place, fmt.Sprintf(`(() => {
		const box = document.querySelector('[data-look=%s]') && %s?.getBoundingClientRect();
		return box && box.height > 0 && box.top < innerHeight && getComputedStyle(%[2]s).outlineStyle === 'solid';
	})()`, place, element))
}

// steady begins to note the heights of the page's parts, until stayed.
func (p *tab) steady() {
	p.t.Helper()
	p.eventually("the parts are there", theMap+" && document.querySelector('.pane.front')")
	p.run(chromedp.Evaluate(`{
		globalThis.heights = {};
		const observer = new ResizeObserver((seen) => {
			for (const { target } of seen) (globalThis.heights[target.className || target.tagName] ??= new Set()).add(target.offsetHeight);
		});
		for (const part of ['header', '.tour', '.pane.front', '.map']) observer.observe(document.querySelector(part));
	}`, nil))
}

// stayed expects that each part has had one height since steady.
func (p *tab) stayed(about string) {
	p.t.Helper()
	jumped := evaluate[string](p, `Object.entries(globalThis.heights).filter(([, seen]) => seen.size !== 1).map(([part, seen]) => part + ': ' + [...seen].join(', ')).join('; ')`)
	if jumped != "" {
		p.t.Errorf("%s: these have changed their heights: %s", about, jumped)
	}
}

// notes begins to note what the parts show that show it for seconds only: a busy machine may look too late.
func (p *tab) notes() {
	p.t.Helper()
	p.run(chromedp.Evaluate(`{
		globalThis.noted = { tour: [], arrival: [], rows: [], refusal: [], pending: [] };
		const parts = {
			tour: () => `+theTour+`, arrival: () => `+arrival+`, rows: () => `+readSide+`,
			refusal: () => `+bob+`?.querySelector(':scope > .problem'), pending: () => `+ada+`?.querySelector('.message.pending'),
		};
		const note = () => {
			for (const [name, find] of Object.entries(parts)) {
				const [text, height] = [find()?.innerText ?? '', find()?.offsetHeight ?? 0];
				if (noted[name].at(-1)?.text !== text) noted[name].push({ at: performance.now(), text, height });
			}
		};
		new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
		note();
	}`, nil))
}

// noted waits until a part has shown a text since notes.
func (p *tab) noted(part, text string) {
	p.t.Helper()
	p.eventually(part+" has shown "+text, fmt.Sprintf("noted.%s.some((each) => each.text.includes(%q))", part, text))
}

// stood returns for how many milliseconds a part has shown the first thing for which a condition holds.
func (p *tab) stood(part, condition string) float64 {
	p.t.Helper()
	return evaluate[float64](p, fmt.Sprintf(`(() => {
		const at = noted.%[1]s.findIndex(({ text }) => %[2]s);
		return at < 0 ? 0 : (noted.%[1]s[at + 1]?.at ?? performance.now()) - noted.%[1]s[at].at;
	})()`, part, condition))
}

// standsStill pauses the projection as soon as the page slows it down for the first message, until the returned
// function is called: three seconds are few on a busy machine. The page is not told of the pause.
func (p *tab) standsStill() (release func()) {
	p.t.Helper()
	p.run(chromedp.Evaluate(`{
		const fetch = globalThis.fetch;
		let paused = true;
		globalThis.goOn = () => {
			paused = false;
			return fetch('/lab/state', { method: 'POST', body: '{"paused":false}' });
		};
		globalThis.fetch = async (path, how) => {
			if (path !== '/lab/state') return fetch(path, how);
			const asked = JSON.parse(how.body ?? '{}');
			const response = await fetch(path, asked.hold_ms > 0 ? { ...how, body: JSON.stringify({ ...asked, paused }) } : how);
			return Response.json({ ...(await response.json()), paused: false });
		};
	}`, nil))
	return func() { p.run(evaluation("goOn().then(() => null)", nil)) }
}

func TestTheTour(t *testing.T) { takeTheTour(t, 1180, 740) }

func TestTheTourOnAPhone(t *testing.T) { takeTheTour(t, 375, 667) }

func takeTheTour(t *testing.T, width, height int) {
	t.Helper()
	t.Parallel()
	install(t)
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, width, height)
	begin(p)
	var texts []string // of the tour
	picture := func(name string) {
		t.Helper()
		texts = append(texts, evaluate[string](p, theTour+".querySelector('[role=status]').innerText"))
		p.fits(name)
		if over := evaluate[int](p, theTour+".scrollHeight - "+theTour+".clientHeight"); over > 0 {
			t.Errorf("step %s: the tour has %d pixels more than it shows", name, over)
		}
		p.eventually("its buttons are in view", "[..."+theTour+".querySelectorAll('.row button')].every((each) => each.contains(document.elementFromPoint(...((box) => [box.x + box.width / 2, box.y + box.height / 2])(each.getBoundingClientRect()))))")
		p.eventually("one can write", "(() => { const box = document.querySelector('.front .composer textarea').getBoundingClientRect(); return box.top > 0 && box.bottom <= innerHeight; })()")
		p.screenshot(fmt.Sprintf("tour-%d-step-%s", width, name))
	}
	looks := func(place, element string) {
		t.Helper()
		if width > 1000 { // on a phone, the map is below the chat
			p.looks(place, element)
		}
	}
	p.shows(theTour, "1 of 7 · Say something")
	p.steady()
	looks("tape", writeSide+".querySelector('.tape')")
	picture("1")
	p.accessible("the tour")

	// The first message of a new visitor is slow for real: its event is written, and the other person's rows lack it.
	release := p.standsStill()
	says(p, ada, "Ada", "Anyone for a cup?")
	p.shows(theTour, "Event 3 is in the journal, and Bob still reads the rows of event 2")
	p.shows(ada, "written as event 3, not in the rows yet")
	p.shows(within("Broken on purpose"), "Each batch of events waits 3 s")
	if text := evaluate[string](p, bob+".innerText"); strings.Contains(text, "Anyone for a cup?") {
		t.Error("Bob has it already")
	}
	picture("1-slow")
	release()
	p.shows(theTour, "your message is event 3 in the journal")
	p.shows(bob, "Anyone for a cup?")
	p.showsNot("document.body", "Broken on purpose")
	p.shows(within("Slow motion"), "Now it is fast again")
	p.shows(theTour, "2 of 7 · Be rejected")
	looks("aggregate", labelled("document", "Aggregate"))
	picture("2")
	p.stayed("up to the second step")

	// The second one is not, and a tour that is left is taken up where it was, also after a reload.
	p.click(labelled(theTour, "Leave the tour"))
	p.eventually("the tour is gone", "!"+theTour)
	p.run(reload)
	p.shows(bob, "Anyone for a cup?")
	p.eventually("the tour is still gone", "!"+theTour)
	p.click(labelled("document", "Tour (2 of 7)"))
	p.shows(theTour, "2 of 7")
	p.steady()
	p.allow("403")
	p.notes()
	p.click(labelled(theTour, "Rename it as Bob"))
	p.shows(theTour, "(not_an_admin)")
	if width > 1000 { // a phone shows one person
		p.eventually("the refusal has no more room than its text", "noted.refusal.some((each) => each.text.includes('Rejected: rename:') && each.height < 60)")
	}
	p.shows(theTour, "3 of 7 · Read something old")
	if rested := p.stood("tour", "text.includes('(not_an_admin)') && !text.includes('of 7 ·')"); rested < 2000 {
		t.Errorf("the result stood alone for %.0f ms", rested)
	}
	looks("distance", theMap+".querySelector('.distance')")
	picture("3")
	p.click(labelled(theTour, "Pause the projection"))
	p.shows(theTour, "now write a message as Ada")
	p.shows(within("Broken on purpose"), "The projection is paused")
	says(p, ada, "Ada", "Who reads this?")
	p.shows(theTour, "the journal has event 4, and the answer to a query of Bob has just had the rows of event 3")
	p.noted("arrival", "Bob's answer has event 3")
	p.shows(theTour, "4 of 7 · Ask with a token")
	p.showsNot(bob, "Rejected")
	looks("rows", readSide)
	picture("4")

	// The answer does not come before the rows have the event.
	p.shows(theTour, "with a token: it came with the answer to Ada's last command")
	p.click(labelled(theTour, "Ask as Bob with the token"))
	p.noted("tour", "its answer waits for event 4 (no query may wait for long: asked again once)")
	p.shows(arrival+".querySelector('p')", "Bob's query waits for 4, rows are at 3")
	picture("4-waits")
	p.accessible("a query that waits")
	p.click(labelled(theTour, "Resume the projection"))
	p.shows(theTour, "and has event 4")
	p.noted("arrival", "Bob's answer has event 4")

	// One key, one event; a record that comes twice changes the rows once.
	p.shows(theTour, "5 of 7 · Send twice")
	picture("5")
	p.watchBounces()
	p.click(labelled(theTour, "Send it twice"))
	p.noted("tour", "Event 5 is in the rows, and comes a second time: see how it bounces off")
	p.bounces("5")
	p.eventually("its card moves", "bounces['5'].moves")
	picture("5-bounce")
	p.shows(theTour, "both answers say event 5: one command, one event")
	p.shows(theTour, "the second bounced off the rows, which were already at 5. That is exactly once")
	p.noted("arrival", "Came again, bounced off: already at 5")
	p.shows(writeSide, "sent again: already at 5")
	p.eventually("there is one card for it", writeSide+".querySelectorAll('.tape li').length === 5")
	p.eventually("there is one row for it", readSide+".innerText.split('Sent twice').length === 2")
	rows := evaluate[string](p, lastMessages)
	p.shows(theTour, "6 of 7 · Lose a record")
	picture("6")

	p.shows(theTour, "6 of 7 · Lose a record")
	p.click(labelled(theTour, "Send, and lose the record"))
	p.shows(theTour, "The stream has lost the record of event 6")
	p.shows(ada, "written as event 6, not in the rows yet")
	p.shows(writeSide, "the stream has lost it")
	p.shows(arrival, "6 never came: the rows have a hole")
	p.shows(readSide+".querySelector('.hole')", "event 6 is missing")
	if now := evaluate[string](p, lastMessages); !strings.HasPrefix(now, rows) {
		t.Errorf("with a hole, the rows are %q, and were %q", now, rows)
	}
	p.shows(within("Broken on purpose"), "The stream has lost event 6")
	p.shows(within("All aggregates"), "Lag of the projection now: none that it knows of")
	picture("6-hole")
	p.accessible("a hole in the rows")
	// The next event waits for it, for as long as a person needs to see that.
	mend := labelled(theTour, "Send the next message")
	if width > 1000 {
		mend = labelled(within("Broken on purpose"), "Send the next one")
	}
	p.click(mend)
	p.noted("arrival", "7 came, 6 is missing: it is in the journal")
	picture("6-gap")
	p.noted("rows", "event 6 is missing\nevent 7 waits for 6")
	p.noted("tour", "Event 7 has come, and the projection sees that event 6 is missing")
	p.noted("arrival", "6 never came: it was read from the journal")
	if seen := p.stood("rows", "text.includes('event 7 waits for 6')"); seen < 2000 {
		t.Errorf("the hole is seen for %.0f ms", seen)
	}
	p.eventually("there is no hole", "!"+readSide+".querySelector('.hole')")
	p.shows(bob, "The stream forgets this one")
	p.screenshot(fmt.Sprintf("tour-%d-step-6-fetched", width))
	p.shows(theTour, "event 7 came, the projection saw that event 6 was missing, and read it from the journal")

	p.shows(theTour, "7 of 7 · Rebuild")
	picture("7")
	rebuild(p, picture)
	for _, lesson := range []string{"Write side", "Read side", "Eventual consistency", "Replay", "Exactly once"} {
		p.shows(theTour, lesson)
	}
	picture("end")
	explained(t, texts)
	p.accessible("the end of the tour")
	p.stayed("up to the end")
	p.click(labelled(theTour, "Close"))
	p.eventually("the tour is gone", "!"+theTour)
}

var lastMessages = readSide + ".querySelector('.texts tbody').innerText"

// arrival is what the map draws between its sides: what comes to the rows.
const arrival = "document.querySelector('.map .arrival')"

// watchBounces begins to note the cards that bounce off, which the map shows for seconds only.
func (p *tab) watchBounces() {
	p.t.Helper()
	p.run(chromedp.Evaluate(`{
		globalThis.bounces = {};
		const look = () => {
			const [way, card] = ['.bounced .way', '.bounced .way b'].map((each) => document.querySelector('.map ' + each));
			if (card) {
				const seen = (bounces[card.innerText] ??= {});
				seen.moves ||= card.getAnimations()[0]?.animationName === 'bounce';
				seen.clear ||= card.getBoundingClientRect().right < way.getBoundingClientRect().right - 20;
				seen.text = `+arrival+`.querySelector('p').innerText;
			}
			requestAnimationFrame(look);
		};
		look();
	}`, nil))
}

// bounces expects that a card was before the wall at the rows, which it does not touch, since watchBounces.
func (p *tab) bounces(event string) {
	p.t.Helper()
	p.eventually("event "+event+" has bounced off", fmt.Sprintf("bounces[%[1]q]?.clear && bounces[%[1]q].text.includes('bounced off: already at ' + %[1]q)", event))
}

// explained expects that the tour says what a word means where it is used first.
func explained(t *testing.T, texts []string) {
	t.Helper()
	for word, meaning := range map[string]string{
		"journal": "the events of this thread", "projection": "which makes rows from events", "aggregate": "which is the thread with its rules",
		"stream": "which brings each new event to the projection", "token": "names its thread and its event", "replay": "read all events again",
	} {
		first := slices.IndexFunc(texts, func(text string) bool { return regexp.MustCompile(`\b` + word + `\b`).MatchString(text) })
		if first < 0 || !strings.Contains(texts[first], meaning) {
			t.Errorf("the word %s is not explained where it is used first: %q", word, texts[max(0, first)])
		}
	}
}

// rebuild takes the last step: a second set of tables fills row by row beside the live one, which is read meanwhile,
// and then takes its place.
func rebuild(p *tab, picture func(string)) {
	p.t.Helper()
	// Each content that the second set is drawn with, and what the lab reads in its tables.
	p.run(chromedp.Evaluate(`globalThis.drawn = []; globalThis.told = []; {
		const fetch = globalThis.fetch;
		// The rebuild is slower than for people, as the pictures take time. From its middle on it is as slow as the lab
		// allows, ten seconds for each event, until all is looked at.
		let [times, asked] = [3, 0];
		globalThis.slower = (than) => {
			times = than;
			return fetch('/lab/state', { method: 'POST', body: JSON.stringify({ replay_ms: times * asked }) });
		};
		globalThis.fetch = async (...request) => {
			if (request[0] === '/lab/state' && request[1]?.body) request[1].body = request[1].body.replace(/(?<="replay_ms":)\d+/, (ms) => times * (asked = ms));
			const response = await fetch(...request);
			if (String(request[0]).includes('/lab/new-rows')) {
				const found = await response.clone().json();
				globalThis.told.push([found.made, found.version, found.members.length, found.messages.length].join());
				if (found.version >= 3 && times === 3 && !globalThis.looked) void slower(100);
			}
			return response;
		};
		new MutationObserver(() => {
			const set = document.querySelector('.set + .set');
			if (!set) return;
			const [threads, members, messages] = [...set.querySelectorAll('table')];
			const rows = (table) => table.innerText.includes('no rows') ? 0 : table.querySelectorAll('tr').length;
			const now = [rows(threads) && Number(threads.querySelector('td:last-child').innerText), rows(members), rows(messages)].join();
			if (globalThis.drawn.at(-1) !== now) globalThis.drawn.push(now);
		}).observe(document.querySelector('.map'), {subtree: true, childList: true, characterData: true});
	}`, nil))
	p.click(labelled(theTour, "Rebuild the rows"))
	p.shows(theTour, "a second set of tables fills beside the live one")
	p.eventually("the second set fills", "/A second set, at event [3-5]: not read yet/.test("+readSide+".innerText)")
	p.shows(readSide, "The live set: it is read")
	picture("7-replay")
	p.eventually("the journal's cards say what they are", "[..."+writeSide+".querySelectorAll('.tape li')].every((each) => /^\\d+ \\w+ \\w+$/.test(each.innerText.trim()) && each.scrollWidth <= each.clientWidth)")

	// The chat goes on in the live set.
	p.shows(bob, "Written during the rebuild")
	p.shows(theTour, "event 8, which this page has sent as Ada, is in the live set at once")
	p.eventually("the second set has no row for it yet", "!document.querySelector('.set + .set').innerText.includes('Written during')")
	says(p, ada, "Ada", "And this")
	p.shows(bob, "And this")
	p.eventually("the rebuild goes on", "document.querySelector('.set + .set')")
	picture("7-chat")
	if small := "document.querySelector('.small')"; evaluate[bool](p, small+".offsetParent !== null") { // on a phone
		p.shows(small, "second set at")
		p.click(small)
		p.eventually("the second set is on the screen", "(() => { const box = document.querySelector('.set + .set').getBoundingClientRect(); return box.top > 0 && box.top + 150 < innerHeight; })()")
		p.screenshot("tour-phone-rebuild")
		p.run(chromedp.Evaluate("document.querySelector('.switch').scrollIntoView()", nil))
	}
	p.accessible("a rebuild")
	p.run(evaluation("globalThis.looked = true; slower(3).then(() => null)", nil))

	// In the end the second set has all, and is the live one.
	p.noted("tour", "all rows are new, made from the journal alone")
	p.shows(readSide, "The second set: it is the live one now")
	p.showsNot(theMap, "not read yet")
	p.eventually("its rows are lit", readSide+".querySelectorAll('tr:not(.lit)').length === 0")
	drawn, next := evaluate[[]string](p, "globalThis.drawn"), 0
	for _, rows := range []string{"0,0,0", "1,1,0", "2,2,0", "3,2,1", "4,2,2", "5,2,3", "6,2,3", "7,2,3", "8,2,3", "9,2,3"} {
		if next < len(drawn) && drawn[next] == rows {
			next++
		}
	}
	if next < max(6, len(drawn)) { // a slow computer may draw fewer of them, and never another one
		p.t.Errorf("the second set was drawn with these versions and rows: %q", drawn)
	}
	// Each reading is of a whole version: two events make members, the others messages. A slow computer reads fewer.
	told := evaluate[[]string](p, "globalThis.told")
	versions := map[int]bool{}
	for _, reading := range told[:max(0, len(told)-1)] {
		var version, members, messages int
		if _, err := fmt.Sscanf(reading, "true,%d,%d,%d", &version, &members, &messages); err == nil {
			versions[version] = true
			if members != min(version, 2) || messages != max(0, version-2) {
				p.t.Errorf("the lab has read %q, which is no version", reading)
			}
		}
	}
	if len(versions) < 4 || told[len(told)-1] != "false,0,0,0" {
		p.t.Errorf("the lab has read %q", told)
	}
	p.showsNot("document.body", "A rebuild waits")
}

// Without a lab, the tour says what is left out, and does the rest.
func TestTheTourWithoutALab(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 375, 667)
	says(p, ada, "Ada", "Anyone for a cup?")
	p.shows(theTour, "your message is event 3")
	p.fits("the tour on a phone")
	p.screenshot("tour-phone")
	p.allow("403")
	p.click(labelled(theTour, "Rename it as Bob"))
	p.shows(theTour, "(not_an_admin)")
	p.shows(theTour, "Read something old: left out: it needs the failure lab, which is off here")
	p.click(labelled(theTour, "Ask as Bob with the token"))
	p.shows(theTour, "and has event 4")
	p.click(labelled(theTour, "Send it twice"))
	p.shows(theTour, "both answers say event 5")
	p.shows(theTour, "Lose a record: left out")
	p.notes()
	p.click(labelled(theTour, "Rebuild the rows"))
	p.noted("tour", "all rows are new")
}
