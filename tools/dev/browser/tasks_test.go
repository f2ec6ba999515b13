// extra:chat

package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// file writes lines for an import.
func file(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *tab) upload(path string) {
	p.t.Helper()
	p.run(chromedp.SetUploadFiles("input[type=file]", []string{path}, chromedp.ByQuery))
	p.click(labelled(tasks, "Import"))
}

var tasks = within("Tasks")

// nth is a task in the list, the latest first.
func nth(n int) string { return fmt.Sprintf("%s?.querySelectorAll('.tasks > li')[%d]", tasks, n) }

func TestTasks(t *testing.T) {
	t.Parallel()
	install(t)
	s, p := chatting(t, 1200, 900)
	thread := evaluate[string](p, "document.querySelector('.picker select').value")
	viewer := evaluate[string](p, "document.querySelector('.who select').value")
	line := func(text string) string {
		return fmt.Sprintf(`{"path":"/threads/post_message","body":{"thread_id":%q,"text":%q}}`, thread, text)
	}

	p.click(labelled("document", "Operations"))
	p.shows(tasks, "There is no task yet")
	p.click(labelled(tasks, "Import"))
	p.shows(tasks, "Choose a file first")

	// One of these lines is no command, and one is rejected.
	p.upload(file(t, "some.ndjson", line("one"), "not JSON", line("two"), line(" ")))
	p.shows(nth(0), "finished: some lines were rejected")
	p.shows(nth(0), "4 of 4 lines, 2 rejected")
	p.click(labelled(nth(0), "Why they were rejected"))
	p.shows(nth(0), "Line 2: the line must be one JSON object")
	p.shows(nth(0), "Line 4: ")

	// One of rejected lines alone has not succeeded, in the words of the page.
	p.upload(file(t, "none.ndjson", line(" "), "not JSON"))
	p.shows(nth(0), "finished: every line was rejected")

	// A long one moves, also after the program was killed, until it is cancelled.
	many := make([]string, 100_000)
	for i := range many {
		many[i] = line(fmt.Sprint("number ", i))
	}
	p.upload(file(t, "many.ndjson", many...))
	moves := func() {
		t.Helper()
		lines := fmt.Sprintf(`Number(/(\S+) of 100.000 lines/.exec(%s?.innerText)?.[1].replace(/\D/g, '') ?? 0)`, nth(0))
		before := until(p, "lines are done", lines, func(n int) bool { return n > 0 })
		until(p, "more lines are done", lines, func(n int) bool { return n > before })
	}
	moves()
	p.allow("WebSocket connection", "Failed to load resource", "net::ERR")
	s.end(syscall.SIGKILL)
	p.shows("document.body", "reconnecting")
	s.begin()
	moves()
	p.screenshot("tasks")
	p.accessible("tasks")
	// It can't go on again: one is asked, and may leave it.
	p.click(labelled(nth(0), "Cancel"))
	p.shows(question, "it can't go on again")
	p.click(labelled(question, "Cancel"))
	moves()
	p.click(labelled(nth(0), "Cancel"))
	p.click(labelled(question, "Cancel the task"))
	p.shows(nth(0), "cancelled")
	p.shows("document.body", "The task is cancelled") // which moves what is clicked next

	p.click(labelled(tasks, "Export the events of Tea at four"))
	p.shows(nth(0), "Export of a thread")
	p.shows(nth(0), "succeeded")
	saved := p.download(labelled(nth(0), "Save the result"))
	if first, _, _ := strings.Cut(saved, "\n"); !strings.Contains(first, `"ThreadCreated"`) {
		t.Errorf("the export begins with %q", first)
	}

	for range 20 {
		send(t, s, "/tasks/export_thread", map[string]any{"executor_id": viewer, "thread_id": thread})
	}
	p.run(chromedp.Reload())
	p.eventually("the latest tasks are listed", tasks+"?.querySelectorAll('.tasks > li').length === 20")
	p.click(labelled(tasks, "Earlier tasks"))
	p.eventually("all tasks are listed", tasks+"?.querySelectorAll('.tasks > li').length === 24 && !"+labelled(tasks, "Earlier tasks"))
}

// download clicks on what saves a file, and returns what is in it.
func (p *tab) download(element string) string {
	p.t.Helper()
	folder, saved := p.t.TempDir(), make(chan string, 1)
	chromedp.ListenTarget(p.ctx, func(event any) {
		if e, is := event.(*browser.EventDownloadProgress); is && e.State == browser.DownloadProgressStateCompleted {
			saved <- e.GUID
		}
	})
	p.run(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllowAndName).WithBrowserContextID(chromedp.FromContext(p.ctx).BrowserContextID).
		WithDownloadPath(folder).WithEventsEnabled(true))
	p.click(element)
	select {
	case name := <-saved:
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			p.t.Fatal(err)
		}
		return string(content)
	case <-time.After(patience):
		p.t.Fatal("nothing was saved")
		return ""
	}
}
