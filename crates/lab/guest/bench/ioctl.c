// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: ioctl(FIONREAD) of a regular file. Nothing to undo. */
#include <asm/ioctls.h>
#include "slots.h"

SETUP(setup, make_file("file", 4096) ?: open_as(c, 0, "file", O_RDONLY));

OP(op, SYS(ioctl, c->fd[0], FIONREAD, slot_data(c)));

static int check(struct cell *c)
{
	int *left = (int *)slot_data(c);
	long ret;

	*left = 0;
	ret = op(c, 0);
	if (ret == -ENOTTY || is_missing(ret))
		return unsupported(c, "no FIONREAD on this file system", ret);
	return wrong_if(c, ret, *left != 4096, "ioctl: wrong result");
}

BENCH("ioctl", DESCRIPTOR, BEYOND, 27, "ioctl(FIONREAD) of a regular file",
      .variants = VARIANTS({ "FIONREAD" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
