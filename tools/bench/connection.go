package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

const answerTimeout = 30 * time.Second

// rawConnection is a persistent HTTP/1.1 connection for one request at a time. It does as little as possible, because
// it uses the same processors as the measured program.
type rawConnection struct {
	conn   net.Conn
	reader *bufio.Reader
	head   []byte // the beginning of all requests
	out    []byte // the current request; reused
	body   []byte // the last response's body; reused
}

// connect opens a connection for POST requests to path, with an access token unless token is empty.
func connect(ctx context.Context, address, path, token string) (*rawConnection, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n", path, address)
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	return &rawConnection{conn: conn, reader: bufio.NewReader(conn), head: []byte(head)}, nil
}

func (c *rawConnection) close() { _ = c.conn.Close() }

// post sends a body, with a Consistency-Token unless token is empty. It returns the body of a 200 response, which is
// valid until the next call. After an error the connection is unusable.
func (c *rawConnection) post(token string, body []byte) ([]byte, error) {
	c.out = append(c.out[:0], c.head...)
	if token != "" {
		c.out = append(append(append(c.out, "Consistency-Token: "...), token...), "\r\n"...)
	}
	c.out = strconv.AppendInt(append(c.out, "Content-Length: "...), int64(len(body)), 10)
	c.out = append(append(c.out, "\r\n\r\n"...), body...)
	if err := c.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return nil, err
	}
	return c.answer()
}

func (c *rawConnection) answer() ([]byte, error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	ok := bytes.HasPrefix(line, []byte("HTTP/1.1 200 "))
	status := ""
	if !ok {
		status = string(bytes.TrimSpace(line))
	}
	length, err := c.readHeader()
	if err != nil {
		return nil, err
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	if _, err := io.ReadFull(c.reader, c.body); err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: %s", status, c.body)
	}
	return c.body, nil
}

// readHeader reads the header up to the body and returns the Content-Length, which short responses have.
func (c *rawConnection) readHeader() (length int, err error) {
	const field = "Content-Length: "
	length = -1
	for {
		line, err := c.reader.ReadSlice('\n')
		switch {
		case err != nil:
			return 0, err
		case bytes.HasPrefix(line, []byte(field)):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(field):]))); err != nil {
				return 0, err
			}
		case len(bytes.TrimSpace(line)) > 0: // another field
		case length < 0:
			return 0, fmt.Errorf("an answer without %q", field)
		default:
			return length, nil
		}
	}
}
