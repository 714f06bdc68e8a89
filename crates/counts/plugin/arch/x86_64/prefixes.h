/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefixes of an x86-64 instruction. */
#ifndef LSMETER_X86_64_PREFIXES_H
#define LSMETER_X86_64_PREFIXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prefixes {
	bool rep;		/* f2, f3 */
	bool lock;		/* f0 */
	bool data_segment;	/* 3e: on one processor Linux also patches lock to this */
	bool per_cpu_segment;	/* 65: gs */
	bool small;		/* 66: 16-bit operands */
	bool wide;		/* REX.W */
	size_t opcode;		/* its position; size if there is none */
};

static inline struct prefixes read_prefixes(const uint8_t *bytes, size_t size)
{
	struct prefixes found = { 0 };
	size_t at;

	for (at = 0; at < size; at++) {
		switch (bytes[at]) {
		case 0x26: case 0x2e: case 0x36: case 0x64:	/* segments */
		case 0x67:					/* address size */
			continue;
		case 0x3e:
			found.data_segment = true;
			continue;
		case 0x65:
			found.per_cpu_segment = true;
			continue;
		case 0x66:
			found.small = true;
			continue;
		case 0xf0:
			found.lock = true;
			continue;
		case 0xf2: case 0xf3:
			found.rep = true;
			continue;
		}
		break;
	}
	if (at < size && (bytes[at] & 0xf0) == 0x40) {		/* REX */
		found.wide = bytes[at] & 8;
		at++;
	}
	found.opcode = at;
	return found;
}

#endif
