// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: lsetxattr of another label on a file, as in chcon(1) and restorecon(8). The policy must
 * allow the agent to set the other label and to restore the first. Undo: the old label.
 */
#include "slots.h"

#define OLD		slot_data(c)
#define LABEL_MAX	512
#define OLD_LEN		0	/* c->state[]: bytes of the files' label */

static long label(struct cell *c, const char *name, const char *value, size_t len)
{
	return SYS(lsetxattr, name, c->variant->path, value, len, 0);
}

SLOT(undo, label(c, slot_name(c, i), OLD, c->state[OLD_LEN]));

OP(op, label(c, slot_name(c, i), c->path2, strlen(c->path2)));

/* Whether the label can be set and restored. */
static long try_label(struct cell *c)
{
	long err = op(c, 0);

	return err < 0 ? err : undo(c, 0);
}

/* SELinux: one more category, or the type that lsmeter's policy denies. */
static long choose_context(struct cell *c)
{
	const char *old = OLD, *rest;
	long err;

	format(c->path2, sizeof(c->path2), "%s:c1", old);
	err = try_label(c);
	if (err >= 0)
		return err;
	for (rest = old + strlen(old); rest > old && rest[-1] != ':'; rest--)
		;
	memcpy(c->path2, old, rest - old);
	format(c->path2 + (rest - old), LABEL_MAX, "secret_t");
	return try_label(c);
}

/* Smack: the label that every subject may read and write. */
static long choose_star(struct cell *c)
{
	format(c->path2, sizeof(c->path2), "*");
	return try_label(c);
}

static int setup(struct cell *c)
{
	long n;

	n = slots_name(c, "");
	if (n >= 0)
		n = slots_make_files(c, 0);
	if (n < 0)
		return n;
	n = SYS(lgetxattr, slot_name(c, 0), c->variant->path, OLD, LABEL_MAX - 1);
	if (n < 0)
		return unsupported(c, "no module of the stack labels files", n);
	OLD[n] = '\0';
	c->state[OLD_LEN] = n;
	n = c->variant->arg ? choose_star(c) : choose_context(c);
	if (n < 0)
		return unsupported(c, "the policy allows no other label for files", n);
	return 0;
}

static int check(struct cell *c)
{
	char found[LABEL_MAX];
	long n = op(c, 0);

	if (n >= 0)
		n = SYS(lgetxattr, slot_name(c, 0), c->variant->path, found, sizeof(found));
	return wrong_if(c, n, memcmp(found, c->path2, strlen(c->path2)),
			"lsetxattr: the file has another label") ?: undo(c, 0);
}

BENCH("relabel", XATTR, BEYOND, 62,
      "lsetxattr of another SELinux or Smack label",
      .source = "chcon(1), restorecon(8), setxattr(2)", .syscalls = "lsetxattr",
      .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "selinux", .path = "security.selinux" },
			   { "smack", .path = "security.SMACK64", .arg = 1 }),
      .setup = setup, .check = check, .op = op, .undo = undo);
