// SPDX-License-Identifier: GPL-2.0-or-later
/* fstatat (newfstatat) below a directory's descriptor; random names. */
#include <asm/stat.h>
#include "paths.h"

#define FILES	256

static int setup(struct cell *c)
{
	char path[SLOT_LEN + 4];
	unsigned int i;
	long err;

	err = sys_mkdir("AA", 0755);
	if (err < 0)
		return failed(c, "mkdir", err);
	for (i = 0; i < FILES; i++) {
		random_name(c, slot_name[i], "");
		format(path, sizeof(path), "AA/%s", slot_name[i]);
		err = make_file(path, i);
		if (err < 0)
			return failed(c, "creating a file", err);
	}
	c->fd[0] = sys_open("AA", O_RDONLY | O_DIRECTORY, 0);
	return c->fd[0] < 0 ? failed(c, "open of the directory", c->fd[0]) : 0;
}

static int check(struct cell *c)
{
	struct stat st;
	unsigned int i;
	long err;

	for (i = 0; i < FILES; i++) {
		err = SYS(newfstatat, c->fd[0], slot_name[i], &st, 0);
		if (err < 0)
			return failed(c, "fstatat", err);
		if (!S_ISREG(st.st_mode) || st.st_size != i)
			return failed(c, "fstatat: not the file that was made", 0);
	}
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(newfstatat, c->fd[0], slot_name[i % FILES], c->buffer, 0);
}

static void teardown(struct cell *c)
{
	sys_close(c->fd[0]);
}

BENCH("fstatat", ATTR, PAPER, 11, "stat a file below a directory descriptor; random names",
      .source = "LMBench-Hook, Table 3 no. 11, section 4.1", .syscalls = "newfstatat",
      .variants = VARIANTS({ "random" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
