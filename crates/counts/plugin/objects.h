/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What transferred words belong to: an object of a slab cache, a variable, per-CPU data. The
 * guest's memory has the answer: page tables, struct page, struct kmem_cache. What cannot be read
 * stays unknown.
 */
#ifndef LSMETER_OBJECTS_H
#define LSMETER_OBJECTS_H

#include <stdint.h>

enum word_kind {
	WORD_UNKNOWN,
	WORD_USER,
	WORD_IMAGE,	/* a variable of the kernel */
	WORD_PER_CPU,
	WORD_PAGE,	/* a page that has no objects, such as the page cache's */
	WORD_MAPPED,	/* vmalloc: stacks, data of modules */
	WORD_SLAB,
};

/* Bytes of the guest's memory. */
void objects_enable(uint64_t memory);
/* A line of the file in symbols.h with another KIND; start is an address, an offset or a size. */
void objects_learn(const char *kind, uint64_t start, uint64_t end);
/* Where the kernel's image lies: an instruction in host memory, and an access by the kernel. */
void objects_place_host(uint64_t vaddr, const void *host);
void objects_place(uint64_t vaddr, uint64_t physical);
void objects_begin_cell(void);
/* The number of the word's RECORD_WORD in this measurement, which is written on first use. */
uint32_t objects_number(uint64_t vaddr, uint64_t physical);

#endif
