// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: move_mount of a tmpfs to another directory. Undone outside: moved back. */
#include <asm/stat.h>
#include "mounts.h"

#define OTHER	"other"

static long move(const char *from, const char *to)
{
	return SYS(move_mount, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int setup(struct cell *c)
{
	long ret = sys_mkdir(OTHER, 0755);

	return ret < 0 ? ret : make_mount(c, PLACE);
}

static long op(struct cell *c, unsigned int i)
{
	return move(PLACE, OTHER);
}

static int undo(struct cell *c, unsigned int i)
{
	return move(OTHER, PLACE);
}

static void teardown(struct cell *c)
{
	SYS(umount2, PLACE, 0);
}

static int check(struct cell *c)
{
	struct stat *before = (struct stat *)slot_data(c), *after = before + 1;
	long ret = SYS(stat, PLACE, before);

	if (ret >= 0)
		ret = op(c, 0);
	if (ret == -EINVAL || ret == -ENOSYS)
		return unsupported(c, "mounts are shared here, or it is not in this kernel", ret);
	if (ret >= 0)
		ret = SYS(stat, OTHER, after);
	if (ret < 0)
		return ret;
	return before->st_dev == after->st_dev ? undo(c, 0) :
	       failed(c, "move_mount: wrong result", 0);
}

BENCH("move_mount", ADMIN, ADMIN, 12, "move_mount of a tmpfs to another directory",
      .max_batch = 1, .variants = VARIANTS({ "tmpfs" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
