// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: setns into the current namespace. Nothing to undo. */
#include <linux/sched.h>
#include "slots.h"

static int setup(struct cell *c)
{
	char path[32];

	format(path, sizeof(path), "/proc/self/ns/%s", c->variant->name);
	return open_as(c, 0, path, O_RDONLY | O_CLOEXEC) ?
	       unsupported(c, "no such namespaces here", 0) : 0;
}

OP(op, SYS(setns, c->fd[0], c->variant->arg));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -EPERM || ret == -EINVAL)
		return unsupported(c, "it needs CAP_SYS_ADMIN, and such namespaces", ret);
	if (ret < 0)
		return ret;
	/* Not a user namespace. */
	return SYS(setns, c->fd[0], CLONE_NEWUSER) == -EINVAL ? 0 : failed(c, "setns: wrong result", 0);
}

BENCH("setns", NAMESPACE, PROCESS, 21, "setns into the current namespace",
      .variants = VARIANTS({ "uts", .arg = CLONE_NEWUTS },
			   { "ipc", .arg = CLONE_NEWIPC },
			   { "net", .arg = CLONE_NEWNET }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
