// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chmod of a file that is the last of 1 to 5 components. Two modes take turns,
 * so nothing has to be undone.
 */
#include "paths.h"

static const unsigned int modes[2] = { 0640, 0600 };

static int setup(struct cell *c)
{
	long err;

	format(c->path, sizeof(c->path), "%sHH", c->variant->path);
	err = make_dirs(c->path);
	if (err < 0)
		return failed(c, "mkdir", err);
	err = make_file(c->path, 0);
	return err < 0 ? failed(c, "creating the file", err) : 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(chmod, c->path, modes[i & 1]);
}

static int check(struct cell *c)
{
	unsigned int i, mode;
	long err;

	for (i = 0; i < 2; i++) {
		err = op(c, i);
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
      .setup = setup, .check = check, .op = op);
