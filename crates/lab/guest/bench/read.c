// SPDX-License-Identifier: GPL-2.0-or-later
#include "paths.h"

static int rewind_at_end(struct cell *c)
{
	long err;

	if (c->state[0] + c->variant->arg <= RW_FILE_SIZE)
		return 0;
	c->state[0] = 0;
	err = SYS(lseek, c->fd[0], 0, 0);
	return err < 0 ? err : 0;
}

static int read_setup(struct cell *c)
{
	long err;

	err = make_rw_file(c, "AA");
	if (err < 0)
		return failed(c, "writing the file", err);
	c->fd[0] = sys_open("AA", O_RDONLY, 0);
	return c->fd[0] < 0 ? failed(c, "open", c->fd[0]) : 0;
}

SLOT(prepare, rewind_at_end(c));

/*
 * read in pieces from a 100 KB file, from the start again after its end. Only the read is measured
 * (section 4.1: each read is one operation), without the open and close that surround all reads in
 * Table 3. In exact counts, prepare() seeks to the start; in a timed batch, op() has to do so once
 * in 25 to 100 reads, which costs less than half a per cent.
 */
static long read_op(struct cell *c, unsigned int i)
{
	long n;

	(void)i;
	if (c->state[0] + c->variant->arg > RW_FILE_SIZE) {
		n = rewind_at_end(c);
		if (n < 0)
			return n;
	}
	n = sys_read(c->fd[0], c->buffer, c->variant->arg);
	c->state[0] += c->variant->arg;
	return n;
}

static int read_check(struct cell *c)
{
	long n, total = 0, size = c->variant->arg, k;

	do {
		memset(c->buffer, 0, size);
		n = sys_read(c->fd[0], c->buffer, size);
		if (n < 0)
			return failed(c, "read", n);
		for (k = 0; k < n; k++)
			if (c->buffer[k] != 'x')
				return failed(c, "read: not what was written", 0);
		total += n;
	} while (n && total <= RW_FILE_SIZE);
	if (size && total != RW_FILE_SIZE)
		return failed(c, "read: the file has another size", 0);
	n = SYS(lseek, c->fd[0], 0, 0);
	return n < 0 ? failed(c, "lseek", n) : 0;
}

static void teardown(struct cell *c)
{
	sys_close(c->fd[0]);
}

BENCH("read", READ_WRITE, PAPER, 12, "read from a 100 KB file",
      .source = "LMBench-Hook, Table 3 no. 12, section 4.1",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT, .variants = rw_variants,
      .setup = read_setup, .check = read_check, .prepare = prepare, .op = read_op,
      .teardown = teardown);

static int write_setup(struct cell *c)
{
	long err;

	err = make_rw_file(c, "AA");
	if (err < 0)
		return failed(c, "writing the file", err);
	c->fd[0] = sys_open("AA", O_WRONLY, 0);
	if (c->fd[0] < 0)
		return failed(c, "open", c->fd[0]);
	memset(c->buffer, 'y', c->variant->arg);
	return 0;
}

/*
 * write in pieces over an existing 100 KB file, from the start again after its end. The measured
 * region and the rewinding are as for read.
 */
static long write_op(struct cell *c, unsigned int i)
{
	long n;

	(void)i;
	if (c->state[0] + c->variant->arg > RW_FILE_SIZE) {
		n = rewind_at_end(c);
		if (n < 0)
			return n;
	}
	n = sys_write(c->fd[0], c->buffer, c->variant->arg);
	c->state[0] += c->variant->arg;
	return n;
}

static int write_check(struct cell *c)
{
	long n, k, size = c->variant->arg, length, fd;

	n = sys_write(c->fd[0], c->buffer, size);
	if (n != size)
		return failed(c, "write", n);
	fd = sys_open("AA", O_RDONLY, 0);
	if (fd < 0)
		return failed(c, "open", fd);
	n = sys_read(fd, c->path, size ? size : 1);
	sys_close(fd);
	if (n != (size ? size : 1))
		return failed(c, "read", n);
	for (k = 0; k < n; k++)
		if (c->path[k] != (size ? 'y' : 'x'))
			return failed(c, "write: not what was written", 0);
	n = file_size("AA", &length);
	if (n < 0 || length != RW_FILE_SIZE)
		return failed(c, "write: the file's size has changed", n);
	n = SYS(lseek, c->fd[0], 0, 0);
	return n < 0 ? failed(c, "lseek", n) : 0;
}

BENCH("write", READ_WRITE, PAPER, 13, "write over a 100 KB file",
      .source = "LMBench-Hook, Table 3 no. 13, section 4.1",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT, .variants = rw_variants,
      .setup = write_setup, .check = write_check, .prepare = prepare, .op = write_op,
      .teardown = teardown);
