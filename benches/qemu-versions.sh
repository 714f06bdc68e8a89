#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Do several QEMUs count the same? Runs the same cells with each and compares the
# figures. Exits 1 if they differ.
#
# Usage: benches/qemu-versions.sh QEMU QEMU...
# Environment: LSMETER; RUN, arguments of `lsmeter run` (default: a few cells of quick)
#
# A QEMU unpacked from another suite's packages, beside its libraries, takes a script
# that runs it through their ld-linux-x86-64.so.2, with -L for its firmware.
set -euo pipefail
if [ $# -lt 1 ]; then
	sed -n 's/^# \(Usage.*\)/\1/p' "$0" >&2
	exit 2
fi
# shellcheck source=benches/common.sh
. "$(dirname "$0")/common.sh"
read -ra run <<<"${RUN:-quick --stack capability --stack capability,selinux \
	--bench open:AA --bench stat:AA/BB/CC --bench rename:depth1 --bench unlink \
	--bench read:4KB --bench write:4KB --bench getxattr --bench statx --bench getppid}"

about
printf 'lsmeter run %s\n\n' "${run[*]}"
heading=
files=()
for qemu in "$@"; do
	version=$("$qemu" --version | sed -n 's/.*version \([0-9.]*\).*/\1/p' | head -1)
	begin=$(now)
	"$LSMETER" run "${run[@]}" --qemu "$qemu" --quiet --output "$work/${#files[@]}.json" \
		--export-csv "$work/run.csv" >/dev/null
	printf 'QEMU %-10s %6s s\n' "$version" "$(since "$begin")"
	columns "$work/run.csv" kernel stack benchmark variant value rep_iterations |
		awk -F'\t' '{ print $1 "|" $2 "|" $3 ":" $4 "\t" $5 "+" $6 }' >"$work/${#files[@]}.tsv"
	files+=("$work/${#files[@]}.tsv")
	heading+=$(printf ' %18s' "$version")
done
printf '\ninstructions+REP iterations%45s%s\n' '' "$heading"
awk -F'\t' '
	FNR == 1 { qemus++ }
	qemus == 1 { order[++cells] = $1 }
	{ value[$1, qemus] = $2 }
	END {
		for (i = 1; i <= cells; i++) {
			same = 1
			line = sprintf("%-72s", order[i])
			for (q = 1; q <= qemus; q++) {
				line = line sprintf(" %18s", value[order[i], q])
				same = same && value[order[i], q] == value[order[i], 1]
			}
			print line (same ? "" : "  differs")
			differing += !same
		}
		printf "\n%d of %d cells differ\n", differing, cells
		exit differing > 0
	}' "${files[@]}"
