// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: fcntl of an open regular file: F_GETFL, F_SETFL to the current flags, or F_SETOWN to
 * the process itself. Nothing to undo.
 */
#include "slots.h"

#define ARGUMENT	0	/* c->state[] */

static int setup(struct cell *c)
{
	int ret = make_file("file", 0);

	c->state[ARGUMENT] = c->variant->arg == F_SETOWN ? SYS(getpid) : O_APPEND;
	if (ret < 0)
		return ret;
	return open_as(c, 0, "file", O_RDWR | O_APPEND);
}

OP(op, SYS(fcntl, c->fd[0], c->variant->arg, c->state[ARGUMENT]));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (c->variant->arg == F_SETOWN && SYS(fcntl, c->fd[0], F_GETOWN, 0) != SYS(getpid))
		return failed(c, "fcntl: wrong owner", 0);
	ret = SYS(fcntl, c->fd[0], F_GETFL, 0);
	if (ret < 0)
		return ret;
	if ((ret & (O_ACCMODE | O_APPEND)) == (O_RDWR | O_APPEND))
		return 0;
	return failed(c, "fcntl: wrong result", 0);
}

BENCH("fcntl", DESCRIPTOR, BEYOND, 25,
      "fcntl that reads or sets the flags of an open file, or its owner",
      .source = "paper section 4.1, class 6; fcntl(2)",
      .variants = VARIANTS({ "F_GETFL", .arg = F_GETFL },
			   { "F_SETFL", .arg = F_SETFL },
			   { "F_SETOWN", .arg = F_SETOWN }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
