#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Measures two kernels and checks whether operations cost more on the second. The GitHub action and
# the GitLab template run this.
#
# Usage: gate.sh BASE HEAD
#
# BASE and HEAD are kernels as for lsmeter run --kernel. Writes into the directory OUT (default:
# lsmeter-out): base.json, head.json, comparison.json, summary.md for the job's summary, changes.html
# with the changes, page.html with both runs, and junit.xml. Exit status as for lsmeter compare:
# 0 within the limit, 1 above it, 5 inconclusive; anything else: measuring failed.
#
# Environment: LSMETER (lsmeter), OUT, STACKS (blank-separated: "capability capability,selinux"),
# BENCH (patterns with commas; else the preset quick), LIMIT (1%), ARGS (more for lsmeter run).
set -euo pipefail

if [ $# -ne 2 ]; then
	sed -n '4,18s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi
lsmeter=${LSMETER:-lsmeter}
out=${OUT:-lsmeter-out}
read -ra stacks <<<"${STACKS:-capability capability,selinux}"
read -ra more <<<"${ARGS:-}"
arguments=()
for stack in "${stacks[@]}"; do
	arguments+=(--stack "$stack")
done
if [ -n "${BENCH:-}" ]; then
	arguments+=(--bench "$BENCH")
fi
arguments+=(--with-hooks --quiet "${more[@]}")

mkdir -p "$out"
"$lsmeter" run --kernel "$1" "${arguments[@]}" --output "$out/base.json" >/dev/null
"$lsmeter" run --kernel "$2" "${arguments[@]}" --output "$out/head.json" >/dev/null
cd "$out"

# Pages first, so that they exist whatever the verdict is.
status=0
"$lsmeter" compare base.json head.json --format html >changes.html || status=$?
# The gate below decides on inconclusive figures. Any other failure is not a comparison.
[ "$status" -eq 0 ] || [ "$status" -eq 5 ] || exit "$status"
"$lsmeter" report base.json head.json --output page.html
status=0
"$lsmeter" compare base.json head.json --fail-above "${LIMIT:-1%}" --changed --explain \
	--format markdown --output comparison.json >summary.md || status=$?
"$lsmeter" compare base.json head.json --format junit --fail-above "${LIMIT:-1%}" \
	>junit.xml 2>/dev/null || [ $? -eq "$status" ]
cat summary.md
exit "$status"
