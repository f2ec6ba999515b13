package services

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// mySQLFiles are the folders and files of an instance.
type mySQLFiles struct {
	folder, data, temp, socket, pidFile, initFile string
}

// Operating systems reject longer socket paths.
const maxSocketPath = 100

func filesIn(folder string) mySQLFiles {
	socket := filepath.Join(folder, "mysql.sock")
	if len(socket) > maxSocketPath {
		socket = filepath.Join(os.TempDir(), fmt.Sprintf("threads-%.8x.sock", sha256.Sum256([]byte(folder))))
	}
	return mySQLFiles{
		folder:   folder,
		data:     filepath.Join(folder, "data"),
		temp:     filepath.Join(folder, "tmp"),
		socket:   socket,
		pidFile:  filepath.Join(folder, "mysqld.pid"),
		initFile: filepath.Join(folder, "init.sql"),
	}
}

// create creates the folders and the file with the first statements.
func (f mySQLFiles) create() error {
	if err := os.MkdirAll(f.temp, 0o755); err != nil {
		return err
	}
	return os.WriteFile(f.initFile, []byte(initSQL), 0o644)
}

// handOver gives the folders to the server's account and returns the option that names the account. The servers refuse
// to run as root by default. They run as the package's account if it can reach the folder, otherwise as root, as in a
// clone below /root.
func (f mySQLFiles) handOver() (option []string, err error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	account, _ := user.Lookup("mysql")
	if account == nil || !reachable(f.folder) {
		return []string{"--user=root"}, nil
	}
	uid, err := strconv.Atoi(account.Uid)
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", account.Username, err)
	}
	return []string{"--user=" + account.Username}, errors.Join(os.Chown(f.folder, uid, -1), os.Chown(f.temp, uid, -1))
}

// reachable reports whether everyone may enter every folder above this one.
func reachable(folder string) bool {
	for parent := filepath.Dir(folder); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if parent == filepath.Dir(parent) {
			return true
		}
	}
}
