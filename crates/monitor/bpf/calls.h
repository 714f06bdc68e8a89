/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times whole system calls, so that hooks can be shown as a share of them. The start time is
 * stored by task number, because a task is in at most one system call.
 */
#ifndef LSMETER_CALLS_H
#define LSMETER_CALLS_H

/* The key is in the low bits of the time: differences are valid up to 208 days. */
#define KEY_BITS	10
#define KEY_MASK	((1 << KEY_BITS) - 1)

static __always_inline __u64 *begun_by(__u32 pid)
{
	__u64 at = pid & (PIDS - 1);

	return &begun[at];
}

static __always_inline void begin_call(struct task_struct *task)
{
	__u64 key = key_of(task);

	*begun_by(task->pid) = bpf_ktime_get_ns() << KEY_BITS | key;
}

static __always_inline void end_call(struct task_struct *task)
{
	__u64 *slot = begun_by(task->pid);
	__u64 *memory = (__u64 *)wholes;
	__u64 began = *slot;
	__u64 taken_ns, key, at;
	struct whole *whole;

	if (!began)
		return;
	taken_ns = ((bpf_ktime_get_ns() << KEY_BITS) - (began & ~(__u64)KEY_MASK)) >> KEY_BITS;
	*slot = 0;
	/*
	 * The call was begun by another task that did not return, because exec(2) takes over a
	 * thread's number.
	 */
	key = began & KEY_MASK;
	if (key != key_of(task))
		return;
	at = bpf_get_smp_processor_id();
	at = (at * KEYS + key) * (sizeof(*whole) / sizeof(*memory));
	if (at > PATCHED(PATCH_WHOLES)) {
		__sync_fetch_and_add(&shared[0].unprocessed, 1);
		return;
	}
	OPAQUE(memory);
	whole = (struct whole *)&memory[at];
	__sync_fetch_and_add(&whole->count, 1);
	__sync_fetch_and_add(&whole->sum_ns, taken_ns);
}

#endif
