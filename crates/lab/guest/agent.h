/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent's own files share; benchmarks see bench.h only. */
#ifndef LSMETER_AGENT_H
#define LSMETER_AGENT_H

#include "bench.h"

/* errors.c */
const char *errno_name(long error);	/* "ENOENT"; "errno" if unknown */

/* clock.c: CLOCK_MONOTONIC_RAW, through the vDSO where there is one. */
void clock_start(const u64 *auxv);
u64 now_ns(void);
u64 busy_ns(void);			/* of the caller on the processor: no idle, no others */
extern u64 clock_cost_ns;		/* one reading of the clock, least seen */

/* undisturbed.c: whether others are at this processor's core, where that can be waited for. */
#ifdef ARCH_WAIT_MS
extern u32 undisturbed_ratio;		/* of a probe, per mille: least seen here or in earlier boots */
extern u32 pace_ns;			/* what the processor took for a probe's work at the start */
void undisturbed_start(void);
void undisturbed_next_cell(void);	/* all cells together may wait ARCH_WAIT_MS for each */
int undisturbed_wait(void);		/* was such a moment found? */
int undisturbed(void);			/* is this one? */
int undisturbed_lost(u64 ns);		/* a sample was in vain: is there any time left? */
u64 at_pace(u64 ns);			/* what a time of this cell is at the pace of earlier boots */
#else
static inline u64 at_pace(u64 ns)
{
	return ns;
}

static inline void undisturbed_start(void)
{
}

static inline void undisturbed_next_cell(void)
{
}

static inline int undisturbed_wait(void)
{
	return 1;
}

static inline int undisturbed(void)
{
	return 1;
}

static inline int undisturbed_lost(u64 ns)
{
	return ns != 0;
}
#endif

/* protocol.c: frames as docs/protocol.md has them. */
enum frame_type {
	FRAME_HELLO = 1,
	FRAME_CELL_BEGIN = 2,
	FRAME_SAMPLES = 3,
	FRAME_CELL_END = 4,
	FRAME_LOG = 5,
	FRAME_DONE = 6,
	FRAME_FAILED = 7,
	FRAME_MODULES = 8,
	FRAME_STEP = 9,
	FRAME_ASKED = 10,
	FRAME_UNDELAYED = 11,
	FRAME_TASKS = 12,
	FRAME_EXPERIMENT = 16,
	FRAME_RUN = 17,
};

#define FRAME_PAYLOAD_MAX	65536u

struct sample {
	u64 operations;
	u64 ns;
};

void protocol_start(int in, int out);
void protocol_forget(void);		/* send nothing from now on */
/* Frames go there from now on; and one that comes from there is sent. */
void protocol_relay(void (*to)(enum frame_type type, const void *frame, size_t len));
void protocol_pass(const void *frame, size_t len);
void send_frame(enum frame_type type, const void *payload, size_t len);
void send_text(enum frame_type type, const char *fmt, __builtin_va_list args);
void send_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void send_hello(void);
void send_samples(u32 cell, const struct sample *samples, unsigned int count);
struct outcome;
void send_cell_end(u32 cell, u8 status, const struct outcome *out, const char *reason);
/* One frame from the host: its type; payload gets *len bytes and a NUL. */
enum frame_type read_frame(char payload[FRAME_PAYLOAD_MAX + 1], u32 *len);

/* experiment.c */
enum metric {
	METRIC_INSTRUCTIONS,
	METRIC_TIME,
	METRIC_THROUGHPUT,
	METRIC_MEMORY,
};

#define CELLS_MAX	512
#define SAMPLES_MAX	16384		/* of a timed cell */

struct cell_spec {
	u32 id;
	enum metric metric;
	const struct benchmark *benchmark;
	const struct variant *variant;
	u32 warmup;		/* operations; throughput: ms */
	u32 samples;
	u32 ms;			/* throughput: measured period */
	u32 share;		/* time: the clock's share, per mille */
	u32 cold;		/* 1: dentries and inodes are dropped before each operation */
	u32 ask;		/* 1: tell what one operation asks of hooks */
	u32 points;		/* of a sweep (delays.h): operations take turns */
	u32 first_point;
};

struct experiment {
	char dir[1024];
	char fs[16];
	int processor;		/* -1: do not pin */
	int of_memory;		/* cells to come will be */
	unsigned int cells;
	struct cell_spec cell[CELLS_MAX];
};

extern struct experiment experiment;

/* Reads experiment frames until `run`; anything wrong is fatal(). */
void read_experiment(int in_vm);

/* As that holds them; anything wrong is fatal(). */
void parse_directives(char *text, size_t len);

/* ready.c */
void ready_start(void);
/* Returns in each copy of the machine, with its directives: 1; 0 where nobody copies it. */
int ready(void);
/* program/program.c: a copy has measured. Where there are no copies, it does nothing. */
void copy_end(void);

/* catalogue.c */
const struct benchmark *const *benchmarks(unsigned int *count);
const struct benchmark *find_benchmark(const char *name);
const struct variant *find_variant(const struct benchmark *b, const char *name);
int list_benchmarks(void);

/* runner.c: every cell of the experiment, below the current directory. */
#define STATUS_OK		0
#define STATUS_FAILED		1
#define STATUS_UNSUPPORTED	2

void run_cells(int in_vm);
/*
 * The cells' buffer, free before and between them. fork copies what tells where the agent's memory
 * is: what only some experiments need lies here, or in memory that they map.
 */
