/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel structures, with only the members that programs read. Their offsets are taken
 * from the running kernel's BTF when the programs are loaded.
 */
#ifndef LSMETER_KERNEL_H
#define LSMETER_KERNEL_H

#define PF_KTHREAD	0x00200000	/* linux/sched.h */
/* The location of the system call number, and the flag for calls by 32-bit programs. */
#if defined(__TARGET_ARCH_x86)
#define NUMBER		orig_ax		/* unsigned long of asm/ptrace.h */
#define number_t	unsigned long
#define COMPAT_WORD	status
#define compat_t	__u32
#define COMPAT		0x0002		/* TS_COMPAT of asm/thread_info.h: of i386 */
#elif defined(__TARGET_ARCH_arm64)
#define NUMBER		syscallno	/* s32 of asm/ptrace.h: NO_SYSCALL, -1, without one */
#define number_t	int
#define COMPAT_WORD	flags
#define compat_t	unsigned long
#define COMPAT		(1ul << 22)	/* TIF_32BIT of asm/thread_info.h */
#else
#error "unknown location of the system call number on this architecture"
#endif


#define FROM_KERNEL	__attribute__((preserve_access_index))

struct thread_info {
	compat_t COMPAT_WORD;
} FROM_KERNEL;

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	int pid;
	int tgid;
} FROM_KERNEL;

struct pt_regs {
	number_t NUMBER;
} FROM_KERNEL;

#endif
