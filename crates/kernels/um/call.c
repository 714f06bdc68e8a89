// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implements the agent's raw_syscall() in this kernel: it calls the function in the system call
 * table, and then does the work on the way back to user space on which the next call relies.
 */
#include <linux/sched.h>
#include <linux/syscalls.h>
#include <linux/task_work.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include "start.h"

/* From arch/x86/um/sys_call_table_64.c; no header declares it in this form. */
extern const sys_call_ptr_t sys_call_table[];

/* From the same file: the size of the table in bytes. */
extern int syscall_table_size;

long lsmeter_call_count(void)
{
	return syscall_table_size / sizeof(*sys_call_table);
}

long lsmeter_call(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret = sys_call_table[nr](a, b, c, d, e, f);

	/* The last reference to a file may be dropped on the way back. */
	if (unlikely(task_work_pending(current)))
		task_work_run();
	return ret;
}
