/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Static calls in a UML kernel, for x86-64. Each is a direct call of a trampoline, which is a
 * direct jump that text-patch.c changes.
 */
#ifndef _ASM_UM_STATIC_CALL_H
#define _ASM_UM_STATIC_CALL_H

#define LSMETER_TRAMP(name, insns)					\
	asm(".pushsection .static_call.text, \"ax\"\n"			\
	    ".balign 8\n"						\
	    ".globl " STATIC_CALL_TRAMP_STR(name) "\n"			\
	    STATIC_CALL_TRAMP_STR(name) ":\n"				\
	    insns "\n"							\
	    ".type " STATIC_CALL_TRAMP_STR(name) ", @function\n"	\
	    ".size " STATIC_CALL_TRAMP_STR(name) ", . - " STATIC_CALL_TRAMP_STR(name) "\n" \
	    ".popsection\n")

#define ARCH_DEFINE_STATIC_CALL_TRAMP(name, func)			\
	LSMETER_TRAMP(name, ".byte 0xe9; .long " #func " - (. + 4)")

#define ARCH_DEFINE_STATIC_CALL_NULL_TRAMP(name)			\
	LSMETER_TRAMP(name, "ret; int3; int3; int3; int3")

#define ARCH_DEFINE_STATIC_CALL_RET0_TRAMP(name)			\
	ARCH_DEFINE_STATIC_CALL_TRAMP(name, __static_call_return0)

#endif
