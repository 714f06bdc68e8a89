/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the row of a call, and adds the call to it. */
#ifndef LSMETER_ROWS_H
#define LSMETER_ROWS_H

static __always_inline __u64 key_of(struct task_struct *task)
{
	struct pt_regs *registers = (void *)bpf_task_pt_regs(task);
	__u64 number = registers->NUMBER;

	/* Negative in page faults and interrupts of the program itself. */
	if (number >= SYSCALLS)
		return (__s64)number < 0 ? KEY_NONE : KEY_OTHER;
	/* read(2), or a kernel thread, whose registers are all 0. */
	if (!number && task->flags & PF_KTHREAD)
		return KEY_NONE;
	return task->thread_info.COMPAT_WORD & COMPAT ? KEY_OTHER : number;
}

/*
 * The first call of a hook in a system call takes the next row. If two processors do so
 * at once, one of their rows stays empty.
 */
static __always_inline __u32 new_row(__u32 *entry)
{
	__u64 row, last = PATCHED(PATCH_LAST), size = PATCHED(PATCH_ROW);
	__u32 at = PATCHED(PATCH_REST), old;

	row = __sync_fetch_and_add(&shared[0].next_row, 1);
	if (row * size <= last) {
		at = row * size;
	} else {
		/* The counter must never wrap around. */
		__sync_fetch_and_add(&shared[0].next_row, -1);
		__sync_fetch_and_add(&shared[0].rows_refused, 1);
	}
	old = __sync_val_compare_and_swap(entry, 0, at);
	return old ? old : at;
}

/* NULL only on a processor that was added after the start. */
static __always_inline struct row *find_row(struct task_struct *task)
{
	__u32 *entry = row_at;
	__u64 *memory = rows;
	__u64 at, cpu;

	ADD_PATCHED(entry, PATCH_INDEX);
	entry += key_of(task);
	at = *entry;
	if (!at)
		at = new_row(entry);
	cpu = bpf_get_smp_processor_id();
	MULTIPLY_PATCHED(cpu, PATCH_STRIDE);
	at += cpu;
	if (at > PATCHED(PATCH_END)) {
		__sync_fetch_and_add(&shared[0].unprocessed, 1);
		return NULL;
	}
	OPAQUE(memory);
	return (struct row *)&memory[at];
}

/*
 * This is atomic, because other tasks and interrupts may run between load and store. New extremes
 * are rare, so four attempts suffice.
 */
static __always_inline void raise(__u64 *extreme, __u64 value)
{
	__u64 old;
	int i;

	for (i = 0; i < 4; i++) {
		old = *(volatile __u64 *)extreme;
		if (value <= old)
			return;
		if (__sync_val_compare_and_swap(extreme, old, value) == old)
			return;
	}
}

/* A table takes fewer instructions and verifier branches than a search. */
static __always_inline __u64 bucket_of(__u64 ns)
{
	__u64 base = 0;

	if (ns >= 1 << 8) {
		if (ns < 1 << 16)
			base = 8;
		else if (ns < 1 << 24)
			base = 16;
		else if (ns < 1ull << 32)
			base = 24;
		else if (ns < 1ull << (BUCKETS - 2))
			base = 32;
		else
			return BUCKETS - 1;
		ns >>= base;
	}
	OPAQUE(ns);
	return base + shared[0].bucket_of[ns & 255];
}

static __always_inline void add_time(struct row *row, __s64 taken_ns, bool histogram)
{
	__u64 ns = taken_ns < 0 ? 0 : taken_ns;
	__u64 bucket;

	if (histogram) {
		bucket = bucket_of(ns);
		OPAQUE(bucket);
		if (bucket < BUCKETS)
			__sync_fetch_and_add(&row->bucket[bucket], 1);
	} else {
		__sync_fetch_and_add(&row->count, 1);
	}
	__sync_fetch_and_add(&row->sum_ns, taken_ns);
	raise(&row->min_ns, ~ns);
	raise(&row->max_ns, ns);
}

#endif
