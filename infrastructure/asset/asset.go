// Package asset serves the files of web pages from memory.
package asset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// File is a file of a page. It is an [http.Handler] for GET and HEAD.
type File struct {
	contentType, policy string
	tag                 string
	plain, small        []byte // as it is, and by gzip
}

// New returns a file. small is the content by gzip; nil: it is never sent compressed. policy is the
// Content-Security-Policy.
func New(plain, small []byte, contentType, policy string) File {
	sum := sha256.Sum256(plain)
	return File{contentType, policy, hex.EncodeToString(sum[:8]), plain, small}
}

// Pack compresses content by gzip.
func Pack(content []byte) []byte {
	var small bytes.Buffer
	packing, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // a good level
	_, _ = packing.Write(content)                                   // into memory, which takes it
	_ = packing.Close()
	return small.Bytes()
}

// ServeHTTP implements [http.Handler].
func (f File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Security-Policy", f.policy)
	header.Set("Cache-Control", "no-cache") // browsers revalidate and get 304
	header.Set("Vary", "Accept-Encoding")
	content, tag := f.plain, `"`+f.tag+`"`
	if f.small != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		content, tag = f.small, `"`+f.tag+`-gzip"`
	}
	header.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(content) // fails only if the client has disconnected
	}
}
