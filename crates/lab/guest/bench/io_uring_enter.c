// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: io_uring_enter that submits an operation and finds it completed: a no-op (`nop`), read
 * of 1 KB from /dev/zero, openat, a no-op with registered credentials (`personality`), or a command
 * that /dev/null always accepts (`uring-cmd`). Undo: close of the opened file. A regular file would
 * not work: some file systems (tmpfs) have another task read it.
 */
#include <linux/mman.h>
#include <linux/io_uring.h>
#include <linux/stat.h>
#include "slots.h"

#define RING		0	/* c->fd[] */
#define FILE		1
#define BYTES		1024
#define RINGS		0	/* c->state[]: address of the mapping */
#define ENTRIES		1
#define SIZE		2	/* of the rings */
#define LINKS_OF_ONE_TASK	3	/* of /proc/self/task */
#define PERSONALITY	1	/* arg2 of variants */
#define READ_WRITE	(PROT_READ | PROT_WRITE)
/* Large enough that the ring seldom wraps around, which takes another path. */
#define COMPLETIONS	512

static struct io_uring_params *params(struct cell *c)
{
	return (struct io_uring_params *)slot_name(c, 0);
}

static u32 *ring(struct cell *c, u32 offset)
{
	return (u32 *)(c->state[RINGS] + offset);
}

static struct io_uring_cqe *completed(struct cell *c)
{
	struct io_cqring_offsets *at = &params(c)->cq_off;
	u32 last = *ring(c, at->tail) - 1;

	return (struct io_uring_cqe *)ring(c, at->cqes) + (last & *ring(c, at->ring_mask));
}

static void describe(struct cell *c, struct io_uring_sqe *sqe)
{
	sqe->opcode = c->variant->arg;
	sqe->fd = c->variant->arg == IORING_OP_OPENAT ? AT_FDCWD : c->fd[FILE];
	if (c->variant->arg == IORING_OP_READ) {
		sqe->addr = (u64)slot_data(c);
		sqe->len = BYTES;
	} else if (c->variant->arg == IORING_OP_OPENAT) {
		sqe->addr = (u64)"file";
	}
}

/* The process's own credentials, in place of others. */
static long register_personality(struct cell *c, struct io_uring_sqe *sqe)
{
	long id = SYS(io_uring_register, c->fd[RING], IORING_REGISTER_PERSONALITY, NULL, 0);

	if (id > 0)
		sqe->personality = id;
	return id;
}

static void teardown(struct cell *c)
{
	if (c->state[RINGS])
		SYS(munmap, c->state[RINGS], c->state[SIZE]);
	if (c->state[ENTRIES])
		SYS(munmap, c->state[ENTRIES], PAGE_SIZE);
	close_as(c, RING);
	close_as(c, FILE);
}

static long map(struct cell *c, size_t size, u64 offset)
{
	return SYS(mmap, NULL, size, READ_WRITE, MAP_SHARED | MAP_POPULATE, c->fd[RING], offset);
}

static int setup(struct cell *c)
{
	long ret = make_file("file", 0);

	if (!ret)
		ret = open_as(c, FILE, c->variant->path, O_RDONLY);
	if (ret < 0)
		return ret;
	params(c)->flags = IORING_SETUP_CQSIZE;
	params(c)->cq_entries = COMPLETIONS;
	ret = SYS(io_uring_setup, 1, params(c));
	if (ret == -ENOSYS || ret == -EPERM) {
		close_as(c, FILE);
		return unsupported(c, "no io_uring here", ret);
	}
	if (ret < 0)
		return failed(c, "io_uring_setup", ret);
	c->fd[RING] = ret;
	c->state[SIZE] = params(c)->cq_off.cqes +
			 params(c)->cq_entries * sizeof(struct io_uring_cqe);
	ret = map(c, c->state[SIZE], IORING_OFF_SQ_RING);
	if (ret < 0 && ret > -4096) {
		teardown(c);
		return unsupported(c, "its rings cannot be mapped", ret);
	}
	c->state[RINGS] = ret;
	ret = map(c, PAGE_SIZE, IORING_OFF_SQES);
	if (ret < 0 && ret > -4096) {
		teardown(c);
		return failed(c, "mmap", ret);
	}
	c->state[ENTRIES] = ret;
	describe(c, (struct io_uring_sqe *)ret);
	if (c->variant->arg2 != PERSONALITY)
		return 0;
	ret = register_personality(c, (struct io_uring_sqe *)ret);
	if (ret > 0)
		return 0;
	teardown(c);
	return unsupported(c, "this kernel's io_uring takes no credentials", ret);
}

