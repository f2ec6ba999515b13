// extra:chat

package browser

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
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
		body := fmt.Sprintf(`{"executor_id":%q,"thread_id":%q,"text":"number %d of many messages"}`, viewer, thread, n+1)
		request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, s.url+"/api/write/threads/post_message", bytes.NewBufferString(body))
		if err != nil {
			p.t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			p.t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			p.t.Fatalf("message %d: %s", n+1, response.Status)
		}
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
	s := start(t)
	p := open(t, chromium(t), s.url, 1440, 900)
	begin(p)
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
