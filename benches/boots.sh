#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that a program is counted the same in every boot. Runs the preset `workloads` BOOTS times
# (5), each stack in its own boot, and compares each result file with the first: user and kernel
# instructions, and every system call, hook and module.
#
#   benches/boots.sh [BOOTS [STACK...]]
#
# KERNEL chooses a kernel (debian:6.12), BENCH the programs (all of them). Exits 1 if any figure
# differs.
set -euo pipefail
. "$(dirname "$0")/common.sh"

kernel=${KERNEL:-debian:6.12}
boots=${1:-5}
shift $(($# > 0 ? 1 : 0))
[ $# -gt 0 ] || set -- capability capability,selinux capability,apparmor
chosen=()
for stack in "$@"; do
	chosen+=(--stack "$stack")
done
[ -z "${BENCH:-}" ] || chosen+=(--bench "$BENCH")

differing=0
for ((boot = 1; boot <= boots; boot++)); do
	document=$work/$boot.json
	"$LSMETER" run workloads --offline --kernel "$kernel" "${chosen[@]}" -o "$document" >/dev/null
	[ "$boot" -gt 1 ] || continue
	echo "boot $boot against the first:"
	cargo bench --quiet -p experiment --bench same_counts -- \
		"$work/1.json" "$document" || differing=$((differing + 1))
done
echo "$differing of $((boots - 1)) result files differ from the first"
[ "$differing" -eq 0 ]
