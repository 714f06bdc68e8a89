// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mman.h>
#include "slots.h"

#define SIZE	4096
#define AT		0	/* c->state[]: address */
#define READ_WRITE	(PROT_READ | PROT_WRITE)

SETUP(mmap_setup, make_file("file", SIZE) ?: open_as(c, 0, "file", O_RDONLY));

/* Addresses are never negative here: user space is in the lower half. */
static inline long map(struct cell *c)
{
	return SYS(mmap, 0, SIZE, PROT_READ, MAP_SHARED, c->fd[0], 0);
}

/*
 * Measured: mmap of a 4 KB file, shared and read-only, and munmap; the page is not touched. Nothing
 * to undo.
 */
static long mmap_op(struct cell *c, unsigned int i)
{
	long address = map(c);

	if (address < 0)
		return address;
	return SYS(munmap, address, SIZE);
}

static int mmap_check(struct cell *c)
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
	return mmap_op(c, 0);
}

BENCH("mmap", READ_WRITE, BEYOND, 24, "mmap and munmap of a file of 4 KB, untouched",
      .syscalls = "mmap munmap", .variants = VARIANTS({ "4KB" }),
      .setup = mmap_setup, .check = mmap_check, .op = mmap_op, .teardown = close_file);

static int mprotect_setup(struct cell *c)
{
	long at = SYS(mmap, NULL, PAGE_SIZE, READ_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at < 0 && at > -4096)
		return failed(c, "mmap", at);
	*(char *)at = 'x';
	c->state[AT] = at;
	return 0;
}

/* Measured: mprotect of a page to read-only. Undo: writable again. */
OP(mprotect_op, SYS(mprotect, c->state[AT], PAGE_SIZE, PROT_READ));

static int undo(struct cell *c, unsigned int i)
{
	long ret = SYS(mprotect, c->state[AT], PAGE_SIZE, READ_WRITE);

	/* A write fault makes the page table entry writable again. */
	if (ret >= 0)
		*(char *)c->state[AT] = 'x';
	return ret;
}

static int mprotect_check(struct cell *c)
{
	long ret = mprotect_op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(uname, c->state[AT]) != -EFAULT)
		return failed(c, "mprotect: it can be written to", 0);
	ret = undo(c, 0);
	if (ret < 0)
		return ret;
	return SYS(uname, c->state[AT]) ? failed(c, "mprotect: it cannot be written to", 0) : 0;
}

static void teardown(struct cell *c)
{
	SYS(munmap, c->state[AT], PAGE_SIZE);
}

BENCH("mprotect", PROCESS, PROCESS, 22, "mprotect of a page to read-only",
      .max_batch = 1, .variants = VARIANTS({ "4KB" }),
      .setup = mprotect_setup, .check = mprotect_check, .op = mprotect_op, .undo = undo,
      .teardown = teardown);
