package mysqlserver

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
)

// layout is where an instance keeps its files.
type layout struct {
	data, temp, socket, pidFile, initFile string
}

// Operating systems refuse longer paths of sockets.
const maxSocketPath = 100

func layoutOf(folder string) layout {
	socket := filepath.Join(folder, "mysql.sock")
	if len(socket) > maxSocketPath {
		socket = filepath.Join(os.TempDir(), fmt.Sprintf("threads-%.8x.sock", sha256.Sum256([]byte(folder))))
	}
	return layout{
		data:     filepath.Join(folder, "data"),
		temp:     filepath.Join(folder, "tmp"),
		socket:   socket,
		pidFile:  filepath.Join(folder, "mysqld.pid"),
		initFile: filepath.Join(folder, "init.sql"),
	}
}

// asUser is the option that names the account to run as. The servers refuse to run as root unasked;
// they get the packages' own account where that can reach the folder, and root where it cannot,
// as in a clone below /root.
func asUser(folder string) []string {
	switch {
	case os.Geteuid() != 0:
		return nil
	case serviceAccount() != nil && reachable(folder):
		return []string{"--user=" + serviceAccount().Username}
	default:
		return []string{"--user=root"}
	}
}

func serviceAccount() *user.User {
	account, err := user.Lookup("mysql")
	if err != nil {
		return nil
	}
	return account
}

// reachable tells whether everyone may enter every folder above this one.
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
