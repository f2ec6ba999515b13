// extra:chat

package browser

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The film's size in CSS pixels: the least on which chat and map are beside each other, so that texts stay readable in
// README's column. A CSS pixel is a pixel and a half.
const width, height, scale = 1180, 810, 1.5

// TestPictures makes the pictures and the film of README.md from the real program. `make pictures` runs it.
func TestPictures(t *testing.T) {
	if os.Getenv("PICTURES") == "" {
		t.Skip("left out: it makes files; make pictures runs it")
	}
	for _, tool := range []string{"cwebp", "img2webp"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is missing: install it, on Debian by apt-get install webp", tool)
		}
	}
	s := start(t, "LAB=on")
	sharp := chromedp.Flag("force-device-scale-factor", fmt.Sprint(scale)) // a recording does not heed EmulateScale
	browser, end := launch(t, sharp)
	t.Cleanup(end)
	p := open(t, browser, s.url, width, height)
	p.run(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(scale)))
	p.allow("403") // of the refused command
	film(p)
	stills(p)
}

// recording is a film of a tab: what the browser draws, as it draws it.
type recording struct {
	p      *tab
	frames []frame

	mutex sync.Mutex
	drawn []drawn // since the scene began; the first one is older
}

type frame struct {
	picture []byte // JPEG, which is made faster than PNG
	shown   time.Duration
}

type drawn struct {
	picture []byte
	at      time.Time
}

// shortest is how long a frame is shown at least: more of them make the film large, and not smoother.
const shortest = 70 * time.Millisecond

// record begins a film.
func (p *tab) record() *recording {
	p.t.Helper()
	r := &recording{p: p}
	chromedp.ListenTarget(p.ctx, func(event any) {
		seen, is := event.(*page.EventScreencastFrame)
		if !is {
			return
		}
		picture, err := base64.StdEncoding.DecodeString(seen.Data)
		if err != nil {
			p.t.Error(err)
		}
		r.mutex.Lock()
		r.drawn = append(r.drawn, drawn{picture, time.Now()})
		r.mutex.Unlock()
		go func() { _ = chromedp.Run(p.ctx, page.ScreencastFrameAck(seen.SessionID)) }() // it fails at the end
	})
	p.run(page.StartScreencast().WithFormat(page.ScreencastFormatJpeg).WithQuality(95))
	return r
}

// scene records what happens while act runs, and shows it in the given time, however long it took. The last frame stays
// for a while.
func (r *recording) scene(shown, stays time.Duration, act func()) {
	r.p.t.Helper()
	r.mutex.Lock()
	r.drawn = r.drawn[max(0, len(r.drawn)-1):]
	r.mutex.Unlock()
	began := time.Now()
	act()
	r.p.run(chromedp.Sleep(300 * time.Millisecond)) // for what is drawn last
	ended := time.Now()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	scaled := func(took time.Duration) time.Duration {
		return time.Duration(float64(took) * float64(shown) / float64(ended.Sub(began)))
	}
	var wait time.Duration
	for i, each := range r.drawn {
		from, until := each.at, ended
		if i == 0 && from.Before(began) {
			from = began
		}
		if i+1 < len(r.drawn) {
			until = r.drawn[i+1].at
		}
		if wait += scaled(until.Sub(from)); wait < shortest && i+1 < len(r.drawn) {
			continue
		}
		r.frames = append(r.frames, frame{each.picture, wait})
		wait = 0
	}
	r.frames[len(r.frames)-1].shown += stays
}

// write encodes the film as an animated picture that begins again at its end.
func (r *recording) write(name string) {
	r.p.t.Helper()
	folder := r.p.t.TempDir()
	arguments := []string{"-loop", "0", "-min_size", "-lossy", "-m", "6", "-q", "55"}
	for i, each := range r.frames {
		path := filepath.Join(folder, fmt.Sprintf("%04d.jpeg", i))
		if err := os.WriteFile(path, each.picture, 0o600); err != nil {
			r.p.t.Fatal(err)
		}
		arguments = append(arguments, "-d", fmt.Sprint(max(1, each.shown.Milliseconds())), path)
	}
	r.p.encode(name, "img2webp", append(arguments, "-o")...)
}

// picture returns a screenshot.
func (p *tab) picture() (picture []byte) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.CaptureScreenshot(&picture)); err != nil {
		p.t.Errorf("a screenshot: %v", err)
	}
	return picture
}

// still writes a screenshot for README.md.
func (p *tab) still(name string) {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "still.png")
	if err := os.WriteFile(path, p.picture(), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.encode(name, "cwebp", "-quiet", "-m", "6", "-q", "80", path, "-o")
}

