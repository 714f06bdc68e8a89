/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent must know of x86-64. sys.h includes it; docs/architecture.md
 * ("Another architecture") lists what such a folder holds.
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

/* An 8-byte NOP (0f 1f 84 00 imm32) that tells the plugin what happens (bench.h). */
#define marker(kind)							\
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0"	\
		     : : "i"(MARKER_MAGIC | (kind)) : "memory")

/*
 * Reads the clock that counts the guest's instructions, right after a marker or right
 * before one: of what stands between them nothing is left to the compiler.
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

/* The serial port that is not the console's. */
#define ARCH_RESULTS_PORT	"/dev/ttyS1"

/* The vDSO's function that reads clocks. */
#define ARCH_VDSO_CLOCK_GETTIME	"__vdso_clock_gettime"

/* What audit's records and rules call the architecture. */
#define ARCH_AUDIT		AUDIT_ARCH_X86_64
/* The same of 32-bit programs that it runs. */
#define ARCH_AUDIT_32		AUDIT_ARCH_I386

/* A call that lockdown's integrity level denies: the port of power-on self tests. */
#define ARCH_LOCKED_DOWN(on)	SYS(ioperm, 0x80, 1, on)
#define ARCH_LOCKED_DOWN_TEXT	"ioperm(0x80, 1, %d)"

/* The program that benchmarks execute: mov $231, %eax (exit_group); xor %edi, %edi; syscall. */
#define ARCH_ELF		EM_X86_64
#define ARCH_EXIT_CODE		"\xb8\xe7\0\0\0\x31\xff\x0f\x05"

#endif
