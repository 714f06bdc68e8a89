/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent needs to know about a kernel into which it is linked, like the files of this name
 * in lab's guest/arch/ for processors. sys.h includes it.
 */
#ifndef LSMETER_ARCH_H
#define LSMETER_ARCH_H

#include <linux/audit.h>
#include "start.h"

#define PAGE_SIZE	4096UL

/* Calls that need user space, which the agent does not have here. */
static inline __attribute__((always_inline)) int lsmeter_needs_user_space(long nr)
{
	return nr == __NR_fork || nr == __NR_vfork || nr == __NR_clone ||
	       nr == __NR_execve || nr == __NR_wait4 || nr == __NR_mmap ||
	       nr == __NR_shmat || nr == __NR_exit || nr == __NR_exit_group;
}

/* A call of a later kernel, beyond the end of the table. */
static inline __attribute__((always_inline)) int lsmeter_is_later(long nr)
{
	return nr > LSMETER_OLD_CALLS && nr >= lsmeter_call_count();
}

static inline __attribute__((always_inline)) long
raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	/* nr is a constant, so the compiler removes this. */
	if (lsmeter_needs_user_space(nr) || lsmeter_is_later(nr))
		return -ENOSYS;
	return lsmeter_call(nr, a, b, c, d, e, f);
}

/* Nobody reads markers here. */
#define marker(kind)			((void)(kind))
#define marker_then_clock(kind)		(marker(kind), (u64)0)
#define clock_then_marker(kind)		(marker(kind), (u64)0)

/* The driver's device. */
/* There is one processor. */
#define relax()			asm volatile("" : : : "memory")
#define ARCH_RESULTS_PORT	"/lsmeter"

/* The host's function, on x86-64. */
#define ARCH_VDSO_CLOCK_GETTIME	"__vdso_clock_gettime"

#define ARCH_AUDIT		AUDIT_ARCH_X86_64
#define ARCH_AUDIT_32		AUDIT_ARCH_I386

/* There is no ioperm. */
#define ARCH_LOCKED_DOWN(on)	SYS(ioperm, 0x80, 1, on)
#define ARCH_LOCKED_DOWN_TEXT	"ioperm(0x80, 1, %d)"

/*
 * The kernel may have been built before a benchmark was written, or a benchmark may belong to one
 * architecture.
 */
#define ARCH_MAY_LACK_BENCHMARKS

/* Nothing executes it here. */
#define ARCH_ELF		EM_NONE
#define ARCH_EXIT_CODE		""

/* All of the agent's memory belongs to the kernel and is present from the start. */
#define ARCH_RESIDENT

/*
 * How long each measurement of a boot may wait for moments in which nobody else uses the
 * processor's core, because this kernel is a process like others. Time that one measurement does
 * not need is available to the others.
 */
#define ARCH_WAIT_MS		30

/* Stacks are the kernel's, so they are small: the longest name with its record must fit. */
#define ARCH_RECORDS_SIZE	512

/* The reason why a benchmark cannot be measured here, from the calls in its region; or NULL. */
#define ARCH_LACKS(benchmark)	lsmeter_lacks((benchmark)->syscalls)
const char *lsmeter_lacks(const char *syscalls);

#endif
