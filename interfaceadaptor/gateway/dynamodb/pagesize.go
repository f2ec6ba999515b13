package dynamodb

const (
	// targetPage is about how many bytes of items an answer should have. The SDK now and then loses the connection under
	// answers of half a megabyte; a fifth of that is far from it and costs few more round trips.
	targetPage = 100_000
	firstPage  = 25  // a guess that holds for events of up to 16 KB, which is a message as long as may be
	maxPage    = 250 // however small the items are
)

// pageSize chooses how many items to ask for, by the size of those that came.
type pageSize struct{ count, bytes int }

func (p *pageSize) saw(seen item) {
	p.count++
	p.bytes += seen.size()
}

func (p *pageSize) items() int {
	if p.count == 0 {
		return firstPage
	}
	return max(1, min(targetPage*p.count/p.bytes, maxPage))
}
