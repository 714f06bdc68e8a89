// SPDX-License-Identifier: GPL-2.0-or-later
#include "refused.h"

static long init_module_load(struct cell *c)
{
	return SYS(init_module, slot_data(c), 4096, "");
}

SETUP(init_module_setup, keep_refusal(c, init_module_load(c), -ENOEXEC, CAP_SYS_MODULE));

/*
 * Measured: init_module of 4 KB that are not a module: refused by a security module that forbids
 * loading from memory, or because it is not an ELF file. Nothing to undo.
 */
OP(init_module_op, refused(c, init_module_load(c)));

SETUP(init_module_check, init_module_op(c, 0));

BENCH("init_module", ADMIN, ADMIN, 18, "init_module of data that is not a module",
      .variants = VARIANTS({ "damaged" }),
      .setup = init_module_setup, .check = init_module_check, .op = init_module_op);

static long finit_module_load(struct cell *c)
{
	return SYS(finit_module, c->fd[0], "", 0);
}

static int finit_module_setup(struct cell *c)
{
	int ret = make_file("file", 4096);

	if (ret >= 0)
		ret = open_as(c, 0, "file", O_RDONLY | O_CLOEXEC);
	if (ret < 0)
		return ret;
	ret = keep_refusal(c, finit_module_load(c), -ENOEXEC, CAP_SYS_MODULE);
	if (ret)
		close_as(c, 0);
	return ret;
}

/*
 * Measured: finit_module of a 4 KB file that is not a module: refused by a security module that
 * forbids loading from there, or because it is not an ELF file. Nothing to undo.
 */
OP(finit_module_op, refused(c, finit_module_load(c)));

SETUP(finit_module_check, finit_module_op(c, 0));

BENCH("finit_module", ADMIN, ADMIN, 19, "finit_module of a file that is not a module",
      .variants = VARIANTS({ "damaged" }),
      .setup = finit_module_setup, .check = finit_module_check, .op = finit_module_op,
      .teardown = close_file);