static int prepare(struct cell *c, unsigned int i)
{
	/* The ring's only entry, again. */
	++*ring(c, params(c)->sq_off.tail);
	return 0;
}

OP(op, SYS(io_uring_enter, c->fd[RING], 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));

static int undo(struct cell *c, unsigned int i)
{
	int result = completed(c)->res;

	*ring(c, params(c)->cq_off.head) = *ring(c, params(c)->cq_off.tail);
	if (result < 0)
		return result;
	return c->variant->arg == IORING_OP_OPENAT ? sys_close(result) : 0;
}

/*
 * Whether a ring worker runs the operation, as happens for a path walk that must wait, and in some
 * kernels for any read of a device. Then there is one more task, or no completion yet. This is
 * tried in a child, whose end also ends the worker. Otherwise the worker would share the agent's
 * descriptor table and make later measurements more expensive.
 */
static int is_left_to_worker(struct cell *c)
{
	struct statx tasks = { 0 };
	int status = 0;
	long child;

	child = SYS(fork);
	if (!child) {
		u32 before = *ring(c, params(c)->cq_off.tail);

		prepare(c, 0);
		SYS(io_uring_enter, c->fd[RING], 1, 0, 0, NULL, 0);
		SYS(statx, AT_FDCWD, "/proc/self/task", 0, STATX_NLINK, &tasks);
		SYS(exit_group, tasks.stx_nlink > LINKS_OF_ONE_TASK ||
				*ring(c, params(c)->cq_off.tail) == before);
	}
	if (child == -ENOSYS)
		return 0;
	if (child < 0)
		return failed(c, "fork", child);
	while (SYS(wait4, child, &status, 0, NULL) == -EINTR)
		;
	*ring(c, params(c)->cq_off.head) = *ring(c, params(c)->cq_off.tail);
	return status ? unsupported(c, "a ring worker runs it", 0) : 0;
}

static int check(struct cell *c)
{
	long ret;

	if (c->variant->arg == IORING_OP_OPENAT || c->variant->arg == IORING_OP_READ) {
		ret = is_left_to_worker(c);
		if (ret)
			return ret;
	}
	slot_data(c)[BYTES - 1] = 'x';
	prepare(c, 0);
	ret = op(c, 0);
	if (ret == 1 && (completed(c)->res == -EINVAL || completed(c)->res == -EOPNOTSUPP))
		return unsupported(c, "this kernel's io_uring has no such operation", 0);
	if (ret != 1)
		return failed(c, "io_uring_enter: wrong result", ret);
	if (c->variant->arg == IORING_OP_READ &&
	    (completed(c)->res != BYTES || slot_data(c)[BYTES - 1]))
		return failed(c, "io_uring_enter: wrong bytes", completed(c)->res);
	ret = undo(c, 0);
	if (ret < 0 || c->variant->arg2 != PERSONALITY)
		return ret;
	/* No other credentials are registered. */
	++((struct io_uring_sqe *)c->state[ENTRIES])->personality;
	prepare(c, 0);
	ret = op(c, 0);
	--((struct io_uring_sqe *)c->state[ENTRIES])->personality;
	if (ret != 1 || undo(c, 0) != -EINVAL)
		return failed(c, "io_uring_enter: wrong credentials", 0);
	return 0;
}

BENCH("io_uring_enter", IPC, IPC, 26,
      "an operation through a ring, completed when the call returns",
      .max_batch = 1,
      .variants = VARIANTS({ "nop", .path = "/dev/zero", .arg = IORING_OP_NOP },
			   { "read-1KB", .path = "/dev/zero", .arg = IORING_OP_READ },
			   { "openat", .path = "/dev/zero", .arg = IORING_OP_OPENAT },
			   { "personality", .path = "/dev/zero", .arg = IORING_OP_NOP,
			     .arg2 = PERSONALITY },
			   { "uring-cmd", .path = "/dev/null", .arg = IORING_OP_URING_CMD }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = teardown);
