#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests `lsmeter bisect` on a kernel tree: makes a git repository of Debian sources with 16
# commits. One adds two instructions to selinux_inode_permission, and another does not compile.
# lsmeter must find the first, then again from a later good commit, which makes it meet the
# broken one. The first build takes 20 minutes or more on two cores, the others a few minutes
# each; 6 GiB of disk. Exits with 1 if it finds another commit. Not part of `make test`.
#
# Usage: benches/bisect.sh [DIRECTORY]   the repository, created if missing
# Environment: LSMETER; SOURCE, a tar file or directory of a kernel's source (default:
# /usr/src/linux-source-6.12.tar.xz); JOBS (default: nproc); STACK, BENCH
set -euo pipefail
# shellcheck source=benches/common.sh
. "$(dirname "$0")/common.sh"
repository=${1:-$work/linux}
source=${SOURCE:-/usr/src/linux-source-6.12.tar.xz}
jobs=${JOBS:-$(nproc)}

in_repository() {
	git -C "$repository" -c user.name=bench -c user.email=bench@example.org \
		-c core.compression=0 -c gc.auto=0 -c core.fsync=none "$@"
}

# The first commit: the source.
begin() {
	mkdir -p "$repository"
	if [ -d "$source" ]; then
		cp -a "$source/." "$repository"
	else
		tar -C "$repository" --strip-components=1 -xf "$source"
	fi
	in_repository init -q -b main
	in_repository add -A -f
	in_repository commit -q -m "Linux as Debian has it"
	in_repository tag begin
}

# commit NUMBER SUBJECT FILE SED: a commit that changes one file.
commit() {
	local number=$1 subject=$2 file=$3 edit=$4
	sed -i "$edit" "$repository/$file"
	in_repository commit -q -m "$subject" -- "$file"
	in_repository tag "c$number"
}

make_history() {
	local comment='$a /* Nothing is changed by this. */'
	commit 1 "Say nothing in fs/open.c" fs/open.c "$comment"
	commit 2 "Add a helper to proc's version" fs/proc/version.c \
		'$a int lsmeter_bench_two(int x); int lsmeter_bench_two(int x) { return x * 3; }'
	commit 3 "Say nothing in fs/stat.c" fs/stat.c "$comment"
	commit 4 "Add a helper to semaphores" ipc/sem.c \
		'$a int lsmeter_bench_four(int x); int lsmeter_bench_four(int x) { return x ^ 9; }'
	commit 5 "Say nothing in Smack" security/smack/smack_lsm.c "$comment"
	commit 6 "Add a helper to /dev/mem" drivers/char/mem.c \
		'$a int lsmeter_bench_six(int x); int lsmeter_bench_six(int x) { return x + 6; }'
	commit 7 "Say nothing in kernel/sys.c" kernel/sys.c "$comment"
	commit 8 "Add a helper to block devices" block/bdev.c \
		'$a int lsmeter_bench_eight(int x); int lsmeter_bench_eight(int x) { return x | 8; }'
	commit 9 "Call what is not there" fs/readdir.c \
		'$a int lsmeter_bench_nine(void); int lsmeter_bench_nine(void) { return not_there; }'
	commit 10 "Call it no more" fs/readdir.c '/lsmeter_bench_nine/d'
	commit 11 "Take two instructions more for each permission of an inode" \
		security/selinux/hooks.c \
		'/^static int selinux_inode_permission(/,/^}/s/^\tif (!mask)$/\tasm volatile("nop; nop");\n&/'
	commit 12 "Say nothing in mm/filemap.c" mm/filemap.c "$comment"
	commit 13 "Add a helper to AppArmor" security/apparmor/lsm.c \
		'$a int lsmeter_bench_13(int x); int lsmeter_bench_13(int x) { return x - 13; }'
	commit 14 "Say nothing in fs/ext4/file.c" fs/ext4/file.c "$comment"
	commit 15 "Say nothing in lib/string.c" lib/string.c "$comment"
	commit 16 "Add a helper to semaphores, again" ipc/sem.c \
		'$a int lsmeter_bench_16(int x); int lsmeter_bench_16(int x) { return x & 16; }'
}

# bisect GOOD: from GOOD to the last commit.
bisect() {
	printf '\n== %s to c16\n' "$1"
	TIMEFORMAT='%R s'
	time "$LSMETER" bisect --repo "$repository" --good "$1" --bad c16 \
		--bench "${BENCH:-open:AA}" --stack "${STACK:-capability,selinux}" \
		--build-jobs "$jobs" 2> >(tee "$work/found" >&2)
	local wanted
	wanted=$(in_repository rev-parse --short c11)
	grep -q "^first bad commit: $wanted" "$work/found" || {
		echo "expected $wanted, c11" >&2
		exit 1
	}
}

about
[ -d "$repository/.git" ] || begin
in_repository rev-parse -q --verify begin >/dev/null || in_repository tag begin
in_repository rev-parse -q --verify c16 >/dev/null || make_history
in_repository log --oneline begin..c16 | cat
bisect begin
bisect c3
