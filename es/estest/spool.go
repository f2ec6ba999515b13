package estest

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
)

var spoolContracts = []contract{
	{"stored parts are read", Settings{}, func(t *testing.T, h Harness) {
		file := newFile("", "ada")
		parts := [][]byte{noise(200_000), []byte("<&> é 😀\n"), bytes.Repeat([]byte("x"), 2<<20), {0, 255}}
		putParts(t, h, file, 0, parts[:3]...)
		putParts(t, h, file, 3, parts[3])
		for number, part := range parts {
			wantPart(t, h, file, uint64(number), part)
		}
		wantNoPart(t, h, file, uint64(len(parts)))
		wantNoPart(t, h, newFile("", "ada"), 0)
	}},
	{"storing a part again replaces it", Settings{}, func(t *testing.T, h Harness) {
		file := newFile("", "ada")
		for _, part := range []string{"first", "", "second"} {
			putParts(t, h, file, 7, []byte(part))
			wantPart(t, h, file, 7, []byte(part))
		}
	}},
	{"another tenant's file is another file", Settings{}, func(t *testing.T, h Harness) {
		file := newFile("", "ada")
		for _, file.Tenant = range []es.Tenant{"", "one", "two"} {
			wantNoPart(t, h, file, 0)
			putParts(t, h, file, 0, []byte("of "+file.Tenant.String()))
		}
		file.Tenant = "one"
		wantPart(t, h, file, 0, []byte("of one"))
		deleteFile(t, h, file)
		wantNoPart(t, h, file, 0)
		file.Tenant = "two"
		wantPart(t, h, file, 0, []byte("of two"))
	}},
	{"an expired part counts as missing, and is deleted", Settings{}, func(t *testing.T, h Harness) {
		deleteExpired(t, h) // of other tests
		files := []es.File{newFile("", "ada"), newFile("", "ada"), newFile("acme", "ada")}
		later := newFile("acme", "ada")
		for i := range files {
			files[i].Expires = time.Now().Add(-time.Duration(i+1) * 10 * time.Second)
			putParts(t, h, files[i], 0, []byte("gone"), []byte("gone, too"))
			wantNoPart(t, h, files[i], 0)
		}
		putParts(t, h, later, 0, []byte("there"))
		if count := deleteExpired(t, h); count != len(files) {
			t.Errorf("%d files were deleted, want %d", count, len(files))
		}
		if count := deleteExpired(t, h); count != 0 {
			t.Errorf("%d files were deleted again", count)
		}
		wantPart(t, h, later, 0, []byte("there"))
	}},
	{"a deleted file is missing", Settings{}, func(t *testing.T, h Harness) {
		file, other := newFile("acme", "ada"), newFile("acme", "ada")
		for number := range uint64(40) {
			putParts(t, h, file, number, []byte("content"))
		}
		putParts(t, h, other, 0, []byte("content"))
		for range 2 {
			deleteFile(t, h, file)
			for number := range uint64(40) {
				wantNoPart(t, h, file, number)
			}
		}
		wantPart(t, h, other, 0, []byte("content"))
		putParts(t, h, file, 0, []byte("back"))
		wantPart(t, h, file, 0, []byte("back"))
	}},
	{"the bytes of an owner and of a tenant are bounded", Settings{OwnerBytes: 20_000, TenantBytes: 30_000}, func(t *testing.T, h Harness) {
		tenant := es.Tenant("bounded-" + ulidOfTest())
		first, second, others := newFile(tenant, "ada"), newFile(tenant, "ada"), newFile(tenant, "bob")
		putParts(t, h, first, 0, content(8_000), content(4_000))
		putParts(t, h, second, 0, content(8_000)) // the owner's last byte
		wantFull(t, h, second, 1, content(1))
		wantNoPart(t, h, second, 1)
		wantFull(t, h, newFile(tenant, "ada"), 0, content(1))
		wantFull(t, h, others, 0, content(20_001))
		putParts(t, h, others, 0, content(10_000)) // the tenant's last byte
		wantFull(t, h, others, 1, content(1))
		putParts(t, h, newFile(tenant+"x", "ada"), 0, content(20_000))
		deleteFile(t, h, first)
		wantFull(t, h, others, 1, content(10_001))
		putParts(t, h, others, 1, content(10_000))
		putParts(t, h, second, 1, content(2_000))
		wantFull(t, h, second, 2, content(1))
		for _, file := range []es.File{second, others, others} {
			deleteFile(t, h, file)
		}
		putParts(t, h, first, 0, content(20_000))
	}},
	{"what has expired does not count", Settings{OwnerBytes: 1_000}, func(t *testing.T, h Harness) {
		file := newFile(es.Tenant("expires-"+ulidOfTest()), "ada")
		file.Expires = time.Now().Add(-5 * time.Second)
		putParts(t, h, file, 0, content(1_000))
		deleteExpired(t, h)
		putParts(t, h, newFile(file.Tenant, "ada"), 0, content(1_000))
	}},
	{"bytes are counted when many write", Settings{OwnerBytes: 10_000}, func(t *testing.T, h Harness) {
		tenant := es.Tenant("many-" + ulidOfTest())
		var writers sync.WaitGroup
		var mutex sync.Mutex
		var stored []es.File
		for range 8 {
			writers.Go(func() {
				for range 2 {
					file := newFile(tenant, "ada")
					switch err := as[es.Spool](t, h).PutParts(t.Context(), file, 0, content(1_000)); {
					case err == nil:
						mutex.Lock()
						stored = append(stored, file)
						mutex.Unlock()
					case !errors.Is(err, es.ErrSpoolFull):
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		if len(stored) != 10 {
			t.Errorf("%d files of 1,000 bytes were stored, want 10", len(stored))
		}
		for _, file := range stored {
			writers.Go(func() { deleteFile(t, h, file) })
		}
		writers.Wait()
		putParts(t, h, newFile(tenant, "ada"), 0, content(10_000))
	}},
	{"a file that is deleted several times at once is counted once", Settings{OwnerBytes: 100_000}, func(t *testing.T, h Harness) {
		tenant := es.Tenant("deleted-" + ulidOfTest())
		stays := newFile(tenant, "ada")
		putParts(t, h, stays, 0, content(50_000))
		for range 5 {
			file := newFile(tenant, "ada")
			putParts(t, h, file, 0, content(10_000))
			var deleting sync.WaitGroup
			for range 8 {
				deleting.Go(func() { deleteFile(t, h, file) })
			}
			deleting.Wait()
		}
		wantFull(t, h, stays, 1, content(50_001))
		putParts(t, h, stays, 1, content(50_000))
	}},
	{"a part that is too large is an error", Settings{}, func(t *testing.T, h Harness) {
		if err := as[es.Spool](t, h).PutParts(t.Context(), newFile("", "ada"), 0, make([]byte, 2<<20+1)); err == nil {
			t.Error("the part that is too large was stored")
		}
	}},
}

func content(size int) []byte { return make([]byte, size) }

func ulidOfTest() string { return strings.ToLower(ulid.Make().String()[16:]) }

// newFile returns a new file that expires in an hour.
func newFile(tenant es.Tenant, owner string) es.File {
	return es.File{Tenant: tenant, Owner: owner, Name: ulid.Make().String(), Expires: time.Now().Add(time.Hour)}
}

func putParts(t *testing.T, h Harness, file es.File, first uint64, parts ...[]byte) {
	t.Helper()
	if err := as[es.Spool](t, h).PutParts(t.Context(), file, first, parts...); err != nil {
		t.Fatalf("store %d parts from %d: %v", len(parts), first, err)
	}
}

func wantFull(t *testing.T, h Harness, file es.File, first uint64, parts ...[]byte) {
	t.Helper()
	if err := as[es.Spool](t, h).PutParts(t.Context(), file, first, parts...); !errors.Is(err, es.ErrSpoolFull) {
		t.Fatalf("store %d parts from %d: %v, want %v", len(parts), first, err, es.ErrSpoolFull)
	}
}

func deleteFile(t *testing.T, h Harness, file es.File) {
	t.Helper()
	if err := as[es.Spool](t, h).DeleteFile(t.Context(), file); err != nil {
		t.Errorf("delete a file: %v", err)
	}
}

func deleteExpired(t *testing.T, h Harness) int {
	t.Helper()
	count, err := as[es.Spool](t, h).DeleteExpired(t.Context())
	if err != nil {
		t.Fatalf("delete expired files: %v", err)
	}
	return count
}

func wantPart(t *testing.T, h Harness, file es.File, number uint64, want []byte) {
	t.Helper()
	got, found, err := as[es.Spool](t, h).Part(t.Context(), file.Tenant, file.Name, number)
	if err != nil || !found || !bytes.Equal(got, want) {
		t.Fatalf("part %d: found %t, %d bytes of %d, %v", number, found, len(got), len(want), err)
	}
}

func wantNoPart(t *testing.T, h Harness, file es.File, number uint64) {
	t.Helper()
	if got, found, err := as[es.Spool](t, h).Part(t.Context(), file.Tenant, file.Name, number); err != nil || found {
		t.Fatalf("part %d: found %t, %d bytes, %v", number, found, len(got), err)
	}
}
