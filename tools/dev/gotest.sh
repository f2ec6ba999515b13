#!/bin/bash
# Runs go test -json on packages of all modules, as one stream for gotestsum (make test).
#
#   gotest.sh [flag or package...]   in the folder of the clone
#
# ./... means all packages of the library and the application, without those of make test-clients. ./es/... means those of
# the library, ./tools/dev/... those of the tools. Write the value of a path flag with =: -coverprofile=./cover.out.
# Exit code: 0 if all tests passed.
#
# The race detector, under which tests take three to ten times the processor time, watches the library and the programs,
# in which everything else runs on many goroutines. make release-check has it watch the other packages, too, by WATCH=.
# Nothing watches the simulator, which lets one goroutine go on at a time, and SQLite, which is C translated to Go: a
# connection has a memory of its own. The driver around it is watched.

# The slowest packages come first, so that none of them runs alone at the end.
slow=()
for folder in ./tests/e2e ./cmd/read-model-updater ./cmd/standalone ./cmd/lambda-updater; do
	[[ -d $folder ]] && slow+=("$folder")
done
watch="${WATCH:-/cmd/}"

flags=() race=() es=() simulated='' root=() dev=() bench=()
for word; do
	case $word in
	./...)
		simulated=./estest/simulation
		all="$(go -C es list ./...)" || exit
		es+=(./dynamodb ./sqlstore $(grep -v "${simulated#.}$" <<<"$all"))
		all="$(go list "${slow[@]}" ./...)" || exit
		root+=($(grep -v '/tests/clients$' <<<"$all"))
		;;
	./es | ./es/*) es+=(".${word#./es}") ;;
	./tools/dev/*) dev+=("./${word#./tools/dev/}") ;;
	./tools/bench) bench+=(.) ;; # extra:whole
	./*)
		all="$(go list "$word")" || exit
		root+=($all)
		;;
	-race) race=("$word" "-gcflags=github.com/ncruces/go-sqlite3-wasm/...=-race=false") ;;
	*) flags+=("$word") ;;
	esac
done
watched=($(printf '%s\n' "${root[@]}" | grep -E "$watch"))
rest=($(printf '%s\n' "${root[@]}" | grep -vE "$watch"))

# Much of a test's time is waiting: the modules are tested side by side, and where tests start programs or browsers, one
# test more runs than there are processors. The databases come first, as all wait for them, and then the programs, which
# have limits of time.
more=$(($(getconf _NPROCESSORS_ONLN) + 1)) running=() code=0
go_test() {
	nice -n "$1" go -C "$2" test -json "${flags[@]}" "${@:3}" &
	running+=($!)
}
[[ ! ${rest[0]} ]] || go_test 5 . -parallel="$more" "${rest[@]}"
[[ ! ${es[0]} ]] || go_test 10 es "${race[@]}" "${es[@]}"
[[ ! $simulated ]] || go_test 10 es "$simulated"
[[ ! ${watched[0]} ]] || go_test 10 . "${race[@]}" "${watched[@]}"
[[ ! ${dev[0]} ]] || go_test 10 tools/dev -parallel="$more" "${dev[@]}"
[[ ! ${bench[0]} ]] || go_test 10 tools/bench "${bench[@]}" # extra:whole
[[ ${running[0]} ]] || { echo "gotest.sh: no package is named" >&2 && exit 2; }
for one in "${running[@]}"; do wait "$one" || code=$?; done
exit "$code"
