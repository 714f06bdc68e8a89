/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slots: a name and a descriptor for each operation of a batch, in the measurement's buffer, so
 * that op() neither formats names nor shares files.
 *
 *	      0	names, SLOT_SIZE bytes each
 *	 32 KiB	descriptors
 *	 36 KiB	data, page-aligned: read, written or stat'ed
 */
#ifndef LSMETER_SLOTS_H
#define LSMETER_SLOTS_H

#include "bench.h"

/*
 * An aligned name. strnlen_user() reads aligned words, so the address of a literal, chosen by the
 * linker, would change counts.
 */
static const char padded_name[16] __attribute__((aligned(8), unused)) = "-lsmeter";
#define PADDED_NAME	(padded_name + 1)

/* All callbacks have the same parameters, and most benchmarks need only some of them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define SLOT_SIZE	64
#define MAX_SLOTS	512	/* max_batch of benchmarks that use names */
#define MAX_FD_SLOTS	256	/* well below the usual limit of 1024 */
/*
 * max_batch of benchmarks whose slots have state (an attribute's value, blocks). It is small, so
 * that the warm-up uses every slot and its memory is in its final place.
 */
#define WARM_SLOTS	64
#define SLOT_FDS	(MAX_SLOTS * SLOT_SIZE)
#define SLOT_DATA	(36 * 1024)
#define DATA_SIZE	(28 * 1024)	/* bytes at slot_data() */
#define SLOTS_OPEN	7		/* c->state[]: descriptors to close */

static inline char *slot_name(struct cell *c, unsigned int i)
{
	return c->buffer + i * SLOT_SIZE;
}

static inline int *slot_fd(struct cell *c, unsigned int i)
{
	return (int *)(c->buffer + SLOT_FDS) + i;
}

static inline char *slot_data(struct cell *c)
{
	return c->buffer + SLOT_DATA;
}

/* Makes dir ("AA/"), and different random names of equal length below it. */
static inline int slots_name(struct cell *c, const char *dir)
{
	int ret = make_dirs(dir);
	unsigned int i;

	if (ret < 0)
		return ret;
	if (c->batch > MAX_SLOTS)
		return -E2BIG;
	for (i = 0; i < c->batch; i++)
		format(slot_name(c, i), SLOT_SIZE, "%s%016lx%04x", dir,
		       (unsigned long)random_u64(c), i);
	return 0;
}

/* An undo(): of the slot's name, its descriptor, or its two adjacent descriptors. */
static inline int slot_unlink(struct cell *c, unsigned int i)
{
	return sys_unlink(slot_name(c, i));
}

static inline int slot_close(struct cell *c, unsigned int i)
{
	return sys_close(*slot_fd(c, i));
}

static inline int slot_close_two(struct cell *c, unsigned int i)
{
	sys_close(*slot_fd(c, 2 * i));
	return sys_close(*slot_fd(c, 2 * i + 1));
}

/* Makes a file of size bytes under every slot's name. */
static inline int slots_make_files(struct cell *c, size_t size)
{
	unsigned int i;
	int ret;

	for (i = 0; i < c->batch; i++) {
		ret = make_file(slot_name(c, i), size);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* A teardown(): closes the files of slots_open(). */
static inline void slots_close(struct cell *c)
{
	long i;

	for (i = 0; i < c->state[SLOTS_OPEN]; i++)
		sys_close(*slot_fd(c, i));
	c->state[SLOTS_OPEN] = 0;
}

/*
 * Opens a descriptor for every slot: path, or the slot's name if NULL. Opens all or none, because
 * the runner calls no teardown() after a failed setup().
 */
static inline int slots_open(struct cell *c, const char *path, int flags)
{
	unsigned int i;
	long fd;

	if (c->batch > MAX_FD_SLOTS)
		return -E2BIG;
	for (i = 0; i < c->batch; i++) {
		fd = sys_open(path ? path : slot_name(c, i), flags, 0);
		if (fd < 0) {
			slots_close(c);
			return fd;
		}
		*slot_fd(c, i) = fd;
		c->state[SLOTS_OPEN] = i + 1;
	}
	return 0;
}

/* Opens path as c->fd[n]. */
static inline int open_as(struct cell *c, int n, const char *path, int flags)
{
	long fd = sys_open(path, flags, 0644);

	if (fd < 0)
		return fd;
	c->fd[n] = fd;
	return 0;
}

/* For teardown(), and for a setup() that fails after open_as(). */
static inline void close_as(struct cell *c, int n)
{
	if (c->fd[n] > 0)
		sys_close(c->fd[n]);
	c->fd[n] = 0;
}

/* A teardown(): closes c->fd[0] of open_as(). */
static inline void close_file(struct cell *c)
{
	close_as(c, 0);
}

/* Whether the error means that the kernel or file system does not support the call. */
static inline int is_missing(long ret)
{
	return ret == -ENOSYS || ret == -EOPNOTSUPP;
}

#endif
