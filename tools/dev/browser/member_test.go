// extra:chat

package browser

import "testing"

// What only Admins of the thread may do is not shown to a Member.
func TestAMemberIsNotShownWhatAdminsMayDo(t *testing.T) {
	t.Parallel()
	_, p := chatting(t, 1440, 900)
	views := within("Views")
	p.shows(views, "Time travel")
	p.choose("document.querySelectorAll('.who .name select')[0]", "Bob")
	p.showsNot(views, "Time travel")
	p.click(labelled("document", "Operations"))
	p.shows(tasks, "Import")
	p.showsNot(tasks, "Export the events")
	p.click(labelled("document", "Chat"))
	p.choose("document.querySelectorAll('.who .name select')[0]", "Ada")
	p.shows(views, "Time travel")
	p.click(labelled("document", "Operations"))
	p.shows(tasks, "Export the events of Tea at four")
	// Its address leads to it.
	p.click(labelled("document", "Time travel"))
	p.run(reload)
	p.shows("document.body", "As it was after event")
}
