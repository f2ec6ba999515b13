package testenv

import (
	"reflect"
	"syscall"
)

// DieWithParent returns the attributes of a process that is killed when this one ends, however that ends. On macOS,
// which can't do it, they are empty.
func DieWithParent() *syscall.SysProcAttr {
	attributes := new(syscall.SysProcAttr)
	if signal := reflect.ValueOf(attributes).Elem().FieldByName("Pdeathsig"); signal.IsValid() {
		signal.SetInt(int64(syscall.SIGKILL))
	}
	return attributes
}
