// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What raw_syscall() of the agent is here: the function of the system call table,
 * and what is done on the way back to user space that the next call relies on.
 */
#include <linux/sched.h>
#include <linux/syscalls.h>
#include <linux/task_work.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include "start.h"

/* arch/x86/um/sys_call_table_64.c; no header has it as it is there. */
extern const sys_call_ptr_t sys_call_table[];

/* The same file's: bytes of it. */
extern int syscall_table_size;

long lsmeter_call_count(void)
{
	return syscall_table_size / sizeof(*sys_call_table);
}

long lsmeter_call(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret = sys_call_table[nr](a, b, c, d, e, f);

	/* The last reference to a file may be dropped on the way out. */
	if (unlikely(task_work_pending(current)))
		task_work_run();
	return ret;
}
