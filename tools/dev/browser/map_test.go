// extra:chat

package browser

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var (
	theMap    = "document.querySelector('.map')"
	writeSide = within("Write side")
	readSide  = within("Read side")
)

func TestTheMapShowsBothSides(t *testing.T) {
	t.Parallel()
	install(t)
	_, p := chatting(t, 1440, 1100, "LAB=on")
	says(p, ada, "Ada", "Anyone for a cup?")
	p.shows(theMap, "journal 3, projection 3: no distance")
	p.eventually("there is a card for each event", writeSide+".querySelectorAll('.tape li').length === 3")
	p.shows(writeSide, "3 message posted Ada")
	p.shows(readSide, "Anyone for a cup?")
	p.shows(within("Readers"), "Ada sees 3\nBob sees 3")
	// What the last event has changed is lit, and nothing else.
	lit := "[..." + readSide + ".querySelectorAll('.lit')].map((each) => each.innerText.replace(/\\s+/g, ' ').trim()).join('|')"
	if found := evaluate[string](p, lit); found != "3|Ada Anyone for a cup?" {
		t.Errorf("these rows are lit: %q", found)
	}
	p.accessible("the map")
	p.screenshot("map")

	// While the projection stands still, the journal goes on.
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(within("Pause the projection"), "Pause"))
	p.shows(within("Pause the projection"), "it stays grey")
	for i := range 3 {
		says(p, bob, "Bob", fmt.Sprint("number ", i))
	}
	p.shows(theMap, "journal 6, projection 3: three behind")
	p.shows(writeSide, "6 message posted Bob") // read from the journal itself
	p.eventually("these cards are ahead of the rows", writeSide+".querySelectorAll('.ahead').length === 3")
	p.screenshot("map-behind")
	p.click(labelled(within("Pause the projection"), "Resume"))
	p.shows(theMap, "journal 6, projection 6: no distance")
	p.shows(readSide, "number 2")
}

// While the tour is on, chat and map are on one screen.
func TestChatAndMapShareAScreen(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	p.eventually("the tour has begun", theTour)
	top := evaluate[float64](p, theMap+".parentElement.nextElementSibling.getBoundingClientRect().top")
	for i := range 6 {
		says(p, ada, "Ada", fmt.Sprint("number ", i))
	}
	p.shows(bob, "number 5")
	p.shows(theMap, "journal 8, projection 8: no distance")
	if now := evaluate[float64](p, theMap+".parentElement.nextElementSibling.getBoundingClientRect().top"); now != top {
		t.Errorf("what is below the map has moved from %v to %v", top, now)
	}
	for _, part := range []string{theTour, ada, bob, theMap} {
		if bottom := evaluate[float64](p, part+".getBoundingClientRect().bottom"); bottom > 900 {
			t.Errorf("%s ends at %v", part, bottom)
		}
	}
	p.screenshot("one-screen")
}

// On a phone a line above the chat says how far the rows are, and leads to the map.
func TestTheMapIsInReachOnAPhone(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 375, 667)
	says(p, ada, "Ada", "Anyone for a cup?")
	small := "document.querySelector('.small')"
	p.shows(small, "rows at 3: no distance")
	p.fits("the small map")
	p.screenshot("small-map")
	p.click(small)
	p.eventually("the map begins below the header", "Math.abs("+theMap+".getBoundingClientRect().top - document.querySelector('header').getBoundingClientRect().bottom) < 2")
}

// A card that was read from the thread's history opens its event as the others do.
func TestACardOfThePastOpens(t *testing.T) {
	t.Parallel()
	install(t)
	_, p := chatting(t, 1440, 1100)
	says(p, ada, "Ada", "Anyone for a cup?")
	p.shows(bob, "Anyone for a cup?")
	p.run(reload)
	p.shows(writeSide, "3 message posted Ada")
	p.click(writeSide + ".querySelector('.tape li:last-child button')")
	opened := "document.querySelector('dialog.opened[open]')"
	for _, text := range []string{"Tea at four, event 3", "Ada said “Anyone for a cup?”", "As its history tells it", `"seqNr": 3`, "messages"} {
		p.shows(opened, text)
	}
	p.accessible("an event of the past")
	p.click(labelled(opened, "Close"))
}

