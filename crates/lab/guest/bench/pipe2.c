// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: pipe2. Undone outside: close of both ends. */
#include "slots.h"

/* A slot's two descriptors lie side by side. */
static long op(struct cell *c, unsigned int i)
{
	return SYS(pipe2, slot_fd(c, 2 * i), O_CLOEXEC);
}

static int undo(struct cell *c, unsigned int i)
{
	sys_close(*slot_fd(c, 2 * i));
	return sys_close(*slot_fd(c, 2 * i + 1));
}

static int check(struct cell *c)
{
	long ret = op(c, 0);
	char got = 0;

	if (ret < 0)
		return ret;
	ret = sys_write(*slot_fd(c, 1), "x", 1);
	if (ret == 1)
		ret = sys_read(*slot_fd(c, 0), &got, 1);
	if (ret < 0)
		return ret;
	return got == 'x' ? undo(c, 0) : failed(c, "pipe2: wrong result", 0);
}

BENCH("pipe2", IPC, IPC, 1, "pipe2, which makes both ends",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "pair" }),
      .check = check, .op = op, .undo = undo);
