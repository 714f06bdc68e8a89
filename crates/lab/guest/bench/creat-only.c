// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: creat of a new file, which is the last of some components, and
 * nothing else. Undone outside: close, unlink.
 */
#include "paths.h"

#define FDS	256	/* well below the usual limit of 1024 */

static int setup(struct cell *c)
{
	unsigned int i;
	long err = make_dirs(c->variant->path);

	for (i = 0; i < FDS; i++)
		random_name(c, slot_name[i], c->variant->path);
	return err < 0 ? failed(c, "mkdir", err) : 0;
}

static int *fd_of(struct cell *c, unsigned int i)
{
	return (int *)c->buffer + i;
}

static long op(struct cell *c, unsigned int i)
{
	return *fd_of(c, i) = SYS(creat, slot_name[i], 0644);
}

static int undo(struct cell *c, unsigned int i)
{
	long err = sys_close(*fd_of(c, i));

	return err < 0 ? err : sys_unlink(slot_name[i]);
}

static int check(struct cell *c)
{
	long err, size;

	err = op(c, 0);
	if (err < 0)
		return failed(c, "creat", err);
	err = file_size(slot_name[0], &size);
	if (err < 0 || size != 0)
		return failed(c, "creat: no new empty file", err);
	err = undo(c, 0);
	return err < 0 ? failed(c, "close unlink", err) : 0;
}

BENCH("creat-only", FILE, BEYOND, 38, "create a file; random names",
      .source = "paper Table 7; creat(2)", .syscalls = "creat", .max_batch = FDS,
      .variants = depth_variants,
      .setup = setup, .check = check, .op = op, .undo = undo);
