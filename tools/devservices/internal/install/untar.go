package install

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Untar unpacks the regular files of a .tar.gz into folder. rename gives each its path in there, or
// "" to leave it out.
func Untar(archive io.Reader, folder string, rename func(path string) string) error {
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return fmt.Errorf("unzip: %w", err)
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("untar: %w", err)
		}
		path := rename(header.Name)
		if path == "" || header.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(path) {
			return fmt.Errorf("untar: %q leads out of the folder", header.Name)
		}
		if err := write(filepath.Join(folder, path), files); err != nil {
			return fmt.Errorf("untar %s: %w", header.Name, err)
		}
	}
}

func write(path string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
