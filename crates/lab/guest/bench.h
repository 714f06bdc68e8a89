/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A benchmark. A file under bench/ declares one or several with BENCH(), which fills in a struct
 * benchmark; nothing else refers to them.
 *
 * The runner (runner.c) runs every benchmark the same way:
 *
 *	setup()                         once per measurement, working directory is
 *	                                empty and current
 *	check()                         once: do the calls have the intended effect?
 *	for each batch:
 *		prepare(i)              for each operation i of the batch
 *		op(i)                   for each i: THE MEASURED REGION
 *		undo(i)                 for each i
 *	teardown()                      once; the runner then empties the
 *	                                working directory
 *
 * i runs from 0 to the batch's size - 1 and restarts at 0 in every batch, so prepare/op/undo may
 * use it as a slot for names and descriptors. For exact counts the batch is one operation; i still
 * counts up to max_batch - 1 and wraps, so that names vary as in a timed run.
 *
 * Every function returns 0 (or a non-negative result) or -errno. op() must not loop or print, and
 * checks only the sign of its system calls' results.
 */
#ifndef LSMETER_BENCH_H
#define LSMETER_BENCH_H

#include "sys.h"

/* The paper's eight classes of file access (section 4.1), classes of other calls, and the floor. */
enum bench_class {
	CLASS_FILE,		/* open, rename, creat */
	CLASS_DIR,		/* mkdir, rmdir, getdents64 */
	CLASS_LINK,		/* link, unlink, symlink, readlink */
	CLASS_ATTR,		/* chmod, stat, access, truncate */
	CLASS_XATTR,		/* getxattr, setxattr */
	CLASS_DESCRIPTOR,	/* dup, fcntl, ioctl, flock */
	CLASS_READ_WRITE,	/* read, write, sendfile, mmap */
	CLASS_EVENT,		/* inotify_add_watch */
	CLASS_PROCESS,		/* fork, execve */
	CLASS_SOCKET,		/* socket, bind, connect, getsockopt */
	CLASS_MESSAGE,		/* sendto and recvfrom, msgsnd, a pipe's read and write */
	CLASS_IPC,		/* creation and control of pipes, queues and shared memory */
	CLASS_SIGNAL,		/* kill, pidfd_send_signal */
	CLASS_TRACE,		/* ptrace, process_vm_readv, perf_event_open, bpf */
	CLASS_CREDENTIALS,	/* setuid, capset, prctl */
	CLASS_SCHEDULING,	/* sched_setscheduler, setpriority, prlimit64 */
	CLASS_NAMESPACE,	/* unshare, setns */
	CLASS_ADMIN,		/* mount, sysctl, keyctl */
	CLASS_FLOOR,		/* getppid */
};

/* A benchmark's origin; also the order of listing. */
enum bench_suite {
	SUITE_PAPER,		/* LMBench-Hook, Table 3 */
	SUITE_LMBENCH,		/* LMbench rows of LSMPMON, Tables 3 and 4 */
	SUITE_HOWELLS,		/* the tree walk from the e-mail about the credentials patch */
	SUITE_BEYOND,		/* file system calls that the paper and LSMPMON do not measure */
	SUITE_NETWORK,		/* sockets, on the loopback interface */
	SUITE_IPC,		/* pipes, queues, signals, operations on other tasks */
	SUITE_PROCESS,		/* tasks, their credentials, limits and namespaces */
	SUITE_ADMIN,		/* mounts, keys, the kernel's settings */
};

#define MEASURE_LATENCY		1	/* instructions or ns per operation */
#define MEASURE_THROUGHPUT	2	/* operations per second over a fixed time */
#define MEASURE_MEMORY		4	/* bytes in use: settings/memory.c only */

struct variant {
	const char *name;	/* as listed: "AA/BB", "4KB", "depth3" */
	const char *path;	/* free for the benchmark */
	long arg;		/* free for the benchmark: a depth, a size */
	long arg2;
	/*
	 * In exact counts, this many operations run between one round of prepare() and one of
	 * undo(), and no other number is measured. 0: each operation is prepared and undone by
	 * itself.
	 */
	unsigned int together;
	/*
	 * The number of components in the only path that an operation walks, straight down (AA/BB:
	 * 2). 0: there is no such path, or its length is irrelevant.
	 */
	unsigned int depth;
	/*
	 * Required kernel modules, separated by blanks. A machine booted for the benchmark loads
	 * those that are not built in, with their dependencies. setup() checks that everything is
	 * available.
	 */
	const char *modules;
	/* Measured system calls, if different from the benchmark's. */
	const char *syscalls;
};

/* Bytes of a reason; with custom policies it includes a line of the kernel log. */
#define REASON_MAX	448

/* State of one measurement. Zeroed before setup(). */
struct cell {
	const struct variant *variant;
	unsigned int batch;	/* largest i + 1 in this measurement */
	int fd[8];		/* free for the benchmark, which also closes them */
	char *buffer;		/* 64 KiB, page-aligned, zeroed before setup() */
	char path[4096];	/* free for the benchmark */
	char path2[4096];
	long state[8];		/* free for the benchmark */
	u64 random;		/* same seed for each measurement: random_u64() */
	unsigned int number;	/* of the process, whose files have names of their own */
	int is_named;		/* names can differ, also without a path in the variant */
	char reason[REASON_MAX];	/* set by unsupported() */
};

