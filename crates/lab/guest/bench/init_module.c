// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: init_module of 4 KB that are no module: refused by a module that lets none be loaded
 * from memory, or as no ELF file. Nothing to undo.
 */
#include "refused.h"

static long load(struct cell *c)
{
	return SYS(init_module, slot_data(c), 4096, "");
}

static int setup(struct cell *c)
{
	return keep_refusal(c, load(c), -ENOEXEC, CAP_SYS_MODULE);
}

static long op(struct cell *c, unsigned int i)
{
	return refused(c, load(c));
}

static int check(struct cell *c)
{
	return op(c, 0);
}

BENCH("init_module", ADMIN, ADMIN, 18, "init_module of what is no module",
      .variants = VARIANTS({ "damaged" }),
      .setup = setup, .check = check, .op = op);
