#!/usr/bin/env bash
# Builds all programs twice, in different folders and the second time without the build cache, and compares the bytes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # folder cache
	mkdir -p "$work/$1"
	git ls-files --cached --others --exclude-standard | { xargs ls -d 2>/dev/null || true; } | tar -cf - -T - | tar -xf - -C "$work/$1"
	(cd "$work/$1" && GOCACHE="$2" CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false" go build -ldflags="-s -w" -o "$work/$1.out/" ./cmd/...)
}

build first "$(go env GOCACHE)"
build another/folder "$work/cache"
failed=0
for program in "$work"/first.out/*; do
	cmp "$program" "$work/another/folder.out/$(basename "$program")" || failed=1
done
[ "$failed" = 0 ] && echo "reproducible: $(find "$work/first.out" -type f | wc -l) programs, the same bytes twice"
exit "$failed"
