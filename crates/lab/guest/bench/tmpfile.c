// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: open(O_TMPFILE), which creates an unnamed file. Undo: close, which frees it. */
#include "slots.h"

#define TMPFILE	(020000000 | O_DIRECTORY)	/* O_TMPFILE: asm-generic/fcntl.h */

static long op(struct cell *c, unsigned int i)
{
	long fd = sys_open(".", TMPFILE | O_RDWR, 0600);

	*slot_fd(c, i) = fd;
	return fd;
}

static int check(struct cell *c)
{
	char got = 0;
	long ret = op(c, 0);

	if (is_missing(ret) || ret == -EISDIR)
		return unsupported(c, "no files without a name on this file system", ret);
	if (ret >= 0)
		ret = SYS(pwrite64, *slot_fd(c, 0), "x", 1, 0);
	if (ret >= 0)
		ret = SYS(pread64, *slot_fd(c, 0), &got, 1, 0);
	return wrong_if(c, ret, got != 'x', "open(O_TMPFILE): wrong result") ?: slot_close(c, 0);
}

BENCH("tmpfile", FILE, BEYOND, 63, "open of an unnamed file",
      .source = "open(2)", .syscalls = "open", .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "O_TMPFILE" }),
      .check = check, .op = op, .undo = slot_close);
