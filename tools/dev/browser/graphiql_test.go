// extra:chat

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The fetcher is the only part of GraphiQL that is ours: a query has one answer; a subscription has many.
func TestGraphiQLAsksAndFollows(t *testing.T) {
	t.Parallel()
	read := freeAddress(t)
	start(t, "READ_API_ADDR="+read)
	p := &tab{t: t, ctx: chromium(t), home: "http://" + read}
	p.run(chromedp.Navigate(p.home), chromedp.WaitVisible(".graphiql-editors"), chromedp.Evaluate(`
		globalThis.seen = [];
		const user = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
		const observer = {
			next: (answer) => seen.push(answer.errors[0].extensions.code), error: (reason) => seen.push(String(reason)), complete: () => seen.push('complete'),
		};
		fetcher({ query: '{ __typename }' }).then((answer) => seen.push(answer.data.__typename));
		fetcher({ query: 'subscription { nothing }' }).subscribe(observer);
		fetcher({ query: 'subscription { threadChanged(threadId: "' + user + '", userAccountId: "' + user + '") { id } }' }).subscribe(observer);
		undefined`, nil))
	p.eventually("the answers", `seen.sort().join() === 'BAD_USER_INPUT,NOT_FOUND,Query,complete,complete'`)
}
