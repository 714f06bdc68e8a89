#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Compares this lsmeter's speed with another version's. They take turns, and each goes
# first in every other round: `run quick`, `profile` and `run suite` of debian:6.12. Suites
# grow from version to version, so seconds per measurement are printed as well.
#
# Each needs the kernel in its cache (`lsmeter kernel fetch debian:6.12`). Versions with
# different cache formats must not share one: OTHER_CACHE is the other's XDG_CACHE_HOME.
#
# Usage: benches/versions.sh OTHER [ROUNDS]    environment: LSMETER, OTHER_CACHE
set -euo pipefail
# shellcheck source=benches/common.sh
. "$(dirname "$0")/common.sh"

other=${1:?name the other lsmeter}
rounds=${2:-3}
cache=${XDG_CACHE_HOME:-$HOME/.cache}
TIMEFORMAT='%R %U %S'

# measure NAME LSMETER CACHE COMMAND...: appends a line with command, name, wall seconds,
# processor seconds and measurements.
measure() {
	local name=$1 lsmeter=$2 used=$3 log=$work/log cells
	shift 3
	{ time XDG_CACHE_HOME=$used "$lsmeter" "$@" --kernel debian:6.12 --offline --quiet \
		--output "$work/out.json" >"$log" 2>&1; } 2>"$work/time" || {
		cat "$log" >&2
		exit 1
	}
	cells=$(grep -c '"benchmark":' "$work/out.json")
	awk -v command="$*" -v name="$name" -v cells="$cells" '
		{ print command "\t" name "\t" $1 "\t" $2 + $3 "\t" cells }' "$work/time" >>"$work/lines"
	rm "$work/out.json"
}

about
for command in 'run quick' profile 'run suite'; do
	for round in $(seq "$rounds"); do
		order='other this'
		[ $((round % 2)) = 1 ] || order='this other'
		for who in $order; do
			# shellcheck disable=SC2086 # its words
			if [ "$who" = this ]; then
				measure this "$LSMETER" "$cache" $command
			else
				measure other "$other" "${OTHER_CACHE:-$cache}" $command
			fi
		done
	done
done

printf '\n%-10s %-5s %2s %27s %12s %6s %9s\n' command of n 'wall s: min median max' \
	'processor s' cells 's/cell'
sort -t "$(printf '\t')" -k1,1 -k2,2 -k3,3n "$work/lines" | awk -F '\t' '
function show() {
	m = int((n + 1) / 2)
	printf "%-10s %-5s %2d %9.1f %8.1f %8.1f %12.1f %6d %9.3f\n", command, of, n, wall[1],
		wall[m], wall[n], cpu / n, cells, wall[m] / cells
}
$1 != command || $2 != of {
	if (n)
		show()
	command = $1; of = $2; n = 0; cpu = 0
}
{ wall[++n] = $3; cpu += $4; cells = $5 }
END { if (n) show() }'
