/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64-specific parts of the agent. sys.h includes it; CONTRIBUTING.md ("Adding an architecture")
 * lists the contents of such a directory.
 */
#ifndef LSMETER_ARCH_H
#define LSMETER_ARCH_H

#include <linux/audit.h>

#define PAGE_SIZE	4096UL

static inline __attribute__((always_inline)) long
raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = f;
	long ret;

	asm volatile("syscall"
		     : "=a"(ret)
		     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return ret;
}

/* An 8-byte NOP (0f 1f 84 00 imm32) that reports an event to the plugin (bench.h). */
#define marker(kind)							\
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0"	\
		     : : "i"(MARKER_MAGIC | (kind)) : "memory")

/*
 * Reads the clock of guest instructions right after or right before a marker. It is one asm
 * statement, so that the compiler cannot insert anything in between.
 */
#define CLOCK_AND(before, after, kind)						\
	({									\
		u32 low_, high_;						\
										\
		asm volatile(before "rdtsc\n\t" after				\
			     : "=a"(low_), "=d"(high_)				\
			     : "i"(MARKER_MAGIC | (kind)) : "memory");		\
		(u64)high_ << 32 | low_;					\
	})
#define MARKER_BYTES		".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c2\n\t"
#define marker_then_clock(kind)	CLOCK_AND(MARKER_BYTES, "", kind)
#define clock_then_marker(kind)	CLOCK_AND("", MARKER_BYTES "jmp 1f\n1:", kind)

/* Lets another processor run: QEMU ends this one's turn. */
#define relax()			asm volatile("pause" : : : "memory")

/* The serial port that is not the console. */
#define ARCH_RESULTS_PORT	"/dev/ttyS1"

/* The vDSO function that reads clocks. */
#define ARCH_VDSO_CLOCK_GETTIME	"__vdso_clock_gettime"

/* The architecture's name in audit records and rules. */
#define ARCH_AUDIT		AUDIT_ARCH_X86_64
/* The same for its 32-bit programs. */
#define ARCH_AUDIT_32		AUDIT_ARCH_I386

/* A call denied by lockdown's integrity level: access to the POST port. */
#define ARCH_LOCKED_DOWN(on)	SYS(ioperm, 0x80, 1, on)
#define ARCH_LOCKED_DOWN_TEXT	"ioperm(0x80, 1, %d)"

/* The program executed by benchmarks: mov $231, %eax (exit_group); xor %edi, %edi; syscall. */
#define ARCH_ELF		EM_X86_64
#define ARCH_EXIT_CODE		"\xb8\xe7\0\0\0\x31\xff\x0f\x05"

#endif
