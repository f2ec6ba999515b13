#!/bin/bash
# Prints the path of Prometheus' promtool, which checks metrics, alert rules and configurations:
#
#   promtool="$(tools/dev/promtool.sh)" && "$promtool" check rules alerts.yml
#
# It is the one on the PATH, or else ./bin/promtool, extracted from the package of Debian or Ubuntu. The package is not
# installed, because that would start the server. Without both: exit code 1 and a line on stderr.
set -euo pipefail
cd "$(dirname "$0")/../.."

if command -v promtool; then exit; fi
if [ -x bin/promtool ]; then echo "$PWD/bin/promtool"; exit; fi

missing() {
  echo "promtool is not here: install it with Prometheus, and put it on the PATH ($1)" >&2
  exit 1
}
for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || missing "without $tool it is not fetched"
done

mkdir -p bin
work="$(mktemp -d bin/promtool.XXXXXX)"
trap 'rm -rf "$work"' EXIT
fetch() { (cd "$work" && apt-get download -q prometheus >log 2>&1); }
# A new machine may lack the package lists; only root can fetch them.
if ! fetch && ! { [ "$(id -u)" = 0 ] && apt-get update -q >"$work/update" 2>&1 && fetch; }; then
  missing "apt-get download prometheus: $(tail -n 1 "$work/log")"
fi
dpkg-deb --fsys-tarfile "$work"/prometheus_*.deb | tar -x -C "$work" ./usr/bin/promtool
mv "$work/usr/bin/promtool" bin/promtool # whole at once, where two run this at a time
echo "$PWD/bin/promtool"
