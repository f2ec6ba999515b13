#!/bin/bash
# Runs go test -json on packages of all modules, as one stream for gotestsum (make test).
#
#   gotest.sh [flag or package...]   in the folder of the clone
#
# ./... means all packages of all modules but those that build copies of the tree (make test-copies), ./es/... those of
# the library, ./tools/dev/... those of the tools. Write the value of a path flag with =: -coverprofile=./cover.out.
# Exit code: 0 if all tests passed.
#
# The race detector watches what has goroutines: the library, the programs, the APIs, the extras. Without it run the
# tools and the tests that start programs, because these are not built with it, and the rules, JSON and SQL, which have no
# goroutine: it would triple their time. Nor does it watch SQLite, which is C translated to Go: a connection has a memory
# of its own. The driver around it is watched.
#
# gotestsum repeats a failed test by appending its name and package: then only that package is run.

again=
for word; do [[ $word == -test.run=* ]] && again=yes; done

# The slowest packages come first, so that none of them runs alone at the end.
slow=()
for folder in ./tests/e2e ./cmd/standalone ./interfaceadaptor/readmodel/chatrows ./cmd/read-model-updater; do
	[[ -d $folder ]] && slow+=("$folder")
done

# Much of a test's time is waiting: one package more than there are processors keeps them busy, and among the tools,
# which start other builds, one more test in a browser.
more="$(($(nproc) + 1))"
flags=() race=() root=() rest=() es=() dev=()
for word; do
	case $word in
	./*) [[ $again ]] && continue ;;&
	example.com/threads/es | example.com/threads/es/*) es+=("$word") ;;
	example.com/threads/tools/dev/*) dev+=("$word") ;;
	example.com/threads/*) root+=("$word") ;;
	./...) root+=("${slow[@]}" ./...) es+=(./...) dev+=($(go -C tools/dev list ./... | grep -vE '/(core|tutorial)$')) ;;
	./es | ./es/*) es+=(".${word#./es}") ;;
	./tools/dev/*) dev+=("./${word#./tools/dev/}") ;;
	./*) root+=("$word") ;;
	-race) race=("$word" "-gcflags=github.com/ncruces/go-sqlite3-wasm/...=-race=false") ;;
	[!.]*) flags+=("$word") ;;
	esac
done

unwatched='^example.com/threads/(domain|usecase|tests|interfaceadaptor/(eventjson|readmodel))/'
if ((${#root[@]} > 0 || ${#es[@]} + ${#dev[@]} == 0)); then
	all="$(go list "${root[@]}")" || exit
	root=($(grep -vE "$unwatched" <<<"$all"))
	rest=($(grep -E "$unwatched" <<<"$all"))
fi

# What is not watched mostly waits for programs: it runs beside the others.
beside=0 code=0 waiting=
if ((${#rest[@]} > 0)); then
	go test -json -p="$((${#es[@]} + ${#root[@]} > 0 ? 1 : more))" "${flags[@]}" "${rest[@]}" &
	beside=1 waiting=$!
fi
if ((${#es[@]} > 0)); then
	go test -C es -json -p="$((more - beside))" "${race[@]}" "${flags[@]}" "${es[@]}" || code=$?
fi
if ((${#root[@]} > 0)); then
	go test -json -p="$((more - beside))" "${race[@]}" "${flags[@]}" "${root[@]}" || code=$?
fi
[[ ! $waiting ]] || wait "$waiting" || code=$?
if ((${#dev[@]} > 0)); then
	go test -C tools/dev -json -parallel="$more" "${flags[@]}" "${dev[@]}" || code=$?
fi
exit $code
