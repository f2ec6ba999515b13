// Package asset serves the files of web pages from memory.
package asset

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
}

// Load returns the handler of an embedded file, for GET and HEAD, with its Content-Security-Policy. A file whose name
// ends with .gz is stored compressed, and unpacked when it is first asked for. Load panics if there is no such file,
// which is a mistake in this program.
func Load(files fs.FS, name, policy string) http.Handler {
	stored, err := fs.ReadFile(files, name)
	plainName, packed := strings.CutSuffix(name, ".gz")
	contentType := contentTypes[path.Ext(plainName)]
	if err != nil || contentType == "" {
		panic(fmt.Sprintf("the embedded file %s can't be served: %v", name, err))
	}
	plain, compressed := func() []byte { return stored }, func() []byte { return stored }
	if packed {
		plain = sync.OnceValue(func() []byte { return unpack(stored) })
	} else {
		compressed = sync.OnceValue(func() []byte { return pack(stored) })
	}
	tag := fmt.Sprintf(`W/"%.8x"`, sha256.Sum256(stored))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header, content := w.Header(), plain
		header.Add("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			header.Set("Content-Encoding", "gzip")
			content = compressed
		}
		header.Set("Content-Type", contentType)
		header.Set("Content-Security-Policy", policy)
		header.Set("Cache-Control", "no-cache") // browsers revalidate and get 304
		header.Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
		} else if r.Method == http.MethodGet {
			_, _ = w.Write(content()) // fails only if the client has disconnected
		}
	})
}

func pack(content []byte) []byte {
	var packed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // once, for every first view; the level is valid
	_, _ = writer.Write(content)                                    // into memory: it can't fail
	_ = writer.Close()
	return packed.Bytes()
}

func unpack(stored []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(stored))
	var content []byte
	if err == nil {
		content, err = io.ReadAll(reader)
	}
	if err != nil {
		panic(fmt.Sprintf("an embedded file is no gzip: %v", err)) // it is the same in every run
	}
	return content
}
