/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AArch64-specific parts of the agent. sys.h includes it; CONTRIBUTING.md ("Adding an
 * architecture") lists the contents of such a directory.
 */
#ifndef LSMETER_ARCH_H
#define LSMETER_ARCH_H

#include <linux/audit.h>

#include "../at-forms.h"

#define PAGE_SIZE	4096UL

static inline __attribute__((always_inline)) long
raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = a;
	register long x1 asm("x1") = b;
	register long x2 asm("x2") = c;
	register long x3 asm("x3") = d;
	register long x4 asm("x4") = e;
	register long x5 asm("x5") = f;

	asm volatile("svc #0"
		     : "+r"(x0)
		     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
		     : "memory");
	return x0;
}

/*
 * movz xzr, #0x5cKK, lsl #48: a no-op that compilers never emit and that reports an event to the
 * plugin (bench.h).
 */
#define MARKER_TEXT	"movz xzr, #0x5c00 + (%c[kind] & 0xff), lsl #48\n\t"

#define marker(kind_)							\
	asm volatile(MARKER_TEXT : : [kind] "i"(MARKER_MAGIC | (kind_)) : "memory")

/*
 * Reads the clock of guest time right after or right before a marker. It is one asm statement, so
 * that the compiler cannot insert anything in between.
 */
#define CLOCK_AND(before, after, kind_)						\
	({									\
		u64 ticks_;							\
										\
		asm volatile(before "mrs %[ticks], cntvct_el0\n\t" after	\
			     : [ticks] "=r"(ticks_)				\
			     : [kind] "i"(MARKER_MAGIC | (kind_)) : "memory");	\
		ticks_;								\
	})
#define marker_then_clock(kind_)	CLOCK_AND(MARKER_TEXT, "", kind_)
#define clock_then_marker(kind_)	CLOCK_AND("", MARKER_TEXT "b 1f\n1:", kind_)

/* Lets another processor run: QEMU ends this one's turn. */
#define relax()			asm volatile("yield" : : : "memory")

/* The serial port on the PCI bus, because the console uses another driver. */
#define ARCH_RESULTS_PORT	"/dev/ttyS0"

/* The vDSO function that reads clocks. */
#define ARCH_VDSO_CLOCK_GETTIME	"__kernel_clock_gettime"

/* The architecture's name in audit records and rules. */
#define ARCH_AUDIT		AUDIT_ARCH_AARCH64
/* The same for its 32-bit programs. */
#define ARCH_AUDIT_32		AUDIT_ARCH_ARM

/* A call denied by lockdown's integrity level: opening /dev/mem. */
#define ARCH_LOCKED_DOWN(on)	locked_down_open(on)
#define ARCH_LOCKED_DOWN_TEXT	"open of /dev/mem (1) or /dev/null (0): %d"
#define locked_down_open(on)						\
	({								\
		long fd_ = sys_open((on) ? "/dev/mem" : "/dev/null", O_RDWR, 0);	\
										\
		fd_ < 0 ? fd_ : sys_close(fd_);				\
	})

/* The program executed by benchmarks: mov x0, #0; mov x8, #94 (exit_group); svc #0. */
#define ARCH_ELF		EM_AARCH64
#define ARCH_EXIT_CODE		"\0\0\x80\xd2\xc8\x0b\x80\xd2\1\0\0\xd4"

#endif
