#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Measures a build of lsmeter from scratch: wall clock, processor seconds, and the most
# expensive crates. Arguments go to `cargo build`: --profile, --package, ...
#
# Run `cargo fetch` first, and nothing else during the build.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
export CARGO_TARGET_DIR=$scratch/target
export LSMETER_COMPILE_LOG=$scratch/log
export RUSTC_WRAPPER=$scratch/rustc
export CARGO_TERM_PROGRESS_WHEN=never

# Cargo calls this instead of rustc, with rustc's name and arguments.
cat >"$RUSTC_WRAPPER" <<'EOF'
#!/bin/bash
crate=-
for ((i = 1; i < $#; i++)); do
	if [ "${!i}" = --crate-name ]; then
		((++i))
		crate=${!i}
	fi
done
TIMEFORMAT="%U %S $crate"
{ time "$@" 2>&3; } 3>&2 2>>"$LSMETER_COMPILE_LOG"
EOF
chmod +x "$RUSTC_WRAPPER"

if [ $# = 0 ]; then
	set -- --release --package lsmeter
fi
TIMEFORMAT='%R %U %S'
{ time cargo build --quiet --locked --offline "$@" 2>&3; } 3>&2 2>"$scratch/total"
read -r wall user system <"$scratch/total"
echo "cargo build $*"
awk -v wall="$wall" -v user="$user" -v sys="$system" 'BEGIN {
	printf "%.1f s, %.1f s of all processors\n", wall, user + sys
}'
echo
echo 'processors, s  crate'
awk '{ spent[$3] += $1 + $2; all += $1 + $2; n++ }
END {
	for (crate in spent)
		printf "%13.1f  %s\n", spent[crate], crate
	printf "%13.1f  all %d calls of rustc\n", all, n
}' "$LSMETER_COMPILE_LOG" | sort -rn | head -n 21
find "$CARGO_TARGET_DIR" -name lsmeter -type f -printf '\nlsmeter has %s bytes\n'
