package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

const patience = 3 * time.Minute

// shared is the browser of all tests: to start one for each test costs more than the test.
var (
	launching sync.Mutex
	shared    context.Context //nolint:containedctx // of the browser
	endShared = func() {}
)

// still ends the animations of styles that only decorate: they take half of a browser's processor time. Those of
// scripts go on, because they show how far something is, and so does that of a card that bounces off.
const still = `
const still = new CSSStyleSheet();
still.replaceSync(':not(.bounced, .bounced *), ::before, ::after { animation: none !important }');
document.adoptedStyleSheets.push(still)`

// chromium returns a tab of a browser profile of its own.
func chromium(t *testing.T) context.Context {
	t.Helper()
	return newTab(t, still)
}

func newTab(t *testing.T, script string) context.Context {
	t.Helper()
	browser := running(t)
	inBrowser := cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser)
	profile, err := target.CreateBrowserContext().Do(inBrowser)
	if err != nil {
		t.Fatalf("make a profile of Chromium: %v", err)
	}
	t.Cleanup(func() { _ = target.DisposeBrowserContext(profile).Do(inBrowser) })
	return tabOf(t, browser, profile, script)
}

func tabOf(t *testing.T, browser context.Context, profile cdp.BrowserContextID, script string) context.Context {
	t.Helper()
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser))
	if err != nil {
		t.Fatalf("open a tab of Chromium: %v", err)
	}
	tab, closeTab := chromedp.NewContext(browser, chromedp.WithTargetID(id))
	chromedp.FromContext(tab).BrowserContextID = profile
	t.Cleanup(closeTab)
	if err := chromedp.Run(tab, page.Enable(), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	})); err != nil {
		t.Fatalf("attach to a tab of Chromium: %v", err)
	}
	return tab
}

// running returns the shared browser. It starts the first one, or another one if the last one has crashed.
func running(t *testing.T) context.Context {
	t.Helper()
	launching.Lock()
	defer launching.Unlock()
	if shared == nil || shared.Err() != nil {
		shared, endShared = launch(t) //nolint:fatcontext // it is that of one browser, which TestMain ends
	}
	return shared
}

// launch starts a browser with an empty profile and one tab. more are further options.
func launch(t *testing.T, more ...chromedp.ExecAllocatorOption) (context.Context, func()) {
	t.Helper()
	// It does the same with half the processor time. Debian's script of its name would end, and leave it behind.
	path, err := exec.LookPath("/usr/lib/chromium/chromium-headless-shell")
	if err != nil {
		path, err = exec.LookPath("chromium")
	}
	if err != nil {
		t.Fatalf("these tests need Chromium on the PATH; make test-clients installs it where it may, by apt-get install chromium-headless-shell: %v", err)
	}
	// Chromium's last processes may write after the test: TestMain deletes what they leave.
	profile, err := os.MkdirTemp(binaries, "chromium-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Headless, chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Env("TMPDIR=" + binaries),
	}
	for _, flag := range []string{
		"disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage",
		"disable-default-apps", "disable-extensions",
	} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocated, free := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), append(options, more...)...)
	browser, closeBrowser := chromedp.NewContext(allocated)
	if err := chromedp.Run(browser); err != nil {
		free()
		t.Fatalf("start Chromium: %v", err)
	}
	return browser, func() { closeBrowser(); free() }
}

// tab is a page in the browser. It records what the page must not do.
type tab struct {
	t    *testing.T
	ctx  context.Context
	home string

	mutex    sync.Mutex
	wrong    []string // console errors, and requests to other servers
	requests int
	allowed  []string // errors that a test causes, such as a lost connection
}

// open opens the program's page in the browser's tab. With ?check, an answer that has not its type is an error.
func open(t *testing.T, browser context.Context, home string, width, height int) *tab {
	t.Helper()
	return openAt(t, browser, home, "/?check", width, height)
}

