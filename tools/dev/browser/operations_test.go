// extra:chat

package browser

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestOperationsHaveFigures(t *testing.T) {
	t.Parallel()
	install(t)
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 1000)
	p.allow("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "WebSocket connection", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
	begin(p)
	for i := range 20 {
		says(p, ada, "Ada", fmt.Sprint("number ", i))
	}
	p.shows(bob, "number 19")
	thread := evaluate[string](p, "document.querySelector('.picker select').value")
	viewer := evaluate[string](p, "document.querySelector('.who select').value")
	p.click(labelled("document", "Operations"))
	programs := within("Programs")
	// Rates are of the last seconds: commands go on until they were seen.
	going, stop := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	sent := 0
	sending.Go(func() {
		for ; going.Err() == nil; sent++ {
			_, err := s.order(t.Context(), "/threads/post_message", map[string]any{"executor_id": viewer, "thread_id": thread, "text": fmt.Sprint("further ", sent)})
			if err != nil {
				if t.Context().Err() == nil {
					t.Error(err)
				}
				return
			}
			select {
			case <-time.After(200 * time.Millisecond):
			case <-going.Done():
			}
		}
	})
	t.Cleanup(func() { stop(); sending.Wait() })
	figure := func(program, name, like string) {
		t.Helper()
		p.eventually(fmt.Sprintf("%s: %s is like %s", program, name, like), fmt.Sprintf(`[...%s.querySelectorAll('article')].filter((each) => each.querySelector('h3').innerText.trim() === %q)
			.some((each) => [...each.querySelectorAll('dl div')].some((line) => line.querySelector('dt').innerText === %q && %s.test(line.querySelector('dd').innerText)))`, programs, program, name, like))
	}
	figure("write-api", "commands a second", `/^([1-9]|0\.[1-9])/`)
	figure("write-api", "p50, p99 at most", `/^[\d.]+ ms, [\d.]+ ms$/`)
	figure("write-api", "conflicts", `/^0$/`)
	figure("write-api", "memory", `/^\d+ MiB$/`)
	figure("read-api", "queries a second", `/^([1-9]|0\.[1-9])/`)
	figure("read-api", "subscribers", `/^[1-9]/`)
	figure("read-model-updater", "events a second", `/^([1-9]|0\.[1-9])/`)
	stop()
	sending.Wait()
	figure("read-model-updater", "journal at, rows at", fmt.Sprintf("/^%[1]d, %[1]d$/", 24+sent))
	p.shows(programs, "Dots: how long commands of the last minute took to be seen")
	if scale := evaluate[float64](p, programs+".querySelector('.lag svg').getScreenCTM().a"); scale > 1.1 {
		t.Errorf("the chart is drawn %.1f times larger than it is meant", scale)
	}
	p.accessible("operations with figures")
	p.screenshot("operations-figures")

	light := func(program, class string) string {
		return fmt.Sprintf(`[...%s.querySelectorAll('article')].some((each) => each.innerText.includes(%q) && each.querySelector('.light.%s'))`, programs, program, class)
	}
	p.eventually("the projection is green", light("read-model-updater", "good"))
	p.click(labelled("document", "Failure lab"))
	p.click(labelled(within("Kill the projection"), "Kill"))
	p.click(labelled("document", "Operations"))
	p.eventually("a projection that does nothing is not green", "!"+light("read-model-updater", "good"))
	s.end(syscall.SIGKILL)
	p.shows(programs, "does not answer")
	p.eventually("what is dead is red", strings.Join([]string{light("write-api", "bad"), light("read-api", "bad"), light("read-model-updater", "bad")}, " && "))
	p.showsNot(programs, "commands a second")
}

// The figures of a program whose metrics are at another address are missing; the page must say why.
func TestFiguresAtAnotherAddressAreMissed(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, chromium(t), s.url, 1440, 1000)
	p.run(evaluation(`const load = fetch; globalThis.fetch = async (...asked) => {
		const response = await load(...asked);
		if (asked[0] !== '/status') return response;
		const answer = await response.json();
		answer.programs[0].figures = {};
		return Response.json(answer);
	}; null`, nil))
	p.click(labelled("document", "Operations"))
	p.showsNot(within("Programs"), "Dots") // no command was sent
	p.shows(within("Programs"), "METRICS_ADDR has moved its metrics")
	p.showsNot(within("Programs"), "commands a second")
	p.shows(within("Programs"), "queries a second")
}