// On a tablet, chat and map do not fit beside each other: the line above the chat is there, too.
func TestTheMapIsInReachOnATablet(t *testing.T) {
	t.Parallel()
	install(t)
	_, p := chatting(t, 768, 1024, "LAB=on")
	says(p, ada, "Ada", "Anyone for a cup?")
	small := "document.querySelector('button.small')"
	p.shows(small, "rows at 3: no distance")
	for _, tour := range []bool{true, false} {
		for _, size := range [][2]int64{{768, 1024}, {1024, 768}} {
			about := fmt.Sprintf("%d x %d, tour: %v", size[0], size[1], tour)
			p.run(chromedp.EmulateViewport(size[0], size[1]), chromedp.Evaluate("scrollTo(0, 0)", nil))
			p.fits(about)
			inView := `(() => { const box = %s.getBoundingClientRect(); return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth; })()`
			for _, part := range []string{small, labelled(ada, "Message from Ada"), labelled(bob, "Message from Bob")} {
				p.eventually(about+": in view is "+part, fmt.Sprintf(inView, part))
			}
			p.screenshot(fmt.Sprintf("tablet-%d-%v", size[0], tour))
		}
		if tour {
			p.click(labelled(theTour, "Leave the tour"))
		}
	}
	p.accessible("a tablet")
	p.click(small)
	p.eventually("the map is in view", theMap+".getBoundingClientRect().top < innerHeight / 2")
}

// A dot must not be behind what is told beside it: when the rows have its event, it is at the end of its way.
func TestADotIsWhereItsCommandIs(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 1100, "LAB=on")
	says(p, ada, "Ada", "the first one is slow")
	p.shows(within("Slow motion"), "Now it is fast again")
	// In each frame: how far the dot of the last command is, of its whole way, and what is told of it.
	p.run(evaluation(`globalThis.frames = new Set(); {
		const look = () => {
			const [rail, dot, trace] = ['.rail', '.dot.chosen', '.traces .trace'].map((each) => document.querySelector(each));
			const [all, at] = [rail, dot].map((each) => each?.getBoundingClientRect());
			if (dot && trace) globalThis.frames.add(trace.classList[1] + ' ' + Math.round((at.x + at.width / 2 - all.x) / all.width * 10) / 10);
			requestAnimationFrame(look);
		};
		look();
	} null`, nil))
	seen := 0
	for range 5 {
		seen++
		says(p, ada, "Ada", fmt.Sprint("number ", seen))
		p.shows(theMap, fmt.Sprintf("journal %[1]d, projection %[1]d: no distance", seen+3))
	}
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(within("Pause the projection"), "Pause"))
	p.shows(within("Pause the projection"), "it stays grey")
	says(p, ada, "Ada", "not there yet")
	p.shows(theMap, "journal 9, projection 8: one behind")
	p.click(labelled(within("Pause the projection"), "Resume"))
	p.shows(theMap, "journal 9, projection 9: no distance")
	frames := evaluate[[]string](p, "new Promise(requestAnimationFrame).then(() => [...globalThis.frames])")
	for _, frame := range frames {
		if !slices.Contains([]string{"sent 0.1", "written 0.5", "visible 1"}, frame) {
			t.Errorf("a dot was drawn elsewhere: %s", frame)
		}
	}
	if !slices.Contains(frames, "written 0.5") || !slices.Contains(frames, "visible 1") {
		t.Errorf("dots were drawn %q", frames)
	}
}

