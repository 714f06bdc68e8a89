// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes this kernel's code while it runs, for jump labels and static calls. The kernel has one
 * processor, and its code is memory of its own process. So the pages are made writable once, and a
 * change is a copy during which signals (the kernel's interrupts) are blocked.
 */
#include <linux/bug.h>
#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <asm/sections.h>
#include <os.h>

#define CALL_SIZE	5	/* of a jump with a displacement of 32 bits */

static const u8 nop[CALL_SIZE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
static const u8 ret[CALL_SIZE] = { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc };

static void patch(void *at, const u8 code[CALL_SIZE])
{
	static bool writable;
	unsigned long flags;

	if (!writable) {
		unsigned long len = PAGE_ALIGN((unsigned long)_etext - (unsigned long)_text);

		if (os_protect_memory(_text, len, 1, 1, 1))
			panic("lsmeter: the kernel's own code cannot be made writable");
		writable = true;
	}
	local_irq_save(flags);
	__builtin_memcpy(at, code, CALL_SIZE);
	local_irq_restore(flags);
}

static void patch_jump(void *at, const void *to)
{
	s32 displacement = (long)to - ((long)at + CALL_SIZE);
	u8 code[CALL_SIZE] = { 0xe9 };

	memcpy(code + 1, &displacement, sizeof(displacement));
	patch(at, code);
}

void arch_jump_label_transform(struct jump_entry *entry, enum jump_label_type type)
{
	void *at = (void *)jump_entry_code(entry);

	if (type == JUMP_LABEL_JMP)
		patch_jump(at, (void *)jump_entry_target(entry));
	else
		patch(at, nop);
}

void arch_static_call_transform(void *site, void *tramp, void *func, bool tail)
{
	if (!tramp)
		return;
	if (func)
		patch_jump(tramp, func);
	else
		patch(tramp, ret);
}
