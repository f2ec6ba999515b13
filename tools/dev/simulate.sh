#!/bin/bash
# Runs the schedules of the simulator in a package, on all processors (make simulate).
#
#   simulate.sh PACKAGE...   in the folder of the clone; SCHEDULES says how many
#   SEED=7 simulate.sh PACKAGE   tells the story of one; SCHEDULE: with other faults and fewer commands
#
# Exit code: 0 if no promise is broken.
set -euo pipefail

export count="${SCHEDULES:-10000}" part=250 binary="$PWD/bin/simulate.test"

# some runs the schedules from a first one on, and tells how they ended.
some() {
	local began=$SECONDS last=$((count < $1 + part ? count : $1 + part - 1)) told
	if told="$(FIRST=$1 SCHEDULES=$((last - $1 + 1)) "$binary" -test.run=TestSchedules 2>&1)"; then
		echo "  seeds $1 to $last hold, after $((SECONDS - began)) s"
	else
		echo "$told"
		exit 255 # no others begin
	fi
}
export -f some

for package; do
	echo "simulate: $package"
	go test -C "$package" -c -o "$binary" .
	if [[ ${SEED:-} ]]; then
		(cd "$package" && "$binary" -test.run=TestSchedules -test.v)
	else
		(cd "$package" && seq 1 "$part" "$count" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I{} bash -euc "some {}")
	fi
done
