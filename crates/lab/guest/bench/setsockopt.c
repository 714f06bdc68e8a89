// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: setsockopt that turns on an option that is on. Nothing to undo. */
#include "../sockets.h"

static int setup(struct cell *c)
{
	return set_up_pair(c, TCP);
}


static long op(struct cell *c, unsigned int i)
{
	int on = 1;

	return SYS(setsockopt, c->fd[CLIENT], c->variant->arg, c->variant->arg2, &on, sizeof(on));
}

/* Whether it is on; or -errno. */
static long is_on(struct cell *c)
{
	int on = -1, size = sizeof(on);
	long ret = SYS(getsockopt, c->fd[CLIENT], c->variant->arg, c->variant->arg2, &on, &size);

	return ret < 0 ? ret : !!on;
}

static int check(struct cell *c)
{
	long ret = set_option(c->fd[CLIENT], c->variant->arg, c->variant->arg2, 0);

	if (ret < 0 || is_on(c) != 0)
		return failed(c, "setsockopt: wrong result", ret);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	return is_on(c) == 1 ? 0 : failed(c, "setsockopt: wrong result", 0);
}

BENCH("setsockopt", SOCKET, NETWORK, 10, "setsockopt of a connected socket",
      .source = "socket(7), tcp(7)",
      .variants = VARIANTS({ "SO_BROADCAST", .arg = SOL_SOCKET, .arg2 = SO_BROADCAST },
			   { "TCP_NODELAY", .arg = IPPROTO_TCP, .arg2 = TCP_NODELAY }),
      .setup = setup, .check = check, .op = op, .teardown = tear_down_pair);
