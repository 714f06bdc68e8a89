// SPDX-License-Identifier: GPL-2.0-or-later
#include "paths.h"

/*
 * mkdir at depth one with the paper's 9,437 distinct names. For throughput, a round makes all of
 * them before they are removed; for latency, a batch makes the first ones. In exact counts,
 * "9437-names" makes all directories in sequence, and "one" removes each before it makes the next.
 */
OP(mkdir_op, sys_mkdir(dir_name[i], 0755));

SLOT(undo, sys_rmdir(dir_name[i]));

static int mkdir_check(struct cell *c)
{
	unsigned int mode;
	long err;

	err = mkdir_op(c, 0);
	if (err < 0)
		return failed(c, "mkdir", err);
	err = file_mode(dir_name[0], &mode);
	if (err < 0 || mode != (S_IFDIR | 0755))
		return failed(c, "mkdir: no directory of that mode", err);
	err = mkdir_op(c, 0);
	if (err != -EEXIST)
		return failed(c, "second mkdir", err);
	err = undo(c, 0);
	return err < 0 ? failed(c, "rmdir", err) : 0;
}

BENCH("mkdir", DIR, PAPER, 5, "make directories under distinct names",
      .source = "LMBench-Hook, Table 3 no. 5, section 4.1",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT, .max_batch = DIR_NAMES,
      .variants = VARIANTS({ "one" }, { "9437-names", .together = DIR_NAMES }),
      .setup = make_dir_names, .check = mkdir_check, .op = mkdir_op, .undo = undo);

SLOT(prepare, sys_mkdir(dir_name[i], 0755));

/* rmdir with the paper's 9,437 distinct names, as many as mkdir uses. */
OP(rmdir_op, sys_rmdir(dir_name[i]));

static int rmdir_check(struct cell *c)
{
	unsigned int mode;
	long err;

	err = prepare(c, 0);
	if (err < 0)
		return failed(c, "mkdir", err);
	err = rmdir_op(c, 0);
	if (err < 0)
		return failed(c, "rmdir", err);
	err = file_mode(dir_name[0], &mode);
	return err == -ENOENT ? 0 : failed(c, "rmdir: the name is still there", err);
}

BENCH("rmdir", DIR, PAPER, 6, "remove directories under distinct names",
      .source = "LMBench-Hook, Table 3 no. 6, section 4.1",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT, .max_batch = DIR_NAMES,
      .variants = VARIANTS({ "one" }, { "9437-names", .together = DIR_NAMES }),
      .setup = make_dir_names, .check = rmdir_check, .prepare = prepare, .op = rmdir_op);
