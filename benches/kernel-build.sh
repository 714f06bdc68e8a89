#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Measures time and disk space of `lsmeter kernel build`. For each flavour: the first
# build, without ccache; the same again; with one option changed; with the change
# reverted; and, with ccache, under another name. Takes over half an hour on two
# cores, and 6 GiB in TMPDIR. Not part of `make test`.
#
# Usage: benches/kernel-build.sh [linux-source-VERSION|PATH]
# Environment: LSMETER; FLAVOURS (default: all nolsm); JOBS (default: nproc);
# OPTION, the line that changes the configuration (default: CONFIG_CONFIGFS_FS=y)
set -euo pipefail
# shellcheck source=benches/common.sh
. "$(dirname "$0")/common.sh"
source=${1:-linux-source-6.12}
read -ra flavours <<<"${FLAVOURS:-all nolsm}"
jobs=${JOBS:-$(nproc)}

export XDG_CACHE_HOME=$work/cache CCACHE_DIR=$work/ccache
cache=$XDG_CACHE_HOME/lsmeter
printf '%s\n' "${OPTION:-CONFIG_CONFIGFS_FS=y}" >"$work/option.config"

# build TITLE NAME ARGUMENT...: prints wall and CPU seconds, and lsmeter's last message.
build() {
	local title=$1 name=$2
	shift 2
	local TIMEFORMAT='%R %U %S' times
	times=$({ time "$LSMETER" kernel build "$name" --source "$source" --jobs "$jobs" \
		--quiet "$@" 2>"$work/said"; } 2>&1) || {
		cat "$work/said" >&2
		exit 1
	}
	read -r wall user system <<<"$times"
	printf '%-28s %8.1f %8.1f  %s\n' "$title" "$wall" \
		"$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')" \
		"$(sed -n 's/.*is in the cache: Linux \(.*\)/\1/p' "$work/said")"
}

size() {
	du -shL --apparent-size "$1" | cut -f1
}

about
printf '%s, --jobs %s\n\n%-28s %8s %8s\n' "$source" "$jobs" '' 'wall s' 'CPU s'
for flavour in "${flavours[@]}"; do
	CCACHE_DISABLE=1 build "$flavour: first" "$flavour" --flavour "$flavour"
	build "$flavour: again" "$flavour" --flavour "$flavour"
	CCACHE_DISABLE=1 build "$flavour: one option changed" "$flavour" --flavour "$flavour" \
		--config "$work/option.config"
	build "$flavour: and back" "$flavour" --flavour "$flavour"
	build "$flavour: filling ccache" "$flavour-2" --flavour "$flavour" \
		--config "$work/option.config"
	"$LSMETER" kernel remove "build:$flavour-2"
	rm -rf "$cache/built"
	build "$flavour: from ccache" "$flavour-3" --flavour "$flavour" \
		--config "$work/option.config"
	printf '\n%s: vmlinuz %s, vmlinux %s, objects %s\n\n' "$flavour" \
		"$(size "$cache/kernels/$(cat "$cache/names/build:$flavour")/vmlinuz")" \
		"$(size "$cache/kernels/$(cat "$cache/names/build:$flavour")/vmlinux")" \
		"$(du -sh "$cache/build/$flavour/src/obj" | cut -f1)"
	"$LSMETER" kernel remove "build:$flavour-3"
done
[ ! -d "$cache/sources" ] || printf 'unpacked source: %s\n' "$(du -sh "$cache/sources" | cut -f1)"
