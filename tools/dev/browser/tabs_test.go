// extra:chat

package browser

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
)

// moving is chromium for what is about motion.
func moving(t *testing.T) context.Context {
	t.Helper()
	return newTab(t, "")
}

// anotherTab returns another tab of the same profile.
func anotherTab(t *testing.T, tab context.Context) context.Context {
	t.Helper()
	return tabOf(t, running(t), chromedp.FromContext(tab).BrowserContextID, still)
}
