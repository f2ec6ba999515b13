#!/bin/bash
# go test -json on packages of both modules, one module after the other, as one stream for gotestsum (make test).
#
#   gotest.sh [flag or package...]   in the folder of the clone
#
# ./... means all packages of both modules, ./tools/dev/... those of the module there. The value of a flag that is a path
# is joined to it: -coverprofile=./cover.out. Exit code: 0 when all tests have passed.

flags=() root=() dev=()
for word; do
	case $word in
	./...) root+=(./...) dev+=(./...) ;;
	./tools/dev/*) dev+=("./${word#./tools/dev/}") ;;
	./*) root+=("$word") ;;
	*) flags+=("$word") ;;
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
