#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Measures how long `lsmeter run` takes: first with the defaults (one virtual machine
# per processor), then each stack alone with --jobs 1. The time is split into measuring
# (seconds of the measurements in the agent) and the rest (preparing kernel and
# initramfs, booting, writing the result file).
#
# Usage: benches/quick.sh [PRESET]    environment: LSMETER, STACKS (blank-separated)
set -euo pipefail
# shellcheck source=benches/common.sh
. "$(dirname "$0")/common.sh"
preset=${1:-quick}

about
begin=$(now)
"$LSMETER" run "$preset" --quiet --output "$work/all.json" --format csv >"$work/all.csv"
total=$(since "$begin")
read -ra stacks <<<"${STACKS:-$(columns "$work/all.csv" stack | awk '!seen[$0]++' | tr '\n' ' ')}"
printf 'lsmeter run %s: %s s in all, %s cells\n\n' "$preset" "$total" \
	"$(columns "$work/all.csv" status | wc -l)"

printf '%-24s %8s %10s %16s %6s\n' 'stack alone, --jobs 1' 'wall s' 'measuring' 'boot, the rest' cells
for stack in "${stacks[@]}"; do
	csv=$work/$stack.csv
	begin=$(now)
	"$LSMETER" run "$preset" --stack "$stack" --jobs 1 --quiet \
		--output "$work/$stack.json" --format csv >"$csv"
	wall=$(since "$begin")
	columns "$csv" seconds | awk -v stack="$stack" -v wall="$wall" '
		{ measuring += $1 }
		END { printf "%-24s %8.1f %10.1f %16.1f %6d\n", stack, wall, measuring, wall - measuring, NR }'
done
printf '\ncells that took longest, all stacks of the first run together:\n'
columns "$work/all.csv" benchmark variant seconds | awk -F'\t' '
	{ took[$1 ":" $2] += $3 }
	END { for (cell in took) printf "%8.1f s  %s\n", took[cell], cell }' | sort -rn | head -6
