package sqlstore_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"example.com/threads/es/estest/testenv"
)

// proxy is a network connection between a program and its database server that can lose an answer.
type proxy struct {
	server string

	mutex sync.Mutex
	lose  func() // called after losing the answer to a COMMIT; nil: answers are not lost
	down  bool   // refuse new connections
	open  map[net.Conn]bool
}

// throughProxy returns a DSN that reaches the same database through a proxy.
func throughProxy(t *testing.T, dsn string) (string, *proxy) {
	t.Helper()
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: config.Addr, open: map[net.Conn]bool{}}
	config.Addr = testenv.Accept(t, func(client net.Conn) { p.carry(t, client) })
	return config.FormatDSN(), p
}

func (p *proxy) loseNextCommit(lost func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.lose = lost
}

// cut ends all connections and refuses new ones while down is true.
func (p *proxy) cut(down bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.down = down
	for client := range p.open {
		_ = client.Close()
	}
	clear(p.open)
}

// settle waits until the work done while an answer was lost is finished, before the caller continues.
func (p *proxy) settle() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
}

func (p *proxy) admit(client net.Conn) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.open[client] = true
	return !p.down
}

func (p *proxy) takeLoss() func() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	lost := p.lose
	p.lose = nil
	return lost
}

// carry forwards packets both ways until one side hangs up, or an answer and the connection are lost.
func (p *proxy) carry(t *testing.T, client net.Conn) {
	defer client.Close()
	if !p.admit(client) {
		return
	}
	server, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()

	losing := make(chan func(), 1)
	var back sync.WaitGroup
	back.Go(func() {
		defer client.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil {
				return
			}
			select {
			case lost := <-losing: // the answer to the COMMIT
				lost()
				p.settle()
				return
			default:
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	})
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			break
		}
		if bytes.Contains(buffer[:n], []byte("\x03COMMIT")) {
			if lost := p.takeLoss(); lost != nil {
				losing <- lost
			}
		}
		if _, err := io.Copy(server, bytes.NewReader(buffer[:n])); err != nil {
			break
		}
	}
	_ = server.Close()
	back.Wait()
}
