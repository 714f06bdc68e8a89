// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies a piece: one read from a 100 KB file and one write over another are one operation (section
 * 4.1). The measured region and the rewinding of files are as in read.c.
 */
#include "paths.h"

static int rewind_at_end(struct cell *c)
{
	long err;

	if (c->state[0] + c->variant->arg <= RW_FILE_SIZE)
		return 0;
	c->state[0] = 0;
	err = SYS(lseek, c->fd[0], 0, 0);
	if (err == 0)
		err = SYS(lseek, c->fd[1], 0, 0);
	return err < 0 ? err : 0;
}

static int setup(struct cell *c)
{
	long err;

	err = make_rw_file(c, "AA");
	if (err == 0)
		err = make_rw_file(c, "BB");
	if (err < 0)
		return failed(c, "writing the files", err);
	c->fd[0] = sys_open("AA", O_RDONLY, 0);
	if (c->fd[0] < 0)
		return failed(c, "open", c->fd[0]);
	c->fd[1] = sys_open("BB", O_RDWR, 0);
	if (c->fd[1] < 0) {
		sys_close(c->fd[0]);
		return failed(c, "open", c->fd[1]);
	}
	return 0;
}

SLOT(prepare, rewind_at_end(c));

static long op(struct cell *c, unsigned int i)
{
	long n;

	(void)i;
	if (c->state[0] + c->variant->arg > RW_FILE_SIZE) {
		n = rewind_at_end(c);
		if (n < 0)
			return n;
	}
	n = sys_read(c->fd[0], c->buffer, c->variant->arg);
	if (n < 0)
		return n;
	n = sys_write(c->fd[1], c->buffer, c->variant->arg);
	c->state[0] += c->variant->arg;
	return n;
}

/* Marks the target's first piece, which the copy must overwrite. */
static int check(struct cell *c)
{
	long n, k, length, size = c->variant->arg;

	memset(c->path, 'z', size);
	n = SYS(pwrite64, c->fd[1], c->path, size, 0);
	if (n != size)
		return failed(c, "pwrite", n);
	memset(c->buffer, 0, size);
	n = sys_read(c->fd[0], c->buffer, size);
	if (n != size)
		return failed(c, "read", n);
	n = sys_write(c->fd[1], c->buffer, size);
	if (n != size)
		return failed(c, "write", n);
	n = SYS(pread64, c->fd[1], c->path, size, 0);
	if (n != size)
		return failed(c, "pread", n);
	for (k = 0; k < size; k++)
		if (c->path[k] != 'x')
			return failed(c, "copy: not what was read", 0);
	n = file_size("BB", &length);
	if (n < 0 || length != RW_FILE_SIZE)
		return failed(c, "copy: the file's size has changed", n);
	n = SYS(lseek, c->fd[0], 0, 0);
	if (n == 0)
		n = SYS(lseek, c->fd[1], 0, 0);
	return n < 0 ? failed(c, "lseek", n) : 0;
}

static void teardown(struct cell *c)
{
	sys_close(c->fd[0]);
	sys_close(c->fd[1]);
}

BENCH("copy", READ_WRITE, PAPER, 14, "read from a 100 KB file, write over another",
      .source = "LMBench-Hook, Table 3 no. 14, section 4.1", .syscalls = "read write",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT, .variants = rw_variants,
      .setup = setup, .check = check, .prepare = prepare, .op = op, .teardown = teardown);
