// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: fchmod of an open file. Two modes take turns: nothing to undo. */
#include "paths.h"

static const unsigned int modes[2] = { 0640, 0600 };

static int setup(struct cell *c)
{
	long ret = make_file("file", 0);

	if (ret < 0)
		return failed(c, "creating the file", ret);
	ret = sys_open("file", O_RDONLY, 0);
	if (ret < 0)
		return failed(c, "open", ret);
	c->fd[0] = ret;
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(fchmod, c->fd[0], modes[i & 1]);
}

static int check(struct cell *c)
{
	unsigned int i, mode;
	long ret;

	for (i = 0; i < 2; i++) {
		ret = op(c, i);
		if (ret < 0)
			return failed(c, "fchmod", ret);
		ret = file_mode("file", &mode);
		if (ret < 0 || (mode & 07777) != modes[i])
			return failed(c, "fchmod: the mode has not changed", ret);
	}
	return 0;
}

static void teardown(struct cell *c)
{
	sys_close(c->fd[0]);
}

BENCH("fchmod", ATTR, BEYOND, 35, "change the mode of an open file",
      .source = "paper Table 7; fchmod(2)", .variants = VARIANTS({ "file" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
