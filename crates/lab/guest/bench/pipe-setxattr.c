// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: fsetxattr of a security attribute of a pipe. Pipes do not store attributes, so the
 * kernel calls modules. No module has this attribute, so the result is EOPNOTSUPP. Nothing to
 * undo.
 */
#include "slots.h"

enum { READER, WRITER };	/* c->fd[] */

SETUP(setup, SYS(pipe2, c->fd, O_CLOEXEC));

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(fsetxattr, c->fd[READER], "security.lsmeter", "x", 1, 0);

	return ret == -EOPNOTSUPP ? 0 : ret;
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -EPERM || ret == -EACCES)
		return unsupported(c, "security attributes are not for this user", ret);
	if (ret < 0)
		return ret;
	ret = SYS(fgetxattr, c->fd[READER], "security.lsmeter", slot_data(c), 1);
	return ret == -EOPNOTSUPP ? 0 : failed(c, "fsetxattr: the pipe kept it", ret);
}

static void teardown(struct cell *c)
{
	close_as(c, READER);
	close_as(c, WRITER);
}

BENCH("pipe-setxattr", XATTR, BEYOND, 65,
      "fsetxattr of a security attribute of a pipe, which no module keeps",
      .source = "fsetxattr(2)", .syscalls = "fsetxattr", .variants = VARIANTS({ "security" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
