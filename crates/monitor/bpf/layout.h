/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs and reader share; src/layout.rs says the same in Rust.
 */
#ifndef LSMETER_LAYOUT_H
#define LSMETER_LAYOUT_H

/* Keys of a hook: a system call's number, or one of these. */
#define SYSCALLS	512
#define KEY_NONE	512	/* in no system call */
#define KEY_OTHER	513	/* of i386 or x32, or a number that is too large */
#define KEYS		514

/* errno as it is; 0 stands for all beyond. */
#define ERRNOS		134

/* Bucket 0 is 0 ns, b is 2^(b-1) to 2^b - 1, the last has no upper end. */
#define BUCKETS		40

/* What a processor knows of one hook in one system call. */
struct row {
	__u64 count;	/* not kept where there are buckets: it is their sum */
	__u64 errors;
	__u64 sum_ns;	/* signed: what is taken off may be more than there is */
	__u64 min_ns;	/* ones' complement, so that 0 is none yet */
	__u64 max_ns;
	__u64 bucket[BUCKETS];
};

/* One call that is under way. */
struct frame {
	__u64 start_ns;
	__u64 inside_ns;	/* to take off: calls within it that are told apart */
	__u32 context;		/* where its arguments are: no two calls share it */
	__u32 unused;
};

/* What a processor knows of one system call, from its entry to its exit. */
struct whole {
	__u64 count;
	__u64 sum_ns;
};

#define DEPTH		10
#define DEPTH_BITS	6
#define DEPTH_MAX	((1 << DEPTH_BITS) - 1)

/* The calls of one task that are under way. */
struct stack {
	__u64 state;	/* the task, and how deep it is; 0 deep is anyone's to take */
	struct frame frame[DEPTH];
	__u64 scratch;
};

#define STACKS		4096	/* a power of two */
#define WAYS		4	/* places that a task may take */

/* Process numbers, as the kernel limits them (PID_MAX_LIMIT). */
#define PIDS		(1 << 22)

/* What all hooks share. */
struct shared {
	__u64 next_row;		/* rows given out */
	__u64 own_tgid;		/* as the kernel numbers it */
	__u64 rows_refused;	/* pairs of hook and system call without a row */
	__u64 no_stack;		/* calls not measured: all ways were taken */
	__u64 too_deep;		/* calls not measured: more than DEPTH under way */
	__u64 abandoned;	/* calls not measured: they never came to an end */
	__u64 unprocessed;	/* calls not measured: no such processor */
	__u8 bucket_of[256];	/* the buckets of 0 to 255 ns, filled by the reader */
};

/*
 * Constants that are not known before a hook's copy of a program is made: immediate
 * values of instructions, which the loader replaces. Apart, since a compiler may turn
 * x >= N into x > N - 1: the loader would notice.
 */
#define PATCH_INDEX	0x6c730100	/* where the hook's keys begin, in bytes */
#define PATCH_ERRORS	0x6c730200	/* where its errors begin, in bytes */
#define PATCH_OWN_TGID	0x6c730300	/* lsmeter's own process, never counted */
#define PATCH_STRIDE	0x6c730400	/* words of rows that a processor has */
#define PATCH_LAST	0x6c730500	/* a processor's last row, in words */
#define PATCH_END	0x6c730600	/* the last row of all, in words */
#define PATCH_ROW	0x6c730700	/* words of a row */
#define PATCH_REST	0x6c730800	/* the hook's row for all the rest, in words */
#define PATCH_WINDOW	0x6c730900	/* ns that a call's own programs add to it */
#define PATCH_OUTSIDE	0x6c730a00	/* ns that they add around it */
#define PATCH_PART	0x6c730b00	/* 1 if its time belongs to the hook around it */
#define PATCH_WHOLES	0x6c730c00	/* the last whole system call, in words */
/* The return value: a load from this offset, of which there is but one. */
#define PATCH_RESULT	0x7ff0

#endif
