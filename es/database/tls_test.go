package database_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
)

// The parameter tls of the DSN encrypts the connection and, with true, checks the server's certificate.
func TestTLSToMySQL(t *testing.T) {
	dsn := testenv.MySQL(t)
	trusted, authority := selfSigned(t)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file) // Go reads it at the first check of a certificate, which is in this test
	stranger, _ := selfSigned(t)
	for about, c := range map[string]struct {
		certificate tls.Certificate
		parameter   string
		want        string // part of the error; empty: no error
	}{
		"a trusted certificate":                {trusted, "true", ""},
		"a stranger's certificate":             {stranger, "true", "certificate"},
		"a stranger's, and nothing is checked": {stranger, "skip-verify", ""},
	} {
		config, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		front := &tlsFront{t: t, certificate: c.certificate, backend: config.Addr, encrypted: make(chan bool, 16)}
		config.Addr, config.TLSConfig = testenv.Accept(t, front.serve), c.parameter
		db, err := database.Open(t.Context(), config.FormatDSN(), database.Settings{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", about, err)
		}
		if err != nil {
			continue
		}
		var one int
		if err := db.GetContext(t.Context(), &one, "SELECT 1"); err != nil || one != 1 || !<-front.encrypted {
			t.Errorf("%s: %d, %v, or the connection is not encrypted", about, one, err)
		}
		_ = db.Close()
	}
}

// selfSigned creates a certificate for 127.0.0.1 that is its own authority.
func selfSigned(t *testing.T) (certificate tls.Certificate, authority []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

// tlsFront adds TLS to a MySQL server that may lack it: it answers the client's TLS request and passes everything else
// through. The server does not see that request, so until the login is complete, the packets' numbers differ by one.
type tlsFront struct {
	t           *testing.T
	certificate tls.Certificate
	backend     string
	encrypted   chan bool
}

const clientSSL = 0x0800 // the capability flag in greeting and request

func (f *tlsFront) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := new(net.Dialer).DialContext(f.t.Context(), "tcp", f.backend)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	greeting, err := readPacket(server)
	if err != nil {
		return
	}
	version := 4 + 1 + strings.IndexByte(string(greeting[5:]), 0) + 1 // header, protocol, the version's name
	capabilities := greeting[version+4+8+1:]
	binary.LittleEndian.PutUint16(capabilities, binary.LittleEndian.Uint16(capabilities)|clientSSL)
	if _, err := client.Write(greeting); err != nil {
		return
	}
	request, err := readPacket(client)
	asked := err == nil && len(request) == 4+32 && binary.LittleEndian.Uint16(request[4:])&clientSSL != 0
	f.encrypted <- asked
	if !asked {
		return
	}
	secure := tls.Server(client, &tls.Config{Certificates: []tls.Certificate{f.certificate}, MinVersion: tls.VersionTLS12})
	for {
		said, err := readPacket(secure)
		if err != nil {
			return
		}
		said[3]--
		if _, err := server.Write(said); err != nil {
			return
		}
		answer, err := readPacket(server)
		if err != nil {
			return
		}
		answer[3]++
		if _, err := secure.Write(answer); err != nil {
			return
		}
		if answer[4] == 0x00 || answer[4] == 0xff { // login accepted or refused
			break
		}
	}
	go func() { _, _ = io.Copy(server, secure); _ = server.Close() }()
	_, _ = io.Copy(secure, server)
}

// readPacket reads a packet of MySQL's protocol, including its header of length and number.
func readPacket(from io.Reader) ([]byte, error) {
	header := make([]byte, 4)
	if _, err := io.ReadFull(from, header); err != nil {
		return nil, err
	}
	packet := append(header, make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)...)
	_, err := io.ReadFull(from, packet[4:])
	return packet, err
}
