#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Compares lmbench's lat_syscall with `lsmeter run --on host` on the same machine. They
# take turns, so that both see the same drift. Prints the minimum, median and maximum of
# each one's rounds, in ns, and whether the two ranges overlap.
#
# lat_syscall gets the path that lsmeter uses for stat and open: three components, on the
# same file system.
#
# Usage: benches/lmbench.sh [DIRECTORY] (default: a temporary one)
# Environment: LSMETER, ROUNDS (default 5), ENOUGH (lmbench's: microseconds of a timing,
# which it would otherwise determine in each round; default 50000)
set -euo pipefail
# Debian's place for lmbench's programs.
for dir in /usr/lib/lmbench/bin/*; do PATH=$PATH:$dir; done
if ! command -v lat_syscall >/dev/null; then
	cat >&2 <<-'EOF'
	no lat_syscall here
	hint: it is part of lmbench: apt-get install lmbench (Debian: component non-free;
	      Ubuntu: multiverse), or build lmbench from source and put its bin directory
	      in PATH
	EOF
	exit 3
fi
# shellcheck source=benches/common.sh
. "$(dirname "$0")/common.sh"
dir=${1:-$work}
rounds=${ROUNDS:-5}
export ENOUGH=${ENOUGH:-50000}
file=$(mktemp -d "$dir/lat.XXXXXX")
trap 'rm -rf "$work" "$file"' EXIT
mkdir -p "$file/var/tmp"
: >"$file/var/tmp/lmbench"

# row of lat_syscall, cell of lsmeter
pairs='null getppid:null
read lmbench-read:1B
write lmbench-write:1B
stat lmbench-stat:var/tmp/lmbench
open lmbench-open:var/tmp/lmbench'

about
for ((round = 1; round <= rounds; round++)); do
	while read -r row cell; do
		# Run inside, so that the path has three components, like lsmeter's.
		# "Simple stat: 1.0099 microseconds", or nothing if it could not measure.
		(cd "$file" && lat_syscall "$row" var/tmp/lmbench 2>&1) |
			awk -v row="$row" '$(NF) == "microseconds" { print row "\tlmbench\t" $(NF - 1) * 1000 }' \
				>>"$work/figures"
		"$LSMETER" run --on host --dir "$dir" --bench "$cell" --quiet \
			--output "$work/$round-$row.json" --format csv >"$work/run.csv"
		printf '%s\tlsmeter\t%s\n' "$row" "$(columns "$work/run.csv" value)" >>"$work/figures"
	done <<<"$pairs"
done
printf '%-6s  %28s  %28s\n' '' 'lmbench: min median max (n)' 'lsmeter: min median max (n)'
sort -t$'\t' -k1,1 -k2,2 -k3,3g "$work/figures" | awk -F'\t' '
	{ n[$1, $2]++; value[$1, $2, n[$1, $2]] = $3; rows[$1] }
	function figures(row, tool,    count) {
		count = n[row, tool]
		if (!count)
			return "none"
		return sprintf("%.0f %.0f %.0f (%d)", value[row, tool, 1],
			value[row, tool, int((count + 1) / 2)], value[row, tool, count], count)
	}
	END {
		split("null read write stat open", order, " ")
		for (i = 1; i <= 5; i++) {
			row = order[i]
			meet = n[row, "lmbench"] && n[row, "lsmeter"] &&
				value[row, "lmbench", 1] <= value[row, "lsmeter", n[row, "lsmeter"]] &&
				value[row, "lsmeter", 1] <= value[row, "lmbench", n[row, "lmbench"]]
			printf "%-6s  %28s  %28s  %s\n", row, figures(row, "lmbench"),
				figures(row, "lsmeter"), meet ? "ranges meet" : "ranges do not meet"
		}
	}'
