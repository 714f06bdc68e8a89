// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs one measurement, from its new directory to the frame that reports it. */
#include <linux/elf.h>
#include "agent.h"
#include "settings/given.h"
#include "settings/memory.h"

#define RANDOM_SEED	0x6c736d65746572ull
#ifndef ARCH_RESIDENT
#define STACK_TOUCHED	(128 * 1024)
#endif

char scratch[65536] __attribute__((aligned(PAGE_SIZE)));
static struct cell cell;
int is_last;
static long work = -1;	/* the working directory */
struct sample cell_samples[SAMPLES_MAX];

#ifndef ARCH_RESIDENT
extern const Elf64_Ehdr __ehdr_start;	/* from the linker */
#endif

int unsupported(struct cell *c, const char *reason, long error)
{
	if (error)
		format(c->reason, sizeof(c->reason), "%s: %s (%ld)", reason,
		       errno_name(error), error < 0 ? -error : error);
	else
		format(c->reason, sizeof(c->reason), "%s", reason);
	return UNSUPPORTED;
}

int failed(struct cell *c, const char *call, long error)
{
	if (error < 0)
		format(c->reason, sizeof(c->reason), "%s: %s (%ld)", call,
		       errno_name(error), -error);
	else
		format(c->reason, sizeof(c->reason), "%s", call);
	return error < 0 ? error : -EIO;
}

int wrong_if(struct cell *c, long ret, int wrong, const char *what)
{
	return ret < 0 ? ret : wrong ? failed(c, what, 0) : 0;
}

int explain(struct cell *c, const char *what, long error)
{
	if (!c->reason[0])
		format(c->reason, sizeof(c->reason), "%s: %s (%ld)", what,
		       errno_name(error), -error);
	return error;
}

