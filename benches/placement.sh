#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Measures time and memory of `lsmeter placement` on a kernel tree: without a cache, with
# one, after a change to one file, and with every system call of the tree. Prints medians
# of several rounds, and the largest resident set.
#
# Usage: benches/placement.sh TREE [ROUNDS]    environment: LSMETER; needs GNU time
set -euo pipefail
# shellcheck source=benches/common.sh
. "$(dirname "$0")/common.sh"
if [ $# -lt 1 ]; then
	echo "usage: $0 TREE [ROUNDS]" >&2
	exit 2
fi
rounds=${2:-5}
if [ ! -x /usr/bin/time ]; then
	echo "no /usr/bin/time: install GNU time (apt-get install time)" >&2
	exit 3
fi
# A copy, so that a file can be changed.
echo "copying the tree" >&2
mkdir "$work/tree"
cp -a "$1"/{Makefile,arch,block,fs,include,io_uring,ipc,kernel,mm,net,security} "$work/tree" 2>/dev/null ||
	[ -e "$work/tree/security/security.c" ]
export XDG_CACHE_HOME=$work/cache

# one NAME ARGUMENT...: runs lsmeter, appends seconds and KiB to the figures of NAME.
one() {
	local name=$1
	shift
	/usr/bin/time -f '%e %M' -o "$work/time" \
		"$LSMETER" placement "$work/tree" --quiet --format csv "$@" >/dev/null
	cat "$work/time" >>"$work/of-$name"
}

# told NAME TEXT: prints the median of seconds and the maximum of MiB.
told() {
	sort -n "$work/of-$1" | awk -v text="$2" '
		{ seconds[NR] = $1; if ($2 > most) most = $2 }
		END { printf "%-44s %6.2f s  (%.2f to %.2f)  %4d MiB\n", text,
			seconds[int((NR + 1) / 2)], seconds[1], seconds[NR], most / 1024 }'
}

about
for ((round = 0; round < rounds; round++)); do
	rm -rf "$XDG_CACHE_HOME"
	one none --no-cache
	one cold
	one warm
	touch "$work/tree/fs/namei.c"
	one changed
	one systems --fs ext4 --fs tmpfs --fs xfs --fs btrfs --no-cache
	one all --all --no-cache
done
printf '%s, %s rounds\n' "$(sed -n 's/^\(VERSION\|PATCHLEVEL\|SUBLEVEL\) = //p' "$work/tree/Makefile" |
	paste -sd.)" "$rounds"
told none 'system calls on files, ext4, no cache'
told cold '… and the cache written'
told warm '… from the cache'
told changed '… from the cache, fs/namei.c changed'
told systems '… on ext4, tmpfs, xfs and btrfs, no cache'
told all 'every system call, ext4, no cache'
