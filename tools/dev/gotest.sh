#!/bin/bash
# Runs go test -json on packages of both modules, one module after the other, as one stream for gotestsum (make test).
#
#   gotest.sh [flag or package...]   in the folder of the clone
#
# ./... means all packages of both modules, ./tools/dev/... those of the tools module. Write the value of a path flag
# with =: -coverprofile=./cover.out. Exit code: 0 if all tests passed.
#
# gotestsum repeats a failed test by appending its name and package: then only that package is run.

again=
for word; do [[ $word == -test.run=* ]] && again=yes; done

flags=() root=() dev=()
for word; do
	case $word in
	./*) [[ $again ]] && continue ;;&
	example.com/threads/tools/dev/*) dev+=("$word") ;;
	example.com/threads/*) root+=("$word") ;;
	./...) root+=(./...) dev+=(./...) ;;
	./tools/dev/*) dev+=("./${word#./tools/dev/}") ;;
	./*) root+=("$word") ;;
	[!.]*) flags+=("$word") ;;
	esac
done

code=0
if ((${#root[@]} > 0 || ${#dev[@]} == 0)); then
	go test -json "${flags[@]}" "${root[@]}" || code=$?
fi
if ((${#dev[@]} > 0)); then
	go test -C tools/dev -json "${flags[@]}" "${dev[@]}" || code=$?
fi
exit $code
