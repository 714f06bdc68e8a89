/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's output: a header, then 32-byte records, little-endian. src/records.rs reads it. */
#ifndef LSMETER_RECORDS_H
#define LSMETER_RECORDS_H

#include <stdint.h>

#define RECORDS_MAGIC	"LSMI"
#define RECORDS_VERSION	5

struct records_header {
	char magic[4];
	uint32_t version;
	uint32_t api;		/* QEMU's current plugin API */
	uint32_t has_symbols;	/* interrupts are recognised by address */
};

enum record_kind {
	RECORD_CELL_BEGIN = 1,	/* number: how many measurements came before */
	RECORD_WINDOW = 2,
	RECORD_OP_BEGIN = 3,
	RECORD_OP_END = 4,
	RECORD_CELL_END = 5,	/* instructions: address of the last system call's entry */
	/*
	 * number: the block's, as in traces; flags: enum insn_kind and BLOCK_*; instructions: its
	 * first address; rep_iterations: the address after its last instruction; path: its number
	 * of instructions
	 */
	RECORD_BLOCK = 6,
	/*
	 * Precedes the region's record. instructions: number of the following elements of trace.h,
	 * padded with zeroes to whole records.
	 */
	RECORD_TRACE = 7,
	/*
	 * number: a measured task's; instructions: its creator's; path: its position among all
	 * tasks created in the region
	 */
	RECORD_TASK = 8,
	/*
	 * A node of the call tree, the root first. number: the parent; path: enum calls_kind << 28
	 * | number; rep_iterations: its calls
	 */
	RECORD_CALLS = 9,
	/*
	 * number: of the region with the preceding tasks and calls; instructions: REP iterations
	 * beyond each first; flags: 1 if something did not fit
	 */
	RECORD_TASKS_END = 10,
	/*
	 * After its RECORD_BLOCK, if events are counted. number: the block's; flags: number of
	 * struct note (block.h) in the last 24 bytes
	 */
	RECORD_NOTES = 11,
	/*
	 * number: the word's, as in traces; flags: enum word_kind (objects.h) and WORD_MERGED;
	 * offset: of the access in its object, the begin of whose cache's name is in the last 24
	 * bytes; instructions: or else the variable's address, or 0
	 */
	RECORD_WORD = 12,
};

#define WORD_MERGED	0x80	/* the cache has objects of several types */

#define BLOCK_EXCEPTION	0x80	/* a synchronous exception begins here */

#define WINDOW_INTERRUPTED	1	/* an interrupt occurred; its work is not counted */
#define WINDOW_SWITCHED		2	/* another task ran */
#define WINDOW_ALL_TASKS	4	/* other tasks' work is included */
#define WINDOW_UNARMED		8	/* instrumentation was not yet in place */
#define WINDOW_TRANSFERS	16	/* transfers of words; rep_iterations: of lines */

struct record {
	uint8_t kind;
	uint8_t flags;
	uint16_t offset;
	uint32_t number;
	uint64_t instructions;
	uint64_t rep_iterations;
	uint64_t path;		/* hash of the calls and returns */
};

/* Returns 0 or -errno. */
int records_open(const char *path, const struct records_header *header);
void records_put(const struct record *record);
/* Writes all records so far to the file. The end of a measurement does this. */
void records_flush(void);

#endif
