// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: unshare into a new namespace. Undo: setns back into the old one, which ends the new
 * one.
 */
#include <linux/sched.h>
#include <asm/stat.h>
#include "slots.h"

static int setup(struct cell *c)
{
	char path[32];

	format(path, sizeof(path), "/proc/self/ns/%s", c->variant->name);
	return open_as(c, 0, path, O_RDONLY | O_CLOEXEC) ?
	       unsupported(c, "no such namespaces here", 0) : 0;
}

OP(op, SYS(unshare, c->variant->arg));

SLOT(undo, SYS(setns, c->fd[0], 0));

static int check(struct cell *c)
{
	struct stat *before = (struct stat *)slot_data(c), *after = before + 1;
	char path[32];
	long ret = op(c, 0);

	if (ret == -EPERM || ret == -EINVAL)
		return unsupported(c, "it needs CAP_SYS_ADMIN, and such namespaces", ret);
	if (ret < 0)
		return ret;
	format(path, sizeof(path), "/proc/self/ns/%s", c->variant->name);
	ret = SYS(fstat, c->fd[0], before);
	if (ret >= 0)
		ret = SYS(stat, path, after);
	return wrong_if(c, ret, before->st_ino == after->st_ino, "unshare: wrong result") ?:
	       undo(c, 0);
}

BENCH("unshare", NAMESPACE, PROCESS, 20, "unshare into a new namespace",
      .max_batch = 1, .variants = VARIANTS({ "uts", .arg = CLONE_NEWUTS }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = close_file);
