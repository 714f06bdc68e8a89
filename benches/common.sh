# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Shared by the scripts in this directory. Source it after `set -euo pipefail`.

# The lsmeter to use: $LSMETER, or the one built here.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LSMETER=${LSMETER:-${CARGO_TARGET_DIR:-$here/../target}/release/lsmeter}
if [ ! -x "$LSMETER" ]; then
	echo "no $LSMETER: run make build, or set LSMETER" >&2
	exit 3
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/lsmeter-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

# now: seconds, with microseconds.
now() {
	printf '%s\n' "$EPOCHREALTIME" | tr , .
}

# since BEGIN: seconds from BEGIN until now.
since() {
	awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f\n", b - a }'
}

# columns FILE NAME...: prints these columns of an lsmeter CSV file, separated by tabs,
# without the heading.
columns() {
	local file=$1
	shift
	awk -v wanted="$*" '
	# RFC 4180, as far as fields on one line go: "a ""b"", c",d
	function split_line(line, out,    n, field, rest) {
		n = 0
		while (1) {
			field = ""
			if (substr(line, 1, 1) == "\"") {
				rest = substr(line, 2)
				while (match(rest, /"/)) {
					field = field substr(rest, 1, RSTART - 1)
					rest = substr(rest, RSTART + 1)
					if (substr(rest, 1, 1) != "\"")
						break
					field = field "\""
					rest = substr(rest, 2)
				}
				line = rest
			} else {
				match(line, /^[^,]*/)
				field = substr(line, 1, RLENGTH)
				line = substr(line, RLENGTH + 1)
			}
			out[++n] = field
			if (substr(line, 1, 1) != ",")
				return n
			line = substr(line, 2)
		}
	}
	{
		sub(/\r$/, "")
		n = split_line($0, field)
		if (NR == 1) {
			for (i = 1; i <= n; i++)
				at[field[i]] = i
			columns = split(wanted, name, " ")
			next
		}
		for (i = 1; i <= columns; i++)
			printf "%s%s", field[at[name[i]]], i < columns ? "\t" : "\n"
	}' "$file"
}

# about: prints one line that describes this machine.
about() {
	local model
	model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
	printf '%s, %s cores (%s), Linux %s, load %s\n' "$(date -u +%F)" "$(nproc)" \
		"$model" "$(uname -r)" "$(cut -d' ' -f1 /proc/loadavg)"
}
