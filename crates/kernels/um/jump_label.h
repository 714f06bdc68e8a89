/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jump labels in a UML kernel, for x86-64. Both forms take five bytes, so that patching need not
 * check which one is there.
 */
#ifndef _ASM_UM_JUMP_LABEL_H
#define _ASM_UM_JUMP_LABEL_H

#define JUMP_LABEL_NOP_SIZE	5

#ifndef __ASSEMBLY__

#include <linux/types.h>

#define JUMP_TABLE_ENTRY				\
	".pushsection __jump_table, \"aw\"\n\t"		\
	".balign 8\n\t"					\
	".long 1b - .\n\t"				\
	".long %l[l_yes] - .\n\t"			\
	".quad %c0 + %c1 - .\n\t"			\
	".popsection\n\t"

static __always_inline bool arch_static_branch(struct static_key * const key,
					       const bool branch)
{
	asm goto("1: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\t"
		 JUMP_TABLE_ENTRY
		 : : "i" (key), "i" (branch) : : l_yes);
	return false;
l_yes:
	return true;
}

static __always_inline bool arch_static_branch_jump(struct static_key * const key,
						    const bool branch)
{
	asm goto("1: .byte 0xe9\n\t"
		 ".long %l[l_yes] - (. + 4)\n\t"
		 JUMP_TABLE_ENTRY
		 : : "i" (key), "i" (branch) : : l_yes);
	return false;
l_yes:
	return true;
}

#endif
#endif
