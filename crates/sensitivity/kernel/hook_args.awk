# SPDX-License-Identifier: GPL-2.0-or-later
#
# Extracts the names of the hooks' arguments from lsm_hook_defs.h, since a macro
# cannot get "dir" from "struct inode *dir". Prints a line for each hook:
#
#	#define TUNABLE_ARGS_inode_unlink(ARG, NUMBER) ARG(dir), ARG(dentry)
#
# A hook that allocates or frees an object receives one that is not yet or no
# longer valid, so only its numbers are used.

function words(args, kind,	i, n, part, out)
{
	n = split(args, part, ",")
	# After the return type, the default and the hook's name.
	for (i = 4; i <= n; i++) {
		gsub(/\[[^]]*\]/, "", part[i])
		if (!match(part[i], /[A-Za-z_][A-Za-z0-9_]*[ \t]*$/))
			continue
		part[i] = substr(part[i], RSTART, RLENGTH)
		gsub(/[ \t]/, "", part[i])
		if (part[i] != "void")
			out = out (out ? ", " : "") kind "(" part[i] ")"
	}
	return out
}

function hook(args,	part, name)
{
	split(args, part, ",")
	name = part[3]
	gsub(/[ \t]/, "", name)
	print "#define TUNABLE_ARGS_" name "(ARG, NUMBER) " \
		words(args, name ~ /alloc|free/ ? "NUMBER" : "ARG")
}

!/^#/ {
	text = text $0 " "
}

END {
	while (at = index(text, "/*")) {
		rest = substr(text, at + 2)
		end = index(rest, "*/")
		text = substr(text, 1, at - 1) (end ? substr(rest, end + 2) : "")
	}
	while (at = index(text, "LSM_HOOK(")) {
		text = substr(text, at + 9)
		depth = 1
		for (i = 1; depth && i <= length(text); i++) {
			c = substr(text, i, 1)
			depth += (c == "(") - (c == ")")
		}
		hook(substr(text, 1, i - 2))
	}
}
