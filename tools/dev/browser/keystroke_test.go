// extra:chat

package browser

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// postMany posts messages as the first person of the page, past the page.
func postMany(p *tab, s *program, count int) {
	p.t.Helper()
	thread := evaluate[string](p, "document.querySelector('.picker select').value")
	viewer := evaluate[string](p, "document.querySelector('.who select').value")
	for n := range count {
		text := fmt.Sprintf("number %d of many messages", n+1)
		send(p.t, s, "/threads/post_message", map[string]any{"executor_id": viewer, "thread_id": thread, "text": text})
	}
}

// processorTime returns what the page's main thread has computed so far, in milliseconds: scripts, styles and layout.
func processorTime(p *tab) (sum float64) {
	p.t.Helper()
	p.run(chromedp.ActionFunc(func(ctx context.Context) error {
		metrics, err := performance.GetMetrics().Do(ctx)
		for _, each := range metrics {
			switch each.Name {
			case "ScriptDuration", "LayoutDuration", "RecalcStyleDuration":
				sum += each.Value * 1000
			}
		}
		return err
	}))
	return sum
}

const messages, strokes = 500, 100

// TestKeyStroke reports how much a key stroke costs in a thread of many messages. It asserts no time: machines differ.
func TestKeyStroke(t *testing.T) {
	s, p := chatting(t, 1440, 900)
	postMany(p, s, messages)
	p.shows(ada, fmt.Sprintf("version %d", messages+2))
	p.run(performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks), focus(labelled(ada, "Message from Ada")))
	before := processorTime(p)
	for range strokes {
		p.press("a")
	}
	spent := (processorTime(p) - before) / strokes
	shown := evaluate[int](p, ada+".querySelectorAll('.message').length")
	t.Logf("a key stroke takes %.2f ms of the page's thread, with %d messages shown", spent, shown)
	p.eventually("all is typed", fmt.Sprintf("%s.value.length === %d", labelled(ada, "Message from Ada"), strokes))
}
