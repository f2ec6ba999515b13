package dynamodb

const (
	// targetPage is the target size of an answer in bytes. The SDK sometimes loses the connection in answers of half a
	// megabyte. A fifth of that is safe and costs few more requests.
	targetPage = 100_000
	firstPage  = 25  // fits events of up to 16 KB, the largest usual size
	maxPage    = 250 // for items of any size
)

// pageSize chooses the number of items to request from the size of the items read so far.
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