func openAt(t *testing.T, browser context.Context, home, path string, width, height int) *tab {
	t.Helper()
	p := &tab{t: t, ctx: browser, home: home}
	chromedp.ListenTarget(browser, p.listen)
	p.run(chromedp.EmulateViewport(int64(width), int64(height)), emulation.SetFocusEmulationEnabled(true), network.Enable(), log.Enable(), chromedp.Navigate(home+path))
	t.Cleanup(func() {
		if t.Failed() {
			p.screenshot("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
			var text string
			_ = chromedp.Run(p.ctx, chromedp.Evaluate("document.body.innerText", &text))
			t.Logf("the page reports:\n%s", text)
		}
		p.check()
	})
	return p
}

func (p *tab) listen(event any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.wrong = append(p.wrong, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			p.wrong = append(p.wrong, fmt.Sprintf("console: %s", e.Args[0].Value))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			p.wrong = append(p.wrong, fmt.Sprintf("log: %s %s", e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		p.requests++
		if !strings.HasPrefix(e.Request.URL, p.home) && !strings.HasPrefix(e.Request.URL, "data:") { // Chromium's icons
			p.wrong = append(p.wrong, "a request to elsewhere: "+e.Request.URL)
		}
	case *network.EventWebSocketCreated:
		home, _ := url.Parse(p.home)
		if to, err := url.Parse(e.URL); err != nil || to.Host != home.Host {
			p.wrong = append(p.wrong, "a WebSocket to elsewhere: "+e.URL)
		}
	}
}

// allow accepts errors that the test causes.
func (p *tab) allow(texts ...string) { p.allowed = append(p.allowed, texts...) }

func (p *tab) check() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, wrong := range p.wrong {
		if !slices.ContainsFunc(p.allowed, func(text string) bool { return strings.Contains(wrong, text) }) {
			p.t.Errorf("the page: %s", wrong)
		}
	}
	if p.requests == 0 {
		p.t.Error("no request was seen")
	}
}

func (p *tab) run(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// evaluate runs a script and returns its result.
func evaluate[R any](p *tab, script string) R {
	p.t.Helper()
	var result R
	p.run(evaluation(script, &result))
	return result
}

func evaluation(script string, result any) chromedp.Action {
	return chromedp.Evaluate(script, result, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) })
}

// eventually waits until a script returns true.
func (p *tab) eventually(about, script string) {
	p.t.Helper()
	until(p, about, "!!("+script+")", func(so bool) bool { return so })
}

// until runs a script until its result is accepted, and returns it. A script that a navigation interrupts is run again
// on the next page.
func until[R any](p *tab, about, script string, enough func(R) bool) R {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		var result R
		err := chromedp.Run(ctx, evaluation(script, &result))
		if err == nil && enough(result) {
			return result
		}
		select {
		case <-time.After(30 * time.Millisecond):
		case <-ctx.Done():
			p.t.Fatalf("after %s it is still not so: %s (%v)", patience, about, err)
		}
	}
}

// Parts of the page, as scripts that find them.

// within returns a part of the page by its label.
func within(label string) string {
	return fmt.Sprintf("document.querySelector(`[aria-label=%q]`)", label)
}

// labelled returns a field or button by its accessible name in a part of the page.
func labelled(part, name string) string {
	return fmt.Sprintf(`[...(%s?.querySelectorAll('button, input, textarea, select, summary, a') ?? [])].find((element) =>
		(element.getAttribute('aria-label') ?? (element.labels?.length ? element.labels[0].innerText || element.labels[0].textContent : element.innerText)).trim() === %q)`, part, name)
}

func (p *tab) shows(part, text string) {
	p.t.Helper()
	p.eventually(part+" shows "+text, fmt.Sprintf("%s?.innerText.includes(%q)", part, text))
}

func (p *tab) showsNot(part, text string) {
	p.t.Helper()
	p.eventually(part+" does not show "+text, fmt.Sprintf("%[1]s && !%[1]s.innerText.includes(%[2]q)", part, text))
}

// click clicks an element with the mouse once it is clickable and no longer moves, and again if it moved all the same:
// while a page is still being drawn, another element can move below the mouse.
func (p *tab) click(element string) {
	p.t.Helper()
	for range 3 {
		at := until(p, "the mouse can click "+element, fmt.Sprintf(`(async () => {
			const find = () => %s;
			const center = () => {
				const box = find()?.getBoundingClientRect();
				return box ? [box.x + box.width / 2, box.y + box.height / 2] : [];
			};
			const isOf = (hit) => find()?.contains(hit);
			find()?.scrollIntoView({block: 'center'});
			const before = center();
			await new Promise((done) => setTimeout(done, 50));
			const [x, y] = center();
			const hit = x === undefined ? null : document.elementFromPoint(x, y);
			const still = x === before[0] && y === before[1];
			if (!still || !hit || find().disabled || !isOf(hit)) return [];
			window.missed = true;
			addEventListener('click', (event) => (window.missed = event.target !== hit && !find()?.contains(event.target)), {capture: true, once: true});
			return [x, y];
		})()`, element), func(at []float64) bool { return len(at) == 2 })
		p.run(chromedp.MouseClickXY(at[0], at[1]))
		// Where the click led to another page, that page has missed nothing.
		if !until(p, "the page answers", "window.missed === true", func(bool) bool { return true }) {
			return
		}
		p.t.Logf("the mouse has missed %s", element)
	}
	p.t.Fatalf("the mouse has missed %s each time", element)
}

// fill types into a field.
func (p *tab) fill(element, text string) {
	p.t.Helper()
	p.eventually("there is "+element, element)
	p.run(chromedp.Evaluate(element+".focus(); "+element+".select?.()", nil), chromedp.KeyEvent(text))
}

// prefer shows the page in the light or dark color scheme.
func (p *tab) prefer(scheme string) {
	p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// screenshot writes a screenshot to data/screenshots.
func (p *tab) screenshot(name string) {
	folder := filepath.Join(root, "data", "screenshots")
	var picture []byte
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	err := chromedp.Run(ctx, chromedp.CaptureScreenshot(&picture))
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644)
	}
	if err != nil {
		p.t.Errorf("screenshot %s: %v", name, err)
	}
}
