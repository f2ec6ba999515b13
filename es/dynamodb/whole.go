package dynamodb

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/es"
)

const (
	journalParts = 4
	wholeLimit   = 500 // items per page, which keeps an answer well below a megabyte
	// wholeEnd is the position after the last page.
	wholeEnd = "end"
	// keySeparator separates pkey and skey in the position of a page.
	keySeparator = " "
)

// JournalParts implements [es.Journal].
func (g *Gateway) JournalParts() int { return journalParts }

// ReadJournal implements [es.Journal]: a part is a segment of a parallel scan. Misplaced items are left
// out.
func (g *Gateway) ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		scan := &dynamodb.ScanInput{
			TableName: aws.String(g.settings.JournalTable), ProjectionExpression: aws.String("pkey, skey, payload"),
			Segment: aws.Int32(int32(part)), TotalSegments: aws.Int32(int32(parts)), ConsistentRead: aws.Bool(true), Limit: aws.Int32(wholeLimit),
		}
		for after != wholeEnd {
			if pkey, skey, is := strings.Cut(after, keySeparator); is {
				scan.ExclusiveStartKey = item{"pkey": text(pkey), "skey": text(skey)}
			} else if after != "" {
				yield(es.JournalPage{}, fmt.Errorf("%q is no position in the journal", after))
				return
			}
			output, err := g.client.Scan(ctx, scan)
			if err != nil {
				yield(es.JournalPage{}, explain(ctx, err, "scan the journal"))
				return
			}
			after = wholeEnd
			if last := item(output.LastEvaluatedKey); last != nil {
				after = last.text("pkey") + keySeparator + last.text("skey")
			}
			page := es.JournalPage{Next: after}
			for _, found := range output.Items {
				if id, seqNr, err := g.Place(item(found).text("pkey"), item(found).text("skey")); err == nil {
					page.Entries = append(page.Entries, es.Queued{ID: id, SeqNr: seqNr, Payload: item(found).bytes("payload")})
				}
			}
			if !yield(page, nil) {
				return
			}
		}
	}
}
