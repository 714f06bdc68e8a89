#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Measures how long all variants of the paper's benchmarks take on five stacks.
#
# Usage: benches/suite.sh [RUN ARGUMENTS...]    environment: LSMETER
set -euo pipefail
# shellcheck source=benches/common.sh
. "$(dirname "$0")/common.sh"

about
begin=$(now)
"$LSMETER" run paper-suite "$@" --quiet --output "$work/run.json" --format csv >"$work/run.csv"
total=$(since "$begin")
columns "$work/run.csv" stack status seconds | awk -F'\t' -v total="$total" '
	!($1 in cells) { order[++stacks] = $1 }
	{ cells[$1]++; took[$1] += $3; all++; bad += $2 != "ok" }
	END {
		printf "paper-suite: %.1f s in all, %d cells, %d of them not ok\n\n", total, all, bad
		printf "%-24s %6s %12s\n", "stack", "cells", "measuring s"
		for (i = 1; i <= stacks; i++)
			printf "%-24s %6d %12.1f\n", order[i], cells[order[i]], took[order[i]]
	}'
