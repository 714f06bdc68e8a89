// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: flistxattr of a memfd, a file of tmpfs, which has one attribute that a module could have
 * put there: modules are asked for their names, and whether this is one of theirs. Nothing to undo.
 */
#include <linux/memfd.h>
#include "slots.h"

#define NAME		"security.lsmeter"
#define LIST_SIZE	4096

static int setup(struct cell *c)
{
	long ret = SYS(memfd_create, "lsmeter", MFD_CLOEXEC);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no memfd_create", ret);
	if (ret < 0)
		return failed(c, "memfd_create", ret);
	c->fd[0] = ret;
	ret = SYS(fsetxattr, c->fd[0], NAME, "x", 1, 0);
	if (ret >= 0)
		return 0;
	close_as(c, 0);
	if (ret == -EPERM || is_missing(ret))
		return unsupported(c, "no such attributes of such files, or not for this user", ret);
	return failed(c, "fsetxattr", ret);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(flistxattr, c->fd[0], slot_data(c), LIST_SIZE);
}

static int check(struct cell *c)
{
	char *list = slot_data(c);
	long len = op(c, 0), pos;

	if (len < 0)
		return len;
	if (!len || list[len - 1])
		return failed(c, "flistxattr: wrong result", 0);
	for (pos = 0; pos < len; pos += strlen(list + pos) + 1)
		if (!strcmp(list + pos, NAME))
			return 0;
	return failed(c, "flistxattr: the attribute is missing", 0);
}

BENCH("flistxattr", XATTR, BEYOND, 64, "flistxattr of a memfd with a security attribute",
      .variants = VARIANTS({ "memfd" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
