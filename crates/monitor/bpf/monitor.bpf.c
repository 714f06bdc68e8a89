// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that run before and after each LSM hook (see README.md). The loader makes a
 * copy for every hook and writes the hook's constants into it.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "kernel.h"
#include "layout.h"
#include "memory.h"
#include "rows.h"
#include "stack.h"
#include "calls.h"

enum filter {
	ALL,
	PROCESSES,
	CGROUP,
};

static __always_inline bool is_target(__u32 tgid)
{
	__u64 word = targets[(tgid & (PIDS - 1)) >> 6];

	return word >> (tgid & 63) & 1;
}

/* lsmeter itself is never counted, because reading counters would increase them. */
static __always_inline bool wanted(__u32 tgid, enum filter filter)
{
	OPAQUE_32(tgid);
	if (tgid == PATCH_OWN_TGID)
		return false;
	if (filter == PROCESSES)
		return is_target(tgid);
	if (filter == CGROUP)
		return bpf_current_task_under_cgroup(&cgroup, 0) == 1;
	return true;
}

static __always_inline int count(enum filter filter)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct row *row;

	if (!wanted(task->tgid, filter))
		return 0;
	row = find_row(task);
	if (row)
		__sync_fetch_and_add(&row->count, 1);
	return 0;
}

static __always_inline int enter(void *context, enum filter filter)
{
	__u64 id = bpf_get_current_pid_tgid();

	if (wanted(id >> 32, filter))
		push(height(context), id);
	return 0;
}

/* The upper half of an int's register is undefined. */
static __always_inline void note_result(struct row *row, __s32 result)
{
	__u64 *table = errors;
	__u32 number = -result;

	if (result >= 0 || result < -4095)
		return;
	if (number >= ERRNOS)
		number = 0;
	ADD_PATCHED(table, PATCH_ERRORS);
	__sync_fetch_and_add(&table[number], 1);
	__sync_fetch_and_add(&row->errors, 1);
}

static __always_inline int leave(void *context, bool histogram)
{
	__s64 taken_ns;
	struct row *row;

	if (!pop(height(context), bpf_get_current_pid_tgid(), &taken_ns))
		return 0;
	row = find_row(bpf_get_current_task_btf());
	if (!row)
		return 0;
	add_time(row, taken_ns, histogram);
	note_result(row, RESULT(context));
	return 0;
}

SEC("fentry")
int count_all(void *context __attribute__((unused)))
{
	return count(ALL);
}

SEC("fentry")
int count_processes(void *context __attribute__((unused)))
{
	return count(PROCESSES);
}

SEC("fentry")
int count_cgroup(void *context __attribute__((unused)))
{
	return count(CGROUP);
}

SEC("fentry")
int enter_all(void *context)
{
	return enter(context, ALL);
}

SEC("fentry")
int enter_processes(void *context)
{
	return enter(context, PROCESSES);
}

SEC("fentry")
int enter_cgroup(void *context)
{
	return enter(context, CGROUP);
}

SEC("fexit")
int leave_time(void *context)
{
	return leave(context, false);
}

SEC("fexit")
int leave_histogram(void *context)
{
	return leave(context, true);
}

/* Stores the process number of its caller in the initial PID namespace. */
SEC("fentry")
int tell_tgid(void *context __attribute__((unused)))
{
	shared[0].own_tgid = bpf_get_current_pid_tgid() >> 32;
	return 0;
}

/* Runs before the child does, so nothing is missed. */
SEC("tp_btf/sched_process_fork")
int follow_fork(__u64 *context)
{
	struct task_struct *parent = (void *)context[0];
	struct task_struct *child = (void *)context[1];
	__u32 tgid = child->tgid;

	if (is_target(parent->tgid))
		__sync_fetch_and_or(&targets[(tgid & (PIDS - 1)) >> 6],
				    1ull << (tgid & 63));
	return 0;
}

/*
 * sched_process_exit is not used, because a process still closes its files after it. The number
 * becomes free shortly before this, but the kernel reuses it only after all others.
 */
SEC("tp_btf/sched_process_free")
int forget_process(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	__u32 tgid = task->tgid;

	if (task->pid == task->tgid && is_target(tgid))
		__sync_fetch_and_and(&targets[(tgid & (PIDS - 1)) >> 6],
				     ~(1ull << (tgid & 63)));
	return 0;
}

static __always_inline int begin(enum filter filter)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (wanted(task->tgid, filter))
		begin_call(task);
	return 0;
}

SEC("tp_btf/sys_enter")
int begin_all(__u64 *context __attribute__((unused)))
{
	return begin(ALL);
}

SEC("tp_btf/sys_enter")
int begin_processes(__u64 *context __attribute__((unused)))
{
	return begin(PROCESSES);
}

SEC("tp_btf/sys_enter")
int begin_cgroup(__u64 *context __attribute__((unused)))
{
	return begin(CGROUP);
}

SEC("tp_btf/sys_exit")
int end_any(__u64 *context __attribute__((unused)))
{
	end_call(bpf_get_current_task_btf());
	return 0;
}

/* A child leaves a call that it never entered. Its number may have belonged to a dead task. */
SEC("tp_btf/sched_process_fork")
int forget_call(__u64 *context)
{
	struct task_struct *child = (void *)context[1];

	*begun_by(child->pid) = 0;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
