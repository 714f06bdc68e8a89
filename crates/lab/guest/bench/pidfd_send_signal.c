// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: pidfd_send_signal of no signal to a child. Nothing to undo. */
#include "../child.h"

static int setup(struct cell *c)
{
	int ret = start_child(c);
	long fd;

	if (ret)
		return ret;
	fd = SYS(pidfd_open, c->state[CHILD], 0);
	if (fd >= 0) {
		c->fd[0] = fd;
		return 0;
	}
	end_child(c);
	return fd == -ENOSYS ? unsupported(c, "this kernel has no pidfd_open", fd) : (int)fd;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(pidfd_send_signal, c->fd[0], 0, NULL, 0);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	/* Standard input is no process. */
	return SYS(pidfd_send_signal, 0, 0, NULL, 0) == -EBADF ? 0 :
	       failed(c, "pidfd_send_signal: wrong result", 0);
}

static void teardown(struct cell *c)
{
	close_as(c, 0);
	end_child(c);
}

BENCH("pidfd_send_signal", SIGNAL, IPC, 17,
      "pidfd_send_signal to a child, by a signal that does nothing",
      .variants = VARIANTS({ "child" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