struct benchmark {
	const char *name;
	const char *summary;	/* one line for `lsmeter list benchmarks` */
	const char *source;	/* paper section or table, e-mail, man page */
	const char *syscalls;	/* measured, in order: "open close" */
	const struct variant *variants;	/* ends with a NULL name */
	enum bench_class class;
	enum bench_suite suite;
	unsigned int number;	/* order within the suite */
	unsigned int measures;	/* MEASURE_* */
	/*
	 * Limit of operations prepared before the first is undone; 0: no limit. mkdir has 9,437
	 * distinct names, so 9437.
	 */
	unsigned int max_batch;
	/*
	 * op() calls window_begin() and window_end() itself, any number of times: the operation is
	 * the sum of these regions (a tree walk). All operations of a measurement must open the
	 * same regions in the same order.
	 */
	unsigned int composite : 1;
	/* Work of processes created in the region belongs to the operation. */
	unsigned int counts_children : 1;
	/* Required number of operations; 0: the caller decides. */
	unsigned int repetitions;
	/*
	 * One untimed prepare/undo pair serves the whole batch: op(i) leaves nothing behind (stat,
	 * read). It also saves the calls of NULL prepare/undo.
	 */
	int (*setup)(struct cell *c);
	int (*check)(struct cell *c);
	int (*prepare)(struct cell *c, unsigned int i);
	long (*op)(struct cell *c, unsigned int i);
	int (*undo)(struct cell *c, unsigned int i);
	void (*teardown)(struct cell *c);
};

/*
 * Registers a benchmark: a pointer in the section that the runner walks.
 *
 *	BENCH("access", ATTR, BEYOND, 4, "access of a regular file for reading",
 *	      .variants = VARIANTS({ "AA/BB", .depth = 2 }),
 *	      .setup = setup, .check = check, .op = op);
 *
 * The arguments are name, class, suite, number in the suite and summary, then other fields. By
 * default, a benchmark named access measures the latency of access, from access(2).
 */
#define BENCH(_name, _class, _suite, _number, _summary, ...)		\
	static const struct benchmark *const BENCH_ENTRY(__LINE__)	\
	__attribute__((used, section("benchmarks"))) =			\
		&(const struct benchmark) {				\
			.name = _name,					\
			.summary = _summary,				\
			.source = _name "(2)",				\
			.syscalls = _name,				\
			.class = CLASS_##_class,			\
			.suite = SUITE_##_suite,			\
			.number = _number,				\
			.measures = MEASURE_LATENCY,			\
			__VA_ARGS__					\
		}
#define BENCH_ENTRY(line)	BENCH_ENTRY_(line)
#define BENCH_ENTRY_(line)	bench_##line
#define VARIANTS(...)		(const struct variant[]) { __VA_ARGS__, { } }

/* Fields given explicitly replace the defaults of BENCH(). */
#pragma GCC diagnostic ignored "-Woverride-init"

/* One-call functions: an op(), a prepare() or undo(), a setup() or check(). */
#define OP(name, call)		ONE_CALL(long name(struct cell *c, unsigned int i), call, (void)i)
#define SLOT(name, call)	ONE_CALL(int name(struct cell *c, unsigned int i), call, (void)i)
#define SETUP(name, call)	ONE_CALL(int name(struct cell *c), call, (void)0)
#define ONE_CALL(head, call, unused)					\
	static head							\
	{								\
		(void)c, unused;					\
		return call;						\
	}								\
	_Static_assert(1, "a semicolon follows")

/* Fails setup() or check() with a reason shown to the user: "unsupported". */
#define UNSUPPORTED	(-4096)
int unsupported(struct cell *c, const char *reason, long error);

/*
 * Any other failure, with the failed call: "rename: ENOSPC (28)". A non-negative error means a
 * wrong result. Returns -errno.
 */
int failed(struct cell *c, const char *call, long error);

/* The path of a program that exits with 0 at once. */
extern char exit_program[];

/* For check(): returns the error of a call, or failed() with `what` if its result is wrong. */
int wrong_if(struct cell *c, long ret, int wrong, const char *what);

/* Deterministic: the same names with every stack and in every boot. */
u64 random_u64(struct cell *c);

/*
 * Markers: no-op instructions, made by the architecture's marker(kind), which the QEMU plugin
 * recognises at translation. counts/plugin/markers.h defines the same numbers; lab's build checks
 * that they agree.
 */
#define MARKER_MAGIC		0x4c534d00	/* "LSM\0" */
#define MARKER_ARM		1	/* start instrumenting */
#define MARKER_CELL_BEGIN	2	/* the next measurement of the experiment */
#define MARKER_CELL_END		3
#define MARKER_OP_BEGIN		4	/* around a composite operation */
#define MARKER_OP_END		5
#define MARKER_WINDOW_BEGIN	6
#define MARKER_WINDOW_END	7
#define MARKER_WINDOW_BEGIN_ALL	8	/* children's work counts too */
#define MARKER_DISARM		9	/* stop instrumenting */
#define MARKER_AGENT		10	/* from now on only markers in this page count */
#define MARKER_READY		11	/* the machine is copied here: see serve.h */
#define MARKER_END		12	/* a copy has finished its measurement */

static inline void window_begin(void)
{
	marker(MARKER_WINDOW_BEGIN);
}

static inline void window_end(void)
{
	marker(MARKER_WINDOW_END);
}

#endif
