/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs read of the kernel's structures. Where the members really are is
 * found in the running kernel's BTF when the programs are loaded.
 */
#ifndef LSMETER_KERNEL_H
#define LSMETER_KERNEL_H

#define PF_KTHREAD	0x00200000	/* linux/sched.h */
#define TS_COMPAT	0x0002		/* asm/thread_info.h: a system call of i386 */

#define FROM_KERNEL	__attribute__((preserve_access_index))

struct thread_info {
	__u32 status;
} FROM_KERNEL;

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	int pid;
	int tgid;
} FROM_KERNEL;

struct pt_regs {
	unsigned long orig_ax;
} FROM_KERNEL;

#endif
