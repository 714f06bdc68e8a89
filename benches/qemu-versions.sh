#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Checks that several QEMUs count the same. Runs the same measurements with each, profiles
# some of them, and compares instructions and REP iterations, and for every hook and
# implementation calls and instructions. Exits with 1 if any differ.
#
# Usage: benches/qemu-versions.sh QEMU QEMU...
# Environment: LSMETER; RUN and PROFILE, arguments of `lsmeter run` and `lsmeter profile`
# (default: a few measurements of quick)
#
# To use a QEMU unpacked from another suite's packages, write a script that runs it through
# that suite's ld-linux-x86-64.so.2, with -L for its firmware.
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
read -ra profile <<<"${PROFILE:-quick --stack capability,selinux --stack capability,apparmor \
	--bench open:AA --bench stat:AA/BB/CC --bench rename:depth1 --bench unlink \
	--bench read:4KB --bench write:4KB --bench getxattr}"

# compare NAME SHOW FILE...: one file per QEMU, with lines of key TAB figures. Prints lines
# that differ, or all if SHOW is `all`.
compare() {
	local name=$1 show=$2
	shift 2
	awk -F'\t' -v name="$name" -v show="$show" '
	FNR == 1 { qemus++ }
	!($1 in known) { known[$1]; order[++cells] = $1 }
	{ value[$1, qemus] = $2 }
	END {
		for (i = 1; i <= cells; i++) {
			same = 1
			line = sprintf("%-72s", order[i])
			for (q = 1; q <= qemus; q++) {
				line = line sprintf(" %18s", value[order[i], q])
				same = same && value[order[i], q] == value[order[i], 1]
			}
			if (!same || show == "all")
				print line (same ? "" : "  differs")
			differing += !same
		}
		printf "%d of %d %s differ\n", differing, cells, name
		exit differing > 0 || !cells
	}' "$@"
}

about
printf 'lsmeter run %s\nlsmeter profile %s\n\n' "${run[*]}" "${profile[*]}"
heading=
counts=()
hooks=()
for qemu in "$@"; do
	version=$("$qemu" --version | sed -n 's/.*version \([0-9.]*\).*/\1/p' | head -1)
	begin=$(now)
	"$LSMETER" run "${run[@]}" --qemu "$qemu" --quiet --output "$work/run.json" \
		--format csv >"$work/run.csv"
	run_s=$(since "$begin")
	begin=$(now)
	"$LSMETER" profile "${profile[@]}" --qemu "$qemu" --quiet --format csv >"$work/profile.csv"
	printf 'QEMU %-10s run %6s s   profile %6s s\n' "$version" "$run_s" "$(since "$begin")"
	columns "$work/run.csv" kernel stack benchmark variant value rep_iterations |
		awk -F'\t' '{ print $1 "|" $2 "|" $3 ":" $4 "\t" $5 "+" $6 }' >"$work/${#counts[@]}.counts"
	columns "$work/profile.csv" stack benchmark variant hook function module calls inclusive \
		exclusive dispatch total rep_iterations |
		awk -F'\t' '{ print $1 "|" $2 ":" $3 "|" $4 "|" $5 "|" $6 "\t" $7 "/" $8 "/" $9 "/" $10 "/" $11 "+" $12 }' \
			>"$work/${#hooks[@]}.hooks"
	counts+=("$work/${#counts[@]}.counts")
	hooks+=("$work/${#hooks[@]}.hooks")
	heading+=$(printf ' %18s' "$version")
done
printf '\ninstructions+REP iterations%45s%s\n' '' "$heading"
status=0
compare cells all "${counts[@]}" || status=1
printf '\n'
compare 'operations, hooks and implementations' differing "${hooks[@]}" || status=1
exit $status
