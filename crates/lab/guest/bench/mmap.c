// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: mmap of the 4 KB of a file, shared and read-only, and munmap; the
 * page is not touched. Nothing to undo.
 */
#include <linux/mman.h>
#include "slots.h"

#define SIZE	4096

static int setup(struct cell *c)
{
	int ret = make_file("file", SIZE);

	if (ret < 0)
		return ret;
	return open_as(c, 0, "file", O_RDONLY);
}

/* Addresses are never negative here: user space lies in the lower half. */
static inline long map(struct cell *c)
{
	return SYS(mmap, 0, SIZE, PROT_READ, MAP_SHARED, c->fd[0], 0);
}

static long op(struct cell *c, unsigned int i)
{
	long address = map(c);

	if (address < 0)
		return address;
	return SYS(munmap, address, SIZE);
}

static int check(struct cell *c)
{
	long address = map(c);
	const char *data = (const char *)address;
	int same;

	if (address == -ENODEV || is_missing(address))
		return unsupported(c, "no mmap on this file system", address);
	if (address < 0)
		return address;
	same = data[0] == 'x' && data[SIZE - 1] == 'x';
	SYS(munmap, address, SIZE);
	if (!same)
		return failed(c, "mmap: wrong result", 0);
	return op(c, 0);
}

BENCH("mmap", READ_WRITE, BEYOND, 24, "mmap and munmap of a file of 4 KB, untouched",
      .syscalls = "mmap munmap", .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