extern char scratch[65536];
/* This is a copy, which ends with its measurement: nothing is tidied up for another. */
extern int is_last;
/* Keeps the reason that is there already; `what` says what was being done. */
int explain(struct cell *c, const char *what, long error);
/* Writes to every writable page, so that no fault falls into a window. */
void touch_memory(void);

/* What a cell measured. */
struct outcome {
	u64 operations;
	u32 batch;		/* operations per sample; 0: not timed */
	unsigned int samples;	/* valid entries of cell_samples[] */
	unsigned int disturbed;	/* of them with others at the processor's core */
};

extern struct sample cell_samples[SAMPLES_MAX];

/* count.c and timing.c: 0, UNSUPPORTED or -errno with c->reason set. */
int count_instructions(const struct cell_spec *spec, struct cell *c,
		       struct outcome *out);
int measure_time(const struct cell_spec *spec, struct cell *c,
		 struct outcome *out);
int measure_throughput(const struct cell_spec *spec, struct cell *c,
		       struct outcome *out);
/* The largest i + 1 that measuring this cell may use. */
unsigned int batch_limit(const struct cell_spec *spec);

/* program/: whole programs, in a root on a disk. */
#define PROGRAM		"program"	/* the benchmark that a directive's commands are variants of */
struct programs;
extern struct programs *programs;	/* NULL if no program is run */
/* Takes a directive that says what is run: 1, or 0 if it is none. */
int parse_program(const char *word, char *rest);
/* The variants, if that is the benchmark; the list ends with a NULL name. */
const struct variant *program_variants(const struct benchmark *b);
/* Before any policy is loaded: some let nobody mount anything. */
void program_prepare_root(void);
int is_program(const struct cell_spec *spec);
int count_program(const struct cell_spec *spec, struct cell *c, struct outcome *out);
/* A cell whose program cannot be run: it is counted, and holds nothing. */
void count_no_program(void);
/* The disk that holds the root already, once it is there; NULL if it has to be written. */
const char *ready_disk(void);
/*
 * None of these file systems can be made with a root in it: it lies on another, from whose disk
 * it is copied; NULL as of ready_disk().
 */
int root_is_copied(const char *fs);
const char *copied_from(const char *fs);
void program_copy_root(const char *disk);
/* What tmpfs is mounted with. */
const char *tmpfs_options(void);
/* What of the image is on the disk now is needed no more. */
void release_image(long image);
/* What policies want the root to be mounted with; NULL for nothing. */
const char *policies_root_options(void);
/* What policies want of a file that was copied into it: path does not follow a link at its end. */
void policies_label_copied(const char *path);
/* Where the i-th device in the root's /dev is; NULL after the last. */
const char *program_device(unsigned int i, char *path, size_t size);

/* settings/given.c: is this a child that is under the user's own policies? It asks its parent. */
int is_given_child(void);
void given_names_move(unsigned int position);
long given_drop_caches(void);

/* main.c: tells the host why, cleans up, ends. */
__attribute__((noreturn, format(printf, 1, 2))) void fatal(const char *fmt, ...);
/* If it is an error, with its name and number behind the text. */
__attribute__((format(printf, 2, 3))) void or_fatal(long ret, const char *fmt, ...);
__attribute__((noreturn)) void finish(int status);
__attribute__((noreturn)) void exit_process(int status);

/* names.c: in the VM only; without names_start(), names_move() does nothing. */
#define NAME_POSITIONS	8	/* page-sized objects in a slab of names_cache */
void names_start(void);
/* Path names now lie position objects further in their slab: 0 to 7. */
void names_move(unsigned int position);

/* modules.c: in the VM only. */
void load_modules(void);
void send_modules(void);	/* where their code is; nothing without modules */

/* sweep.c: none does anything without a sweep. The point of the cell's operation i comes into force, if it has any. */
void delay_operation(const struct cell_spec *spec, unsigned int i);
void delay_nothing(void);
/* Between them one operation of the cell, before any is measured. */
void ask_begin(const struct cell_spec *spec);
void ask_end(const struct cell_spec *spec);
void delays_start(void);
void delays_check(void);		/* fatal() if a cell's processes would not be delayed */
void delays_stop(void);
/* Drops the dentries and inodes that nobody uses. 0 or -errno. */
long drop_caches(void);

/* vm.c */
void vm_start(void);			/* mounts, modules, results port */
void vm_enter_directory(void);		/* file system, working directory */
void vm_drain(void);			/* waits until all is sent */
__attribute__((noreturn)) void vm_end(void);

/* policy.c: what policy.h has. */
void parse_policy(char *name, char *state, char *(*next)(char **), char **rest);
void policies_load(void);	/* before the file system is mounted */
void policies_enforce(void);	/* in the working directory */

/* exit-program.c: puts what `exit_program` names there, before any policy is loaded. */
void exit_program_start(int in_vm);

/* host.c */
void host_start(void);
void host_enter_directory(void);
void host_leave_directory(void);

/* util.c */
struct format_sink {
	char *dst;
	size_t size;
	size_t len;
};

size_t format_args(char *dst, size_t size, const char *fmt, __builtin_va_list args);
/* Up to size - 1 bytes and a NUL; the length, or -errno. */
long read_text(const char *path, char *dst, size_t size);
void pause_ms(long ms);
/* Where a part begins in a text; NULL if it is not there. */
const char *find_text(const char *text, const char *part);
/* Zeroed memory, shared with children. */
void *map_shared(size_t size);
/* Decimal digits only, at most max. 0 or -EINVAL. */
int parse_u32(const char *text, u32 max, u32 *value);

#endif
