// Package asset serves the files of web pages from memory.
package asset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// File is a file of a page. It is an [http.Handler] for GET and HEAD.
type File struct {
	contentType, policy string
	tag                 string
	plain, small        []byte // as it is, and by gzip if that is smaller
}

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
}

// Load returns an embedded file with its Content-Security-Policy. A file whose name ends with .gz is stored compressed.
// Load panics if there is no such file, which is a mistake in this program.
func Load(files fs.FS, name, policy string) File {
	content, err := fs.ReadFile(files, name)
	plainName, packed := strings.CutSuffix(name, ".gz")
	f := File{contentType: contentTypes[path.Ext(plainName)], policy: policy, plain: content}
	if packed && err == nil {
		var reader *gzip.Reader
		if reader, err = gzip.NewReader(bytes.NewReader(content)); err == nil {
			f.small = content
			f.plain, err = io.ReadAll(reader)
		}
	} else {
		var small bytes.Buffer
		packing := gzip.NewWriter(&small)
		_, _ = packing.Write(content) // into memory, which takes it
		_ = packing.Close()
		if small.Len() < len(content) {
			f.small = small.Bytes()
		}
	}
	if err != nil || f.contentType == "" {
		panic(fmt.Sprintf("the embedded file %s can't be served: %v", name, err))
	}
	sum := sha256.Sum256(f.plain)
	f.tag = hex.EncodeToString(sum[:8])
	return f
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
