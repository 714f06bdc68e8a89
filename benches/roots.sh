#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures the cost of a root before a program starts in it: one boot for each size (50, 300 and
# 1024 MiB), with incompressible files.
#
#   benches/roots.sh [MIB...]
#
# QEMU's processor time is that of the whole boot. Memory is each process's maximum; file pages,
# which processes share, are counted separately.
set -euo pipefail
. "$(dirname "$0")/common.sh"

kernel=${KERNEL:-debian:6.12}
[ $# -gt 0 ] || set -- 50 300 1024

# Prints the peaks of a process while it runs: anonymous and file pages, in MiB.
watch_memory() { # PID
	local pid=$1 key value _ anon=0 file=0
	while [ -r "/proc/$pid/status" ]; do
		while read -r key value _; do
			case $key in
				RssAnon:) ((value > anon)) && anon=$value ;;
				RssFile: | RssShmem:) ((value > file)) && file=$value ;;
				State:) [ "$value" = Z ] && break 2 ;;
			esac
		done 2>/dev/null <"/proc/$pid/status" || break
		sleep 0.05
	done
	echo "$((anon / 1024)) $((file / 1024))"
}

# Prints the first QEMU that lsmeter starts; nothing if lsmeter ends before.
qemu_of() { # PID
	local child
	while kill -0 "$1" 2>/dev/null; do
		for child in $(pgrep -P "$1" 2>/dev/null); do
			# The QEMU that is only asked for its version has no kernel.
			if tr '\0' ' ' <"/proc/$child/cmdline" 2>/dev/null | grep -q -- '-kernel'; then
				echo "$child"
				return
			fi
		done
		sleep 0.05
	done
}

# Prints processor seconds of a process while it runs.
watch_time() { # PID
	local fields ticks=0
	while read -r fields 2>/dev/null <"/proc/$1/stat"; do
		# The name, in parentheses, may contain blanks.
		read -r -a fields <<<"${fields##*) }"
		[ "${fields[0]}" = Z ] && break
		ticks=$((fields[11] + fields[12]))
		sleep 0.05
	done
	awk -v ticks="$ticks" -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.1f\n", ticks / hz }'
}

printf '%8s  %8s  %10s  %9s  %8s  %8s  %8s  %8s\n' "root MiB" "wall s" "all CPU s" \
	"QEMU CPU" "lsm anon" "lsm file" "qemu anon" "file MiB"
for mib in "$@"; do
	tree=$work/tree
	rm -rf "$tree"
	mkdir "$tree"
	for ((i = 0; i < mib; i += 10)); do
		size=$((mib - i < 10 ? mib - i : 10))
		head -c "${size}M" /dev/urandom >"$tree/$i"
	done
	TIMEFORMAT='%R %U %S'
	{
		time {
			"$LSMETER" run --offline --kernel "$kernel" --programs true --tree "$tree" \
				--stack capability --jobs 1 --repeat 1 -o "$work/document.json" \
				-- true >"$work/out" 2>&1 &
			lsmeter=$!
			watch_memory "$lsmeter" >"$work/lsmeter" &
			qemu=$(qemu_of "$lsmeter")
			watch_memory "$qemu" >"$work/qemu" &
			watch_time "$qemu" >"$work/time" &
			wait "$lsmeter" || { cat "$work/out" >&3; exit 1; }
		}
	} 3>&2 2>"$work/total"
	wait
	read -r wall user system < <(tail -n 1 "$work/total")
	read -r anon file <"$work/lsmeter"
	read -r guest mapped <"$work/qemu"
	printf '%8d  %8.1f  %10.1f  %9s  %8d  %8d  %8d  %8d\n' "$mib" "$wall" \
		"$(awk "BEGIN { print $user + $system }")" "$(cat "$work/time")" \
		"$anon" "$file" "$guest" "$mapped"
done
