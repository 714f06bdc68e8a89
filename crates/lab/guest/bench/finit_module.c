// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: finit_module of a file of 4 KB that is no module: refused by a module that lets none be
 * loaded from there, or as no ELF file. Nothing to undo.
 */
#include "refused.h"

static long load(struct cell *c)
{
	return SYS(finit_module, c->fd[0], "", 0);
}

static int setup(struct cell *c)
{
	int ret = make_file("file", 4096);

	if (ret >= 0)
		ret = open_as(c, 0, "file", O_RDONLY | O_CLOEXEC);
	if (ret < 0)
		return ret;
	ret = keep_refusal(c, load(c), -ENOEXEC, CAP_SYS_MODULE);
	if (ret)
		close_as(c, 0);
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	return refused(c, load(c));
}

static int check(struct cell *c)
{
	return op(c, 0);
}

BENCH("finit_module", ADMIN, ADMIN, 19, "finit_module of a file that is no module",
      .variants = VARIANTS({ "damaged" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
