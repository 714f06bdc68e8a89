// SPDX-License-Identifier: GPL-2.0-or-later
#include "paths.h"

static const unsigned int modes[2] = { 0640, 0600 };

static int chmod_setup(struct cell *c)
{
	long err;

	format(c->path, sizeof(c->path), "%sHH", c->variant->path);
	err = make_dirs(c->path);
	if (err < 0)
		return failed(c, "mkdir", err);
	err = make_file(c->path, 0);
	return err < 0 ? failed(c, "creating the file", err) : 0;
}

/* chmod of a file at depth 1 to 5. Two modes alternate, so there is nothing to undo. */
OP(chmod_op, SYS(chmod, c->path, modes[i & 1]));

static int chmod_check(struct cell *c)
{
	unsigned int i, mode;
	long err;

	for (i = 0; i < 2; i++) {
		err = chmod_op(c, i);
		if (err < 0)
			return failed(c, "chmod", err);
		err = file_mode(c->path, &mode);
		if (err < 0 || (mode & 07777) != modes[i])
			return failed(c, "chmod: the mode has not changed", err);
	}
	return 0;
}

BENCH("chmod", ATTR, PAPER, 9, "change a file's mode",
      .source = "LMBench-Hook, Table 3 no. 9, section 4.1", .variants = depth_variants,
      .setup = chmod_setup, .check = chmod_check, .op = chmod_op);

static int fchmod_setup(struct cell *c)
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

/* Measured: fchmod of an open file. Two modes alternate, so there is nothing to undo. */
OP(fchmod_op, SYS(fchmod, c->fd[0], modes[i & 1]));

static int fchmod_check(struct cell *c)
{
	unsigned int i, mode;
	long ret;

	for (i = 0; i < 2; i++) {
		ret = fchmod_op(c, i);
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
      .setup = fchmod_setup, .check = fchmod_check, .op = fchmod_op, .teardown = teardown);
