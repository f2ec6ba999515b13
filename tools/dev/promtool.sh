#!/bin/bash
# Prints the path of Prometheus's promtool, which checks metrics, alert rules and configurations:
#
#   promtool="$(tools/dev/promtool.sh)" && "$promtool" check rules alerts.yml
#
# It is the one on the PATH, or else the one in ./bin, taken out of the package of Debian or Ubuntu, which is not
# installed: its server would start. Exit code 1 and a line on stderr where neither is to be had.
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
# A new machine may not have the lists of packages yet; only root fetches them.
if ! fetch && ! { [ "$(id -u)" = 0 ] && apt-get update -q >"$work/update" 2>&1 && fetch; }; then
  missing "apt-get download prometheus: $(tail -n 1 "$work/log")"
fi
dpkg-deb --fsys-tarfile "$work"/prometheus_*.deb | tar -x -C "$work" ./usr/bin/promtool
mv "$work/usr/bin/promtool" bin/promtool # whole at once, where two run this at a time
echo "$PWD/bin/promtool"