// encode runs an encoder, whose last argument is the file to write.
func (p *tab) encode(name, tool string, arguments ...string) {
	p.t.Helper()
	path := filepath.Join(root, "docs/page", name)
	if output, err := exec.CommandContext(p.t.Context(), tool, append(arguments, path)...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", tool, err, output)
	}
	info, err := os.Stat(path)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Logf("%s has %d KB", path, info.Size()>>10)
}

// toTheTop scrolls back to where the whole page is seen.
func toTheTop(p *tab) {
	p.t.Helper()
	p.run(chromedp.Evaluate("scrollTo(0, 0)", nil))
}

// enter presses a button as a keyboard does: its frame shows which one it is.
func enter(p *tab, button string) {
	p.t.Helper()
	p.eventually("there is "+button, button+" && !"+button+".disabled")
	p.run(chromedp.Evaluate(button+".focus({preventScroll: true, focusVisible: true})", nil), chromedp.Sleep(300*time.Millisecond))
	p.press(kb.Enter)
}

// writes writes a message as a person does, key by key.
func writes(p *tab, text string) {
	p.t.Helper()
	p.run(chromedp.Evaluate(labelled(ada, "Message from Ada")+".focus({preventScroll: true})", nil))
	for _, key := range text {
		p.press(string(key))
		p.run(chromedp.Sleep(20 * time.Millisecond))
	}
	p.press(kb.Enter)
}

// film shows the first message in slow motion, a refused command, an answer that is old, and a rebuild.
func film(p *tab) {
	p.t.Helper()
	begin(p)
	p.shows(theTour, "1 of 7")
	toTheTop(p)
	r := p.record()
	r.scene(3*time.Second/2, time.Second/2, func() { writes(p, "Anyone for a cup?") })
	r.scene(3*time.Second, 3*time.Second/2, func() {
		p.shows(theTour, "2 of 7")
		p.shows(bob, "Anyone for a cup?")
	})
	r.scene(time.Second, 3*time.Second/2, func() {
		enter(p, labelled(theTour, "Rename it as Bob"))
		p.shows(theTour, "(not_an_admin)")
	})
	r.scene(2*time.Second/3, time.Second/3, func() {
		enter(p, labelled(theTour, "Pause the projection"))
		p.shows(theTour, "now write a message as Ada")
	})
	r.scene(3*time.Second/2, 3*time.Second/2, func() {
		writes(p, "Who reads this?")
		p.shows(theTour, "has just had the rows of event 3")
	})
	enter(p, labelled(theTour, "Ask as Bob with the token"))
	r.scene(time.Second, time.Second/2, func() {
		enter(p, labelled(theTour, "Resume the projection"))
		p.shows(theTour, "and has event 4")
	})
	for _, step := range []struct{ button, done string }{ // these are left out
		{"Send it twice", "6 of 7"}, {"Send, and lose the record", "The stream has lost the record of event 6"}, {"Send the next message", "7 of 7"},
	} {
		enter(p, labelled(theTour, step.button))
		p.shows(theTour, step.done)
	}
	toTheTop(p)
	r.scene(4*time.Second, 2*time.Second, func() {
		enter(p, labelled(theTour, "Rebuild the rows"))
		p.shows(theTour, "all rows are new")
	})
	p.run(page.StopScreencast())
	r.write("film.webp")
}

// stills are pictures of other views, each for half of the column.
func stills(p *tab) {
	p.t.Helper()
	enter(p, labelled(theTour, "Close"))
	p.run(chromedp.EmulateViewport(width*2/3, height, chromedp.EmulateScale(scale)))
	says(p, bob, "Bob", "Yes, with milk")
	p.shows(ada, "Yes, with milk")
	p.click(labelled("document", "Time travel"))
	p.shows(within("The thread as it was"), "Yes, with milk")
	p.upTo(within("Events"))
	p.still("past.webp")

	p.click(labelled("document", "Failure lab"))
	twice := within("Deliver events twice")
	p.click(labelled(twice, "Send, and deliver twice"))
	p.holds("Deliver events twice")
	p.upTo(twice)
	p.run(chromedp.Evaluate("document.activeElement.blur(); scrollBy(0, "+twice+".getBoundingClientRect().top - document.querySelector('header').offsetHeight - 14)", nil))
	p.still("lab.webp")
}

// upTo makes the viewport as high as a part of the page, with what stays above it.
func (p *tab) upTo(part string) {
	p.t.Helper()
	toTheTop(p)
	high := evaluate[float64](p, part+".offsetHeight + document.querySelector('header').offsetHeight + 28")
	p.run(chromedp.EmulateViewport(width*2/3, int64(high), chromedp.EmulateScale(scale)))
}
