// extra:chat

package browser

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

const perSecond, seconds = 200, 5

// TestManyEventsAreDrawnInFrames reports how evenly the page is drawn while events come fast. It asserts no time:
// machines differ. All events must arrive, and the map is drawn once for all that come between two frames.
func TestManyEventsAreDrawnInFrames(t *testing.T) {
	s, p := chatting(t, 1440, 1100)
	// The server cuts off who is too busy to read.
	p.allow("ERR_CONTENT_LENGTH_MISMATCH", "ERR_INCOMPLETE_CHUNKED_ENCODING")
	says(p, ada, "Ada", "the first one is slow")
	p.shows(within("Slow motion"), "Now it is fast again")
	thread := evaluate[string](p, "document.querySelector('.picker select').value")
	viewer := evaluate[string](p, "document.querySelector('.who select').value")
	p.run(chromedp.Evaluate(`globalThis.frames = []; globalThis.redraws = []; {
		let redraws = 0;
		new MutationObserver(() => redraws++).observe(`+theMap+`, {subtree: true, childList: true, characterData: true});
		const look = (at) => {
			globalThis.frames.push(at);
			globalThis.redraws.push(redraws);
			redraws = 0;
			requestAnimationFrame(look);
		};
		requestAnimationFrame(look);
	} null`, nil))

	p.run(performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks))
	busy := processorTime(p)
	began := time.Now()
	var sending sync.WaitGroup
	due := time.NewTicker(time.Second / perSecond)
	defer due.Stop()
	for n := range perSecond * seconds {
		<-due.C
		sending.Go(func() {
			if _, err := s.order(t.Context(), "/threads/post_message", map[string]any{"executor_id": viewer, "thread_id": thread, "text": fmt.Sprint("number ", n)}); err != nil {
				t.Error(err)
			}
		})
	}
	sending.Wait()
	took := time.Since(began)
	busy = processorTime(p) - busy
	frames, redraws := evaluate[[]float64](p, "globalThis.frames"), evaluate[[]int](p, "globalThis.redraws")

	last := perSecond*seconds + 3
	p.shows(theMap, fmt.Sprintf("journal %[1]d, projection %[1]d: no distance", last))
	p.shows(within("In the whole system"), fmt.Sprintf("the journal of all is at 1,%03d, all in the rows", last+2-1000))
	p.shows(ada, fmt.Sprint("version ", last))
	p.shows(bob, fmt.Sprint("version ", last))
	p.eventually("the last cards are there", fmt.Sprintf(`[...%s.querySelectorAll('.tape li b')].map((each) => each.innerText).join() === [5, 4, 3, 2, 1, 0].map((before) => %d - before).join()`, writeSide, last))

	var between []float64
	late, drawn := 0, 0
	for i := range frames[1:] {
		between = append(between, frames[i+1]-frames[i])
		if between[i] > 34 {
			late++
		}
		if redraws[i+1] > 0 {
			drawn++
		}
	}
	slices.Sort(between)
	t.Logf("%d events in %.1f s: %d frames, median %.1f ms, 95th percentile %.1f ms, %.0f%% above 34 ms; the page's thread computed %.0f ms; the map was drawn in %d of them, and at most %d times in one",
		perSecond*seconds, took.Seconds(), len(between), between[len(between)/2], between[len(between)*95/100], 100*float64(late)/float64(len(between)), busy, drawn, slices.Max(redraws))
}
