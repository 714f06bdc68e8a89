/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the agent's own files; benchmarks only use bench.h. */
#ifndef LSMETER_AGENT_H
#define LSMETER_AGENT_H

#include "bench.h"

/* errors.c */
const char *errno_name(long error);	/* "ENOENT"; "errno" if unknown */

/* clock.c: CLOCK_MONOTONIC_RAW, through the vDSO if there is one. */
void clock_start(const u64 *auxv);
u64 now_ns(void);
u64 busy_ns(void);			/* the caller's processor time only */
extern u64 clock_cost_ns;		/* shortest measured time of one clock read */

/*
 * undisturbed.c: detects whether others use this processor's core; only where it is possible to
 * wait until they do not.
 */
#ifdef ARCH_WAIT_MS
extern u32 undisturbed_ratio;		/* of a probe, per mille: lowest so far */
extern u32 pace_ns;			/* time of a probe's work at the start */
void undisturbed_start(void);
void undisturbed_next_cell(void);	/* together, measurements may wait ARCH_WAIT_MS for each */
int undisturbed_wait(void);		/* 1: found an undisturbed moment */
int undisturbed(void);			/* 1: this is one */
int undisturbed_lost(u64 ns);		/* accounts a wasted sample; 1: time is left */
u64 at_pace(u64 ns);			/* this measurement's time at the pace of earlier boots */
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

/* protocol.c: frames, see docs/protocol.md. */
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
	FRAME_DENIED = 13,
	FRAME_EXPERIMENT = 16,
	FRAME_RUN = 17,
};

#define FRAME_PAYLOAD_MAX	65536u

struct sample {
	u64 operations;
	u64 ns;
};

void protocol_start(int in, int out);
void protocol_forget(void);		/* sends nothing from now on */
/* Redirects frames, and sends a frame that arrives there. */
void protocol_relay(void (*to)(enum frame_type type, const void *frame, size_t len));
void protocol_pass(const void *frame, size_t len);
void send_frame(enum frame_type type, const void *payload, size_t len);
void send_text(enum frame_type type, const char *fmt, __builtin_va_list args);
void send_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void send_hello(void);
void send_samples(u32 cell, const struct sample *samples, unsigned int count);
struct outcome;
void send_cell_end(u32 cell, u8 status, const struct outcome *out, const char *reason);
/* Reads one frame from the host and returns its type; payload gets *len bytes and a NUL. */
enum frame_type read_frame(char payload[FRAME_PAYLOAD_MAX + 1], u32 *len);

/* experiment.c */
enum metric {
	METRIC_INSTRUCTIONS,
	METRIC_TIME,
	METRIC_THROUGHPUT,
	METRIC_MEMORY,
};

#define CELLS_MAX	512
#define PROCESSORS_MAX	4u
#define SAMPLES_MAX	16384		/* of a timed measurement */

struct cell_spec {
	u32 id;
	enum metric metric;
	const struct benchmark *benchmark;
	const struct variant *variant;
	u32 warmup;		/* operations; throughput: ms */
	u32 samples;
	u32 ms;			/* throughput: measured period */
	u32 share;		/* time: the clock's share, per mille */
	u32 cold;		/* 1: drop dentries and inodes before each operation */
	u32 transfers;		/* 1: count transfers between processors, not instructions */
	u32 apart;		/* enum sharing: which files they share */
	u32 ask;		/* 1: report which hooks one operation calls */
	u32 points;		/* of a sweep (delays.h), in rotation */
	u32 first_point;
};

struct experiment {
	char dir[1024];
	char fs[16];
	int processor;		/* -1: do not pin */
	int of_memory;		/* needed by later measurements */
	u32 processors;		/* that perform operations in turn; 0: one */
	unsigned int cells;
	struct cell_spec cell[CELLS_MAX];
};

extern struct experiment experiment;

/* Reads experiment frames until `run`; errors are fatal(). */
void read_experiment(int in_vm);

/* Parses directives in a string; errors are fatal(). */
void parse_directives(char *text, size_t len);

/* ready.c */
void ready_start(void);
/* Returns 1 in each copy of the machine, with its directives; 0 if nothing copies it. */
int ready(void);
/* program/program.c: ends a copy after its measurement. No effect without copies. */
void copy_end(void);

/* catalogue.c */
const struct benchmark *const *benchmarks(unsigned int *count);
const struct benchmark *find_benchmark(const char *name);
const struct variant *find_variant(const struct benchmark *b, const char *name);
int list_benchmarks(void);

/* runner.c: runs all measurements of the experiment, below the current directory. */
#define STATUS_OK		0
#define STATUS_FAILED		1
#define STATUS_UNSUPPORTED	2

void run_cells(int in_vm);
/*
 * The buffer of measurements, which is free before and between them. fork copies the page tables
 * of the agent's memory, so data that only some experiments need goes here, or into memory that
 * they map.
 */
extern char scratch[65536];
/* This is a copy, which ends after its measurement, so no clean-up is necessary. */
extern int is_last;
/* Keeps an existing reason; `what` names the failed action. */
int explain(struct cell *c, const char *what, long error);
/* Writes to every writable page, so that no fault falls into a measured region. */
void touch_memory(void);

/* The result of one measurement. */
struct outcome {
	u64 operations;
	u32 batch;		/* operations per sample; 0: not timed */
	unsigned int samples;	/* valid entries of cell_samples[] */
	unsigned int disturbed;	/* of these, with others on the processor's core */
};

