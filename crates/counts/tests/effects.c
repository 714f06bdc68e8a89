// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes instructions as an assembler encodes them, and prints those that were decoded
 * incorrectly.
 */
#include <stdio.h>
#include <string.h>

#include "arch.h"

static const struct {
	const char *text;
	uint8_t bytes[INSN_MAX];
	size_t size;
	struct effects effects;
} cases[] = {
	{ "lock cmpxchg %rcx,(%rdx)", { 0xf0, 0x48, 0x0f, 0xb1, 0x0a }, 5, { .atomic = true } },
	{ "the same on one processor", { 0x3e, 0x48, 0x0f, 0xb1, 0x0a }, 5, { .atomic = true } },
	{ "cmpxchg %rcx,(%rdx)", { 0x48, 0x0f, 0xb1, 0x0a }, 4, { 0 } },
	{ "lock incl (%rax)", { 0xf0, 0xff, 0x00 }, 3, { .atomic = true } },
	{ "lock addq $1,8(%rax)", { 0xf0, 0x48, 0x83, 0x40, 0x08, 0x01 }, 6, { .atomic = true } },
	{ "ds cmpl $0,(%rax)", { 0x3e, 0x83, 0x38, 0x00 }, 4, { 0 } },
	{ "lock btsl $7,(%rdi)", { 0xf0, 0x0f, 0xba, 0x2f, 0x07 }, 5, { .atomic = true } },
	{ "lock bt is none", { 0x3e, 0x0f, 0xba, 0x27, 0x07 }, 5, { 0 } },
	{ "lock xadd %eax,(%rdi)", { 0xf0, 0x0f, 0xc1, 0x07 }, 4, { .atomic = true } },
	{ "xchg %rax,(%rdi)", { 0x48, 0x87, 0x07 }, 3, { .atomic = true } },
	{ "xchg %rax,%rdi", { 0x48, 0x87, 0xc7 }, 3, { 0 } },
	{ "cmpxchg %rdx,%gs:(%rsi)", { 0x65, 0x48, 0x0f, 0xb1, 0x16 }, 5, { .per_cpu = true } },
	{ "rep stos %rax", { 0xf3, 0x48, 0xab }, 3, { .iteration_bytes = 8 } },
	{ "rep stos %eax", { 0xf3, 0xab }, 2, { .iteration_bytes = 4 } },
	{ "rep movsb", { 0xf3, 0xa4 }, 2, { .iteration_bytes = 1 } },
	{ "rep movsw", { 0x66, 0xf3, 0xa5 }, 3, { .iteration_bytes = 2 } },
	{ "repz cmpsb", { 0xf3, 0xa6 }, 2, { .iteration_bytes = 1 } },
	{ "stos %rax", { 0x48, 0xab }, 2, { 0 } },
	{ "repz ret", { 0xf3, 0xc3 }, 2, { 0 } },
	{ "call *%rax", { 0xff, 0xd0 }, 2, { .indirect = true, .pushes = true } },
	{ "jmp *%rax", { 0xff, 0xe0 }, 2, { .indirect = true } },
	{ "notrack jmp *%rax", { 0x3e, 0xff, 0xe0 }, 3, { .indirect = true } },
	{ "push (%rax)", { 0xff, 0x30 }, 2, { .pushes = true } },
	{ "call", { 0xe8, 0, 0, 0, 0 }, 5, { .pushes = true } },
	{ "push %r12", { 0x41, 0x54 }, 2, { .pushes = true } },
	{ "iretq", { 0x48, 0xcf }, 2, { .serialises = true } },
	{ "wrmsr", { 0x0f, 0x30 }, 2, { .serialises = true } },
	{ "cpuid", { 0x0f, 0xa2 }, 2, { .serialises = true } },
	{ "lfence", { 0x0f, 0xae, 0xe8 }, 3, { .serialises = true } },
	{ "sfence", { 0x0f, 0xae, 0xf8 }, 3, { 0 } },
	{ "fxsave (%rax)", { 0x0f, 0xae, 0x00 }, 3, { 0 } },
	{ "xrstor (%rdi)", { 0x0f, 0xae, 0x2f }, 3, { 0 } },
	{ "mov %rax,%cr3", { 0x0f, 0x22, 0xd8 }, 3, { .serialises = true, .flushes_tlb = true } },
	{ "mov %rax,%cr4", { 0x0f, 0x22, 0xe0 }, 3, { .serialises = true } },
	{ "mov %cr3,%rax", { 0x0f, 0x20, 0xd8 }, 3, { 0 } },
	{ "invlpg (%rax)", { 0x0f, 0x01, 0x38 }, 3, { .serialises = true, .flushes_tlb = true } },
	{ "invpcid (%rax),%rcx", { 0x66, 0x0f, 0x38, 0x82, 0x08 }, 5,
	  { .serialises = true, .flushes_tlb = true } },
	{ "rdtsc", { 0x0f, 0x31 }, 2, { .reads_clock = true } },
	{ "rdtscp", { 0x0f, 0x01, 0xf9 }, 3, { .reads_clock = true } },
	{ "cli", { 0xfa }, 1, { .irqs_off = true } },
	{ "sti", { 0xfb }, 1, { .irqs_on = true } },
	{ "popf", { 0x9d }, 1, { .irqs_on = true } },
	{ "swapgs", { 0x0f, 0x01, 0xf8 }, 3, { 0 } },
	{ "stac", { 0x0f, 0x01, 0xcb }, 3, { 0 } },
	{ "mov (%rax),%rbx", { 0x48, 0x8b, 0x18 }, 3, { 0 } },
	{ "cut off", { 0xf0, 0x48 }, 2, { 0 } },
	{ "cut off, too", { 0x0f }, 1, { 0 } },
	{ "nothing", { 0 }, 0, { 0 } },
};

int main(void)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct effects read = effects_x86_64(cases[i].bytes, cases[i].size);

		if (memcmp(&read, &cases[i].effects, sizeof(read))) {
			printf("%s\n", cases[i].text);
			wrong = 1;
		}
	}
	return wrong;
}
