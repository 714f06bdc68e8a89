// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: dup of a descriptor. Undo: close of the copy. */
#include <asm/stat.h>
#include "slots.h"

SETUP(setup, make_file("file", 0) ?: open_as(c, 0, "file", O_RDONLY));

static long op(struct cell *c, unsigned int i)
{
	long fd = SYS(dup, c->fd[0]);

	*slot_fd(c, i) = fd;
	return fd;
}

static int check(struct cell *c)
{
	struct stat *ours = (struct stat *)slot_data(c), *copy = ours + 1;
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	ret = SYS(fstat, c->fd[0], ours);
	if (ret < 0)
		return ret;
	ret = SYS(fstat, *slot_fd(c, 0), copy);
	return wrong_if(c, ret, *slot_fd(c, 0) == c->fd[0] || ours->st_ino != copy->st_ino,
			"dup: wrong result") ?: slot_close(c, 0);
}

BENCH("dup", DESCRIPTOR, BEYOND, 26, "dup of a descriptor",
      .source = "paper section 4.1, class 6; dup(2)", .max_batch = MAX_FD_SLOTS,
      .variants = VARIANTS({ "file" }),
      .setup = setup, .check = check, .op = op, .undo = slot_close, .teardown = close_file);
