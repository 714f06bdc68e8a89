// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program executed by benchmarks: it exits at once. It is a page of code without data, so that
 * execve's cost does not depend on the agent.
 */
#include <linux/elf.h>
#include <linux/memfd.h>
#include "agent.h"

#define VM_AGENT	"/agent"
#define ADDRESS		0x400000UL
#define ALIGNMENT	0x10000UL	/* largest page size */

char exit_program[32];

static const struct program {
	Elf64_Ehdr head;
	Elf64_Phdr code_segment, stack;
	u8 code[16];
} program = {
	.head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = ARCH_ELF,
		.e_version = EV_CURRENT,
		.e_entry = ADDRESS + offsetof(struct program, code),
		.e_phoff = offsetof(struct program, code_segment),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	},
	.code_segment = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = ADDRESS,
		.p_filesz = sizeof(program), .p_memsz = sizeof(program), .p_align = ALIGNMENT,
	},
	/* Older kernels would otherwise make its stack executable. */
	.stack = { .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W },
	.code = ARCH_EXIT_CODE,
};

static void write_program(long fd)
{
	long n = fd < 0 ? fd : sys_write(fd, &program, sizeof(program));

	if (n != sizeof(program))
		fatal("writing the program that exits: %s (%ld)", errno_name(n), -n);
}

/* In a VM, the program replaces the agent's file, whose path policies allow. */
void exit_program_start(int in_vm)
{
	long err = 0, fd;

	if (in_vm) {
		format(exit_program, sizeof(exit_program), "/init");
		err = SYS(rename, exit_program, VM_AGENT);
		fd = err < 0 ? err : sys_open(exit_program, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
		write_program(fd);
		sys_close(fd);
	} else {
		fd = SYS(memfd_create, "lsmeter-exit", MFD_CLOEXEC);
		write_program(fd);
		format(exit_program, sizeof(exit_program), "/proc/self/fd/%ld", fd);
	}
}
