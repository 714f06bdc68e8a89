#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Measures the cost of a Landlock sandbox on this machine, without root: by layers, rules
# and depth. Sandboxes and runs without one take turns, so that all see the same drift.
# Prints a table for each benchmark (medians in ns, half-widths of their 95 % intervals,
# number of samples), and then lsmeter's warnings.
#
# Usage: benches/landlock-host.sh [DIRECTORY] (default: a temporary one)
# Environment: LSMETER, LAYERS (default "1 2 4 8 16"), RULES (default "2 10 100 1000
# 10000"), ROUNDS (default 20), SAMPLES (per measurement, over all rounds; default 400), JSON
# (a file for the result file)
set -euo pipefail
# shellcheck source=benches/common.sh
. "$(dirname "$0")/common.sh"
dir=${1:-$work}
read -ra layers <<<"${LAYERS:-1 2 4 8 16}"
read -ra rules <<<"${RULES:-2 10 100 1000 10000}"
json=${JSON:-$work/run.json}

sizes=()
for n in "${layers[@]}"; do sizes+=(--layers "$n"); done
for n in "${rules[@]}"; do sizes+=(--rules "$n"); done

about
status=0
"$LSMETER" run --on host --dir "$dir" --policy none --policy enforcing "${sizes[@]}" \
	--bench open:AA --bench stat:AA --bench 'landlock-open:*' --set rounds="${ROUNDS:-20}" \
	--samples "${SAMPLES:-400}" --quiet --output "$json" >"$work/report" || status=$?
[ "$status" -eq 0 ] || exit "$status"
"$LSMETER" export "$json" -o "$work/run.csv"
printf 'load afterwards: %s\n' "$(cut -d' ' -f1 /proc/loadavg)"

columns "$work/run.csv" benchmark variant policy settings n median ci95_low ci95_high status |
	awk -F'\t' -v layers="${layers[*]}" -v rules="${rules[*]}" '
	{
		cell = $1 ":" $2
		if (!(cell in seen)) {
			seen[cell]
			order[++cells] = cell
		}
		at = "none"
		if ($3 != "none") {
			r = l = $4
			sub(/.*rules[= ]/, "", r)
			sub(/[^0-9].*/, "", r)
			sub(/.*layers[= ]/, "", l)
			sub(/[^0-9].*/, "", l)
			at = r "/" l
		}
		figure[cell, at] = $9 == "ok" ? sprintf("%.0f ±%.0f", $6, ($8 - $7) / 2) : "-"
		if ($9 == "ok")
			samples[cell] = $5
	}
	END {
		columns = split(layers, layer, " ")
		rows = split(rules, rule, " ")
		for (c = 1; c <= cells; c++) {
			cell = order[c]
			printf "\n%s, ns, n=%s; no sandbox: %s\n%-12s", cell, samples[cell],
				figure[cell, "none"], ""
			for (l = 1; l <= columns; l++)
				printf " %14s", layer[l] " layers"
			print ""
			for (r = 1; r <= rows; r++) {
				printf "%6s rules", rule[r]
				for (l = 1; l <= columns; l++)
					printf " %14s", figure[cell, rule[r] "/" layer[l]]
				print ""
			}
		}
	}'
echo
grep '^warning:' "$work/report" || echo 'no warnings'
