package tasks

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"

	"example.com/threads/domain/ident"
)

// A worker executes a part of the input as a whole, so parts are small: at most a second's work on most stores. A part
// of the result must fit into an item of DynamoDB, even if all lines are rejected and sealed.
const (
	partBytes = 16 << 10
	partLines = 500
	// MaxLine is the maximum length of a line of the input, in bytes.
	MaxLine = 66 << 10
)

// linesPart is some lines of the input: the number of the first line, a newline, and the unchanged lines.
type linesPart []byte

// cut yields the parts of input. It ends after an error, which a client can be told.
func cut(input io.Reader) iter.Seq2[linesPart, error] {
	return func(yield func(linesPart, error) bool) {
		scanner := bufio.NewScanner(input)
		scanner.Buffer(nil, MaxLine)
		next, lines, number := begin(1), 0, 0
		for scanner.Scan() {
			number++
			next = append(append(next, scanner.Bytes()...), '\n')
			if lines++; len(next) >= partBytes || lines >= partLines {
				if !yield(next, nil) {
					return
				}
				next, lines = begin(number+1), 0
			}
		}
		err := scanner.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = &ident.InvalidError{Field: fmt.Sprintf("line %d", number+1), Reason: fmt.Sprintf("must have at most %d bytes", MaxLine)}
		case errors.As(err, new(*http.MaxBytesError)):
			err = tooLarge
		case err != nil:
			err = malformedBody
		}
		if err != nil || lines > 0 {
			yield(next, err)
		}
	}
}

func begin(number int) linesPart { return append(strconv.AppendInt(nil, int64(number), 10), '\n') }

// lines yields the non-empty lines with their numbers.
func (p linesPart) lines() iter.Seq2[uint64, []byte] {
	return func(yield func(uint64, []byte) bool) {
		first, rest, _ := bytes.Cut(p, []byte("\n"))
		number, _ := strconv.ParseUint(string(first), 10, 64) // cut has written it
		for line := range bytes.SplitSeq(bytes.TrimSuffix(rest, []byte("\n")), []byte("\n")) {
			if line = bytes.TrimSpace(line); len(line) > 0 && !yield(number, line) {
				return
			}
			number++
		}
	}
}

// count returns the number of non-empty lines.
func (p linesPart) count() (n uint64) {
	for range p.lines() {
		n++
	}
	return n
}
