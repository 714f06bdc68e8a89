/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the programs and the reader; src/layout.rs is the same in Rust.
 */
#ifndef LSMETER_LAYOUT_H
#define LSMETER_LAYOUT_H

/* Keys of a hook: system call numbers, then these. */
#define SYSCALLS	512
#define KEY_NONE	512	/* in no system call */
#define KEY_OTHER	513	/* i386, x32, or a larger number */
#define KEYS		514

/* Index by errno; 0 counts all larger ones. */
#define ERRNOS		134

/* Bucket 0 is for 0 ns, bucket b for 2^(b-1) to 2^b - 1, and the last one has no upper bound. */
#define BUCKETS		40

/* One hook in one system call, on one processor. */
struct row {
	__u64 count;	/* unused if there are buckets, whose sum it is */
	__u64 errors;
	__u64 sum_ns;	/* signed: corrections may exceed the time */
	__u64 min_ns;	/* ones' complement: 0 means none yet */
	__u64 max_ns;
	__u64 bucket[BUCKETS];
};

/* One running call. */
struct frame {
	__u64 start_ns;
	__u64 inside_ns;	/* to subtract: nested calls */
	__u32 context;		/* address of its arguments: unique per call */
	__u32 unused;
};

/* One system call from entry to exit, on one processor. */
struct whole {
	__u64 count;
	__u64 sum_ns;
};

#define DEPTH		10
#define DEPTH_BITS	6
#define DEPTH_MAX	((1 << DEPTH_BITS) - 1)

/* One task's running calls. */
struct stack {
	__u64 state;	/* the task and its depth; free at depth 0 */
	struct frame frame[DEPTH];
	__u64 scratch;
};

#define STACKS		4096	/* a power of two */
#define WAYS		4	/* stacks that a task may take */

/* The kernel's limit of process numbers (PID_MAX_LIMIT). */
#define PIDS		(1 << 22)

/* Shared by all hooks. */
struct shared {
	__u64 next_row;		/* rows in use */
	__u64 own_tgid;		/* in the initial PID namespace */
	__u64 rows_refused;	/* pairs of hook and system call without a row */
	__u64 no_stack;		/* calls not measured: all stacks were in use */
	__u64 too_deep;		/* calls not measured: nested more than DEPTH deep */
	__u64 abandoned;	/* calls not measured: their end was not seen */
	__u64 unprocessed;	/* calls not measured: unknown processor */
	__u8 bucket_of[256];	/* buckets of 0 to 255 ns, written by the reader */
};

/*
 * Constants of one hook: immediate values that the loader replaces in each copy of a
 * program. They are far apart, so that the loader notices if a compiler turns x >= N into x > N -
 * 1.
 */
#define PATCH_INDEX	0x6c730100	/* offset of the hook's keys, in bytes */
#define PATCH_ERRORS	0x6c730200	/* offset of its errors, in bytes */
#define PATCH_OWN_TGID	0x6c730300	/* lsmeter itself, never counted */
#define PATCH_STRIDE	0x6c730400	/* words of rows per processor */
#define PATCH_LAST	0x6c730500	/* a processor's last row, in words */
#define PATCH_END	0x6c730600	/* the last row of all, in words */
#define PATCH_ROW	0x6c730700	/* words of a row */
#define PATCH_REST	0x6c730800	/* the hook's row for other calls, in words */
#define PATCH_WINDOW	0x6c730900	/* ns that programs add to a call's time */
#define PATCH_OUTSIDE	0x6c730a00	/* ns that they add outside it */
#define PATCH_PART	0x6c730b00	/* 1 if its time belongs to the hook around it */
#define PATCH_WHOLES	0x6c730c00	/* the last whole system call, in words */
/* The return value, which is the only load from this offset. */
#define PATCH_RESULT	0x7ff0

#endif