// The page is told of the journal before a slow answer comes: then a command's dot, its bubble and the list of events
// say the same.
func TestADotDoesNotWaitForTheAnswer(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 1100)
	says(p, ada, "Ada", "the first one is slow")
	p.shows(within("Slow motion"), "Now it is fast again")
	answer := p.withhold("path.endsWith('/post_message')")
	says(p, ada, "Ada", "answered late")
	p.shows(writeSide, "4 message posted Ada")
	p.shows(bob, "answered late")
	p.eventually("the dot is at its end", "document.querySelector('.dot.chosen').classList.contains('visible')")
	p.eventually("the message is shown once", ada+".innerText.split('answered late').length === 2")
	p.showsNot(ada, "sending")
	p.run(chromedp.Sleep(time.Second)) // times of a second and more are told in seconds
	answer()
	p.eventually("the answer came late", `/the answer came after [\d.]+ s/.test(`+flow+`.innerText)`)
	p.shows(flow, "the rows do not wait for the answer")
	p.eventually("the message is shown once", ada+".innerText.split('answered late').length === 2")
}

// What is there when a view is opened is no news: no row flashes, and no dot leaves a trail.
func TestAViewThatIsOpenedAgainStandsStill(t *testing.T) {
	t.Parallel()
	s := start(t, "LAB=on")
	p := open(t, moving(t), s.url, 1440, 1100)
	begin(p)
	p.run(chromedp.Evaluate("addEventListener('animationstart', (event) => (globalThis.lit ||= event.animationName === 'lit'))", nil))
	says(p, ada, "Ada", "Anyone for a cup?")
	p.eventually("what is new has lit up", "globalThis.lit")
	p.shows(within("Slow motion"), "Now it is fast again")
	moves := "document.getAnimations().map((each) => each.animationName).filter((each) => ['lit', 'trail', 'bounce'].includes(each))"
	still := func(about string) {
		t.Helper()
		p.shows(readSide, "Anyone for a cup?")
		if moving := evaluate[[]string](p, moves); len(moving) > 0 {
			t.Errorf("%s: these move: %q", about, moving)
		}
	}
	for _, view := range []string{"Operations", "Failure lab"} {
		p.click(labelled("document", view))
		p.eventually("it is shown", "document.querySelector('[aria-current=page]').innerText === '"+view+"'")
		p.eventually("what flashed before is over", moves+".length === 0")
		p.click(labelled("document", "Chat"))
		p.eventually("the chat is shown", "document.querySelector('main.chat')")
		still("back from " + view)
	}
	p.run(reload)
	still("loaded again")
}

// A card that has bounced off is drawn also for who wants no motion, and stands still.
func TestABounceWithoutMotion(t *testing.T) {
	t.Parallel()
	s := start(t, "LAB=on")
	p := open(t, moving(t), s.url, 1440, 1100)
	p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}))
	begin(p)
	says(p, ada, "Ada", "Anyone for a cup?")
	p.shows(theTour, "2 of 7")
	p.click(labelled(theTour, "Send twice"))
	p.watchBounces()
	p.click(labelled(theTour, "Send it twice"))
	p.bounces("4")
	if moving := evaluate[[]string](p, "document.getAnimations().map((each) => each.animationName ?? each.transitionProperty ?? each.id)"); len(moving) > 0 {
		t.Errorf("these move: %q", moving)
	}
	p.screenshot("bounce-without-motion")
}

