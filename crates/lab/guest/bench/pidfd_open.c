// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: pidfd_open of the process itself. Undone outside: close. */
#include "slots.h"

static long op(struct cell *c, unsigned int i)
{
	long fd = SYS(pidfd_open, c->state[0], 0);

	*slot_fd(c, i) = fd;
	return fd;
}

static int setup(struct cell *c)
{
	c->state[0] = SYS(getpid);
	return 0;
}

static int undo(struct cell *c, unsigned int i)
{
	return sys_close(*slot_fd(c, i));
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no pidfd_open", ret);
	if (ret >= 0)
		ret = SYS(pidfd_send_signal, ret, 0, NULL, 0);
	return ret < 0 ? ret : undo(c, 0);
}

BENCH("pidfd_open", SIGNAL, IPC, 16, "pidfd_open of the process itself",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "self" }),
      .setup = setup, .check = check, .op = op, .undo = undo);
