// extra:chat

package browser

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

var (
	ada  = within("What Ada sees")
	bob  = within("What Bob sees")
	flow = within("Live flow")
	// question is asked before what can't be undone.
	question = "document.querySelector('dialog[open]')"
)

func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.run(chromedp.KeyEvent(key))
	}
}

var reload = chromedp.Reload()

func focus(element string) chromedp.Action { return chromedp.Evaluate(element+".focus()", nil) }

// begin presses the only button of a new page.
func begin(p *tab) {
	p.t.Helper()
	p.click(labelled("document", "Start a chat between Ada and Bob"))
	p.shows(bob, "Tea at four")
	p.shows(ada, "2 people")
}

// chatting starts the program, opens its page, and begins a chat.
func chatting(t *testing.T, width, height int, more ...string) (*program, *tab) {
	t.Helper()
	s := start(t, more...)
	p := open(t, chromium(t), s.url, width, height)
	begin(p)
	return s, p
}

// says posts a message by keyboard.
func says(p *tab, pane, name, text string) {
	p.t.Helper()
	p.fill(labelled(pane, "Message from "+name), text+"\r")
}

// talk has two people say something, and sees it cross the picture.
func talk(p *tab) {
	p.t.Helper()
	begin(p)
	says(p, ada, "Ada", "Anyone for a cup?")
	p.shows(bob, "Anyone for a cup?")
	says(p, bob, "Bob", "Yes, with milk")
	p.shows(ada, "Yes, with milk")
	p.shows(flow, "seen after")
}

func TestTwoPeopleChat(t *testing.T) {
	t.Parallel()
	s := start(t, "LAB=on")
	p := open(t, chromium(t), s.url, 1440, 900)
	talk(p)
	p.screenshot("chat")

	// Edit a message; a refusal is shown beside the field.
	p.click(labelled(ada, `Edit "Anyone for a cup?"`))
	p.click(labelled(ada, "Save"))
	p.shows(ada, "the message has this text already")
	p.fill(labelled(ada, "New text"), "Anyone for a pot?\r")
	p.shows(bob, "Anyone for a pot?")
	p.shows(bob, "edited")
	p.showsNot(ada, "the message has this text already")

	// An Admin deletes another account's message.
	p.click(labelled(ada, `Delete "Yes, with milk"`))
	p.click(labelled(question, "Delete the message"))
	p.showsNot(bob, "Yes, with milk")

	// After a reload all messages are there.
	p.run(reload)
	p.shows(bob, "Anyone for a pot?")
	p.shows(ada, "Anyone for a pot?")

	// Kill the program: a message sent meanwhile must arrive exactly once after the restart.
	p.allow("WebSocket connection", "Failed to load resource", "net::ERR")
	s.end(syscall.SIGKILL)
	p.shows("document.body", "reconnecting")
	says(p, bob, "Bob", "Is anybody there?")
	p.shows(bob, "sending")
	s.begin()
	p.shows(ada, "Is anybody there?")
	p.eventually("the message is there once", fmt.Sprintf("%s.innerText.split('Is anybody there?').length === 2", ada))
	p.showsNot("document.body", "reconnecting")

	// Leave the thread.
	p.click(labelled(bob, "2 people"))
	p.click(labelled(bob, "Leave the thread"))
	p.click(labelled(question, "Leave"))
	p.shows(bob, "Bob is not in this thread any more")
	p.shows(ada, "1 person")
}
