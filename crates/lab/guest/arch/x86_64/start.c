// SPDX-License-Identifier: GPL-2.0-or-later
/* The entry point: hands the initial stack (argc, argv, envp, auxv) to C. */

asm(".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "	xorl %ebp, %ebp\n"
    "	movq %rsp, %rdi\n"
    "	andq $-16, %rsp\n"
    "	call start_c\n"
    "	hlt\n"
    ".size _start, . - _start\n");