// The drawing is slow, and what it says is not. The map is as old as what is drawn.
func TestSlowMotion(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 1100)
	p.click(labelled(within("Slow motion"), "10×")) // a hundred times takes minutes on a busy machine
	// What takes more than two seconds is not drawn again: for a busy machine the page's clock stops before.
	p.run(evaluation(`{
		const [now, fetch] = [performance.now.bind(performance), globalThis.fetch];
		let end = Infinity;
		performance.now = () => Math.min(now(), end);
		globalThis.fetch = (path, ...how) => {
			if (String(path).endsWith('/post_message')) end = now() + 300;
			return fetch(path, ...how);
		};
		globalThis.drawn = [];
		globalThis.beside = new Set();
		new MutationObserver(() => {
			const stage = document.querySelector('.dot.chosen')?.classList[1];
			if (stage && drawn.at(-1) !== stage) drawn.push(stage);
			beside.add(stage + ': ' + document.querySelector('.distance').innerText);
		}).observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true});
		globalThis.waits = [];
		const wait = globalThis.setTimeout;
		globalThis.setTimeout = (act, ms, ...more) => (waits.push(ms), wait(act, ms, ...more));
	} null`, nil))
	says(p, ada, "Ada", "slowly")
	p.shows(flow, "seen after")
	p.shows(within("What Bob sees"), "slowly")
	p.eventually("the dot has replayed its way", "[...beside].some((each) => each.startsWith('visible: Drawn again'))")
	took := evaluate[float64](p, `Number(/seen after ([\d.]+) ms/.exec(document.querySelector('.trace').innerText)[1])`)
	// It may be seen as soon as it is written.
	drawn := evaluate[[]string](p, "drawn.filter((stage) => stage !== 'written').slice(-2)")
	if !slices.Equal(drawn, []string{"sent", "visible"}) {
		t.Errorf("these stages are drawn: %q", drawn)
	}
	// How long the page waits, not how fast this machine draws.
	if waits := evaluate[[]float64](p, "waits"); !slices.ContainsFunc(waits, func(ms float64) bool { return math.Abs(ms-took*10) < 6 }) {
		t.Errorf("%v ms are drawn with these waits: %v", took, waits)
	}
	p.shows(theMap, "This thread: journal 3, projection 3: no distance")
	beside := evaluate[[]string](p, "[...beside].filter((each) => each.includes('again'))")
	wanted := []string{"sent: Drawn again: journal 2, projection 2: no distance", "visible: Drawn again: journal 3, projection 3: no distance"}
	if !slices.Equal(slices.DeleteFunc(slices.Clone(beside), func(text string) bool { // it may be seen at once
		return text == "written: Drawn again: journal 3, projection 2: one behind"
	}), wanted) {
		t.Errorf("the map said beside the dot: %q", beside)
	}
	if text := evaluate[string](p, within("Slow motion")+".innerText"); !strings.Contains(text, "10 times slower") {
		t.Errorf("the page says: %s", text)
	}
}

// The first message of a new visitor goes slowly, and the next one does not. Who wants no motion is spared.
func TestTheFirstMessageIsSlow(t *testing.T) {
	t.Parallel()
	s, p := chatting(t, 1440, 1100)
	speed := within("Slow motion") + ".querySelector('[aria-pressed=true]').innerText"
	says(p, ada, "Ada", "my first")
	p.eventually("it is slow", speed+" === '100×'")
	p.shows(bob, "my first")
	p.shows(within("Slow motion"), "Now it is fast again")
	says(p, ada, "Ada", "my second")
	p.shows(bob, "my second")
	if now := evaluate[string](p, speed); now != "1×" {
		t.Errorf("the second one is drawn at %s", now)
	}

	other := open(t, chromium(t), s.url, 1440, 1100)
	other.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}))
	begin(other)
	other.run(evaluation(`globalThis.slow = 0; new MutationObserver(() => { if (`+speed+` !== '1×') globalThis.slow++; })
		.observe(document.querySelector('.speed'), {subtree: true, childList: true, attributes: true}); null`, nil))
	says(other, ada, "Ada", "my first")
	other.shows(flow, "event 3, seen after")
	if evaluate[int](other, "globalThis.slow") > 0 {
		t.Error("it is slow, and motion is not wanted")
	}
}

// A tab that nobody looks at does not renew the hold that another one has ended.
func TestAHiddenTabSlowsNobodyDown(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 1100, "LAB=on")
	p.click(labelled(within("Slow motion"), "100×"))
	p.shows("document.body", "Each batch of events waits 3 s")
	p.hide(true)
	p.set(`{"hold_ms": 0}`)
	hold := "fetch('/lab/state').then((answer) => answer.json()).then((faults) => faults.hold_ms)"
	p.run(chromedp.Sleep(4 * time.Second)) // it would be renewed after three
	p.hide(false)
	p.eventually("it goes on at full speed", within("Slow motion")+".querySelector('[aria-pressed=true]').innerText === '1×'")
	if ms := evaluate[int](p, hold); ms != 0 {
		t.Errorf("each batch waits %d ms", ms)
	}
}
