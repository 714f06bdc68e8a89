// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: access(R_OK) of a readable regular file. `other-ruid`: in a process whose real and
 * effective user differ, so that the kernel allocates and frees credentials. Nothing to undo.
 */
#include "slots.h"

#define READ_OK		4	/* R_OK of unistd.h */
#define OTHER_RUID	1	/* arg of variants */
#define NOBODY		65534
#define KEEP		-1	/* to setresuid */
#define USER		0	/* c->state[]: the original user */

static int setup(struct cell *c)
{
	int ret = make_dirs("AA/BB");
	long err;

	if (ret >= 0)
		ret = make_file("AA/BB", 0);
	if (ret < 0 || c->variant->arg != OTHER_RUID)
		return ret;
	c->state[USER] = SYS(getuid);
	err = c->state[USER] == NOBODY ? -EPERM : SYS(setresuid, NOBODY, KEEP, KEEP);
	if (err == -EPERM || err == -EINVAL || err == -EAGAIN)
		return unsupported(c, "this user may not become another", err);
	return err < 0 ? failed(c, "setresuid", err) : 0;
}

OP(op, SYS(access, "AA/BB", READ_OK));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -EACCES && c->variant->arg == OTHER_RUID)
		return unsupported(c, "not all users can get at this directory", ret);
	return wrong_if(c, ret, SYS(access, "AA/missing", READ_OK) != -ENOENT,
			"access: wrong result");
}

static void teardown(struct cell *c)
{
	if (c->variant->arg == OTHER_RUID)
		SYS(setresuid, c->state[USER], KEEP, KEEP);
}

BENCH("access", ATTR, BEYOND, 4, "access of a regular file for reading",
      .variants = VARIANTS({ "AA/BB", .depth = 2 }, { "other-ruid", .arg = OTHER_RUID }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
