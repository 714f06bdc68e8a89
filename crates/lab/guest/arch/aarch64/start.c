// SPDX-License-Identifier: GPL-2.0-or-later
/* The entry point: hands the initial stack (argc, argv, envp, auxv) to C. */

asm(".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "	mov x29, xzr\n"
    "	mov x30, xzr\n"
    "	mov x0, sp\n"
    "	and x9, x0, #-16\n"
    "	mov sp, x9\n"
    "	bl start_c\n"
    "	brk #0\n"
    ".size _start, . - _start\n");