extern struct sample cell_samples[SAMPLES_MAX];

/* count.c and timing.c: 0, UNSUPPORTED or -errno with c->reason set. */
int count_instructions(const struct cell_spec *spec, struct cell *c,
		       struct outcome *out);
int measure_time(const struct cell_spec *spec, struct cell *c,
		 struct outcome *out);
int measure_throughput(const struct cell_spec *spec, struct cell *c,
		       struct outcome *out);
/* transfers.c: starts all processors, of which the kernel has booted one. */
void processors_start(void);
enum sharing { SHARE_FILES, SHARE_NOTHING, SHARE_DIRECTORY };
int count_transfers(const struct cell_spec *spec, struct cell *c, struct outcome *out);
/* The n-th operation with its prepare() and undo(), in slot i. */
int operate_alone(const struct cell_spec *spec, struct cell *c, unsigned int n, unsigned int i,
		  int marked);
unsigned int slots(const struct benchmark *b);
/* The largest i + 1 that this measurement may use. */
unsigned int batch_limit(const struct cell_spec *spec);

/* program/: whole programs, in a root file system on a disk. */
#define PROGRAM		"program"	/* the benchmark whose variants are the commands */
struct programs;
extern struct programs *programs;	/* NULL without programs */
/* Parses a directive about programs: returns 1, or 0 if it is another directive. */
int parse_program(const char *word, char *rest);
/* The variants, if this is the benchmark `program`; they end with a NULL name. */
const struct variant *program_variants(const struct benchmark *b);
/* Called before any policy is loaded, because some policies forbid mounting. */
void program_prepare_root(void);
int is_program(const struct cell_spec *spec);
int count_program(const struct cell_spec *spec, struct cell *c, struct outcome *out);
/* Records a measurement whose program cannot be run, without a result. */
void count_no_program(void);
/* The disk with the root, once it exists; NULL if it has to be written. */
const char *ready_disk(void);
/*
 * For file systems that cannot be made with files in them: the disk with the file system to copy
 * from, or NULL as for ready_disk().
 */
int root_is_copied(const char *fs);
const char *copied_from(const char *fs);
void program_copy_root(const char *disk);
/* Mount options for tmpfs. */
const char *tmpfs_options(void);
/* Frees the part of the image that is already on the disk. */
void release_image(long image);
/* Mount options for the root that policies need; NULL for none. */
const char *policies_root_options(void);
/* Labels a file copied into the root as policies need; does not follow a final link in path. */
void policies_label_copied(const char *path);
/* The path of the i-th device in the root's /dev; NULL after the last. */
const char *program_device(unsigned int i, char *path, size_t size);

/*
 * settings/given.c: whether this is a child that custom policies confine, which sends requests to
 * its parent.
 */
int is_given_child(void);
void given_names_move(unsigned int position);
long given_drop_caches(void);

/* main.c: reports the reason to the host, cleans up, exits. */
__attribute__((noreturn, format(printf, 1, 2))) void fatal(const char *fmt, ...);
/* Fatal if err is an error. Its name and number follow the text. */
__attribute__((format(printf, 2, 3))) void or_fatal(long ret, const char *fmt, ...);
__attribute__((noreturn)) void finish(int status);
__attribute__((noreturn)) void exit_process(int status);

/* names.c: in the VM only; without names_start(), names_move() does nothing. */
#define NAME_POSITIONS	8	/* page-sized objects in a slab of names_cache */
void names_start(void);
/* Moves path names by that many objects (0 to 7) in their slab. */
void names_move(unsigned int position);

/* modules.c: in the VM only. */
void load_modules(void);
void send_modules(void);	/* address ranges of module code; nothing without modules */

/* sweep.c: no effect without a sweep. Activates the point of operation i, if any. */
void delay_operation(const struct cell_spec *spec, unsigned int i);
void delay_nothing(void);
/* One operation is executed between these calls, before any is measured. */
void ask_begin(const struct cell_spec *spec);
void ask_end(const struct cell_spec *spec);
void delays_start(void);
void delays_check(void);		/* fatal() if a benchmark's processes cannot be delayed */
void delays_stop(void);
/* Drops unused dentries and inodes. 0 or -errno. */
long drop_caches(void);

/* vm.c */
void vm_start(void);			/* mounts, modules, results port */
void vm_enter_directory(void);		/* file system, working directory */
void vm_drain(void);			/* waits until all is sent */
__attribute__((noreturn)) void vm_end(void);

/* policy.c: see policy.h. */
void parse_policy(char *name, char *state, char *(*next)(char **), char **rest);
void policies_load(void);	/* before the file system is mounted */
void policies_enforce(void);	/* in the working directory */

/*
 * exit-program.c: writes the program of the directive `exit_program`, before any policy is loaded.
 */
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
/* Reads up to size - 1 bytes and a NUL; returns the length, or -errno. */
long read_text(const char *path, char *dst, size_t size);
void pause_ms(long ms);
/* The first occurrence of a part in a text; NULL if none. */
const char *find_text(const char *text, const char *part);
/* Zeroed memory, shared with children. */
void *map_shared(size_t size);
/* Decimal digits only, at most max. 0 or -EINVAL. */
int parse_u32(const char *text, u32 max, u32 *value);

#endif