/* splitmix64. Any seed works, and every measurement starts with the same one. */
u64 random_u64(struct cell *c)
{
	u64 z = c->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

#ifdef ARCH_RESIDENT
void touch_memory(void)
{
}
#else
static __attribute__((noinline)) void touch_stack(void)
{
	volatile char stack[STACK_TOUCHED];
	size_t i;

	for (i = 0; i < sizeof(stack); i += PAGE_SIZE)
		stack[i] = 0;
}

void touch_memory(void)
{
	const Elf64_Phdr *phdr = (const void *)((const char *)&__ehdr_start +
						__ehdr_start.e_phoff);
	u64 at, end;
	int i;

	for (i = 0; i < __ehdr_start.e_phnum; i++) {
		if (phdr[i].p_type != PT_LOAD || !(phdr[i].p_flags & PF_W))
			continue;
		end = phdr[i].p_vaddr + phdr[i].p_memsz;
		for (at = phdr[i].p_vaddr; at < end;
		     at = (at | (PAGE_SIZE - 1)) + 1) {
			volatile char *p = (volatile char *)at;

			*p = *p;
		}
	}
	touch_stack();
}
#endif

static int measure(const struct cell_spec *spec, struct outcome *out)
{
	switch (spec->metric) {
	case METRIC_INSTRUCTIONS:
		if (is_program(spec))
			return count_program(spec, &cell, out);
		return count_instructions(spec, &cell, out);
	case METRIC_TIME:
		return measure_time(spec, &cell, out);
	case METRIC_THROUGHPUT:
		return measure_throughput(spec, &cell, out);
	case METRIC_MEMORY:
		return measure_memory(spec, &cell, out);
	}
	return -EINVAL;
}

static int set_up(const struct cell_spec *spec)
{
	const struct benchmark *b = spec->benchmark;
	long err = 0;

#ifdef ARCH_LACKS
	const char *lack = ARCH_LACKS(b);

	if (lack)
		return unsupported(&cell, lack, 0);
#endif
	if (b->setup)
		err = b->setup(&cell);
	return err < 0 ? explain(&cell, "setup", err) : 0;
}

/* After setup(): check, measure, teardown. */
static int run_set_up(const struct cell_spec *spec, struct outcome *out)
{
	const struct benchmark *b = spec->benchmark;
	long err = 0;

	if (b->check)
		err = b->check(&cell);
	if (err < 0) {
		explain(&cell, "check", err);
	} else {
		touch_memory();
		err = measure(spec, out);
	}
	if (b->teardown && !is_last)
		b->teardown(&cell);
	return err < 0 ? err : 0;
}

/* Creates and enters an empty directory for the measurement. */
static int enter_fresh_directory(void)
{
	long err = SYS(fchdir, work);

	if (err < 0)
		return explain(&cell, "fchdir to the working directory", err);
	err = remove_tree("cell");
	if (err < 0)
		return explain(&cell, "emptying the cell's directory", err);
	err = sys_mkdir("cell", 0755);
	if (err < 0)
		return explain(&cell, "mkdir of the cell's directory", err);
	err = SYS(chdir, "cell");
	if (err < 0)
		return explain(&cell, "chdir to the cell's directory", err);
	return 0;
}

static u32 wanted_of(const struct cell_spec *spec)
{
	switch (spec->metric) {
	case METRIC_THROUGHPUT:
		return MEASURE_THROUGHPUT;
	case METRIC_MEMORY:
		return MEASURE_MEMORY;
	default:
		return MEASURE_LATENCY;
	}
}

static int run_in_directory(const struct cell_spec *spec, struct outcome *out)
{
	const struct benchmark *b = spec->benchmark;
	u32 wanted = wanted_of(spec);
	long err;

	memset(&cell, 0, sizeof(cell));
	memset(scratch, 0, sizeof(scratch));
	cell.variant = spec->variant;
	cell.batch = batch_limit(spec);
	cell.buffer = scratch;
	cell.random = RANDOM_SEED;

	if (!(b->measures & wanted)) {
		failed(&cell, wanted == MEASURE_THROUGHPUT ?
		       "this benchmark has no throughput" :
		       "this benchmark has no such metric", 0);
		return -EINVAL;
	}
	err = enter_fresh_directory();
	if (err < 0)
		return err;
	if (spec->metric == METRIC_MEMORY)
		return run_set_up(spec, out);
	return given_run(spec, &cell, out, set_up, run_set_up, enter_fresh_directory);
}

static void run_cell(const struct cell_spec *spec)
{
	struct outcome out = { 0 };
	u8 status = STATUS_OK;
	u8 id[4] = { spec->id, spec->id >> 8, spec->id >> 16, spec->id >> 24 };
	int result;
	long err;

	send_frame(FRAME_CELL_BEGIN, id, sizeof(id));
	result = run_in_directory(spec, &out);
	if (result == UNSUPPORTED)
		status = STATUS_UNSUPPORTED;
	else if (result < 0)
		status = STATUS_FAILED;
	if (spec->metric == METRIC_INSTRUCTIONS && !out.samples) {
		/* Nothing was counted, but counts are matched to measurements in order. */
		if (is_program(spec)) {
			count_no_program();
		} else {
			marker(MARKER_CELL_BEGIN);
			marker(MARKER_CELL_END);
		}
	}

	err = SYS(fchdir, work);
	or_fatal(err, "fchdir to the working directory");
	err = is_last ? 0 : remove_tree("cell");
	if (err < 0)
		send_log("cell %u: its directory cannot be removed: %s (%ld)",
			 spec->id, errno_name(err), -err);
	if ((spec->metric != METRIC_INSTRUCTIONS || is_program(spec)) && status == STATUS_OK)
		send_samples(spec->id, cell_samples, out.samples);
	send_cell_end(spec->id, status, &out,
		      status == STATUS_OK ? "" : cell.reason);
}

static void pin(void)
{
	u64 mask[128] = { 0 };
	long err;

	if (experiment.processor < 0)
		return;
	mask[experiment.processor / 64] = 1ull << (experiment.processor % 64);
	err = SYS(sched_setaffinity, 0, sizeof(mask), mask);
	if (err < 0)
		send_log("not pinned to processor %d: %s (%ld)",
			 experiment.processor, errno_name(err), -err);
}

/*
 * Translates code that all copies share before there are any, and triggers the kernel's one-time
 * initialisations.
 */
static void warm_up(void)
{
	static const char *const shared[] = {
		"getppid", "open", "stat", "read", "write", "creat", "unlink", "mkdir", "rmdir",
		"rename", "symlink", "link", "chmod", "truncate", "getdents64", "setxattr", "mmap",
		"fork", "execve", "openat", "fstatat", "unlinkat", "mkdirat", "renameat",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shared); i++) {
		struct cell_spec spec = { .metric = METRIC_INSTRUCTIONS, .warmup = 4 };
		struct outcome out = { 0 };

		spec.benchmark = find_benchmark(shared[i]);
		if (!spec.benchmark)
			continue;
		spec.variant = &spec.benchmark->variants[0];
		run_in_directory(&spec, &out);
		SYS(fchdir, work);
		remove_tree("cell");
	}
}

void run_cells(int in_vm)
{
	unsigned int i, armed = 0;
	int is_copied = in_vm && !experiment.cells;

	if (is_copied)
		ready_start();
	work = sys_open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	or_fatal(work, "opening the working directory");
	SYS(umask, 022);
	pin();
	touch_memory();
	/*
	 * MCL_FUTURE is not used, because mmap() would then populate its mappings, which would
	 * change the mmap benchmark. If this is not permitted, pages may be swapped out, but
	 * results remain correct.
	 */
	SYS(mlockall, 1 /* MCL_CURRENT */);
	if (is_copied) {
		/*
		 * Programs are counted after their first run, which takes long. For memory,
		 * nothing is counted.
		 */
		armed = !programs && !experiment.of_memory;
		if (armed) {
			marker(MARKER_ARM);
			warm_up();
		}
		send_frame(FRAME_DONE, "", 0);
		vm_drain();
		if (!ready())
			return;
		is_last = 1;
	}
	delays_check();
	for (i = 0; i < experiment.cells; i++) {
		const struct cell_spec *spec = &experiment.cell[i];

		if (spec->metric == METRIC_INSTRUCTIONS && !is_program(spec) && !armed) {
			marker(MARKER_ARM);
			armed = 1;
		}
		run_cell(spec);
	}
	if (armed && !is_last)
		marker(MARKER_DISARM);
	sys_close(work);
}
