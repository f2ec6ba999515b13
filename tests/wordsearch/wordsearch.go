// Package wordsearch searches all stored data of a system for words: files, tables of SQL databases and of DynamoDB,
// including compressed snapshots.
package wordsearch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/jmoiron/sqlx"
	"github.com/klauspost/compress/zstd"
)

// Search holds the data to search.
type Search struct {
	t      *testing.T
	places map[string][]byte
}

// New returns a search without data.
func New(t *testing.T) *Search { return &Search{t: t, places: map[string][]byte{}} }

// Text adds a text.
func (s *Search) Text(name, text string) { s.places[name] = []byte(text) }

// Files adds all files of a folder, byte by byte.
func (s *Search) Files(folder string) {
	s.t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			s.places[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// SQL adds all rows of all tables of a database.
func (s *Search) SQL(ctx context.Context, db *sqlx.DB) {
	s.t.Helper()
	names := "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
	if db.DriverName() == "sqlite" {
		names = "SELECT name FROM sqlite_master WHERE type = 'table'"
	}
	var tables []string
	if err := db.SelectContext(ctx, &tables, names); err != nil {
		s.t.Fatal(err)
	}
	for _, table := range tables {
		s.table(ctx, db, table)
	}
}

func (s *Search) table(ctx context.Context, db *sqlx.DB, table string) {
	s.t.Helper()
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error
	for rows.Next() {
		values, err := sqlx.SliceScan(rows)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, value := range values {
			if text, is := value.(string); is {
				value = []byte(text)
			}
			if raw, is := value.([]byte); is {
				s.add("table "+table, raw)
			}
		}
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
}

// DynamoDB adds all items of tables.
func (s *Search) DynamoDB(ctx context.Context, client *dynamodb.Client, tables ...string) {
	s.t.Helper()
	for _, table := range tables {
		pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(table)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				s.t.Fatal(err)
			}
			for _, item := range page.Items {
				for _, value := range item {
					switch value := value.(type) {
					case *types.AttributeValueMemberS:
						s.add("table "+table, []byte(value.Value))
					case *types.AttributeValueMemberB:
						s.add("table "+table, value.Value)
					}
				}
			}
		}
	}
}

// add adds a value and, if it is compressed, its content.
func (s *Search) add(place string, value []byte) {
	s.places[place] = append(append(s.places[place], value...), '\n')
	if bytes.HasPrefix(value, []byte{0x28, 0xb5, 0x2f, 0xfd}) { // zstd
		reader, err := zstd.NewReader(nil)
		if err != nil {
			s.t.Fatal(err)
		}
		defer reader.Close()
		unpacked, err := reader.DecodeAll(value, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		s.places[place+", unpacked"] = append(append(s.places[place+", unpacked"], unpacked...), '\n')
	}
}

// Find returns where the words are, ignoring case, as "<word> in <place>".
func (s *Search) Find(words ...string) (found []string) {
	for place, content := range s.places {
		content = bytes.ToLower(content)
		for _, word := range words {
			if bytes.Contains(content, []byte(strings.ToLower(word))) {
				found = append(found, fmt.Sprintf("%q in %s", word, place))
			}
		}
	}
	return found
}
