// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "objects.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch.h"
#include "records.h"
#include "transfers.h"

#define PAGE_SHIFT	12
#define STRUCT_PAGE	64u	/* bytes; include/linux/mm_types.h aligns it */
#define SECTION_FRAMES_SHIFT	(27 - PAGE_SHIFT)	/* SECTION_SIZE_BITS */
#define SECTION_FLAGS	63u	/* in section_mem_map */
#define BLOCK_FRAMES_MAX	(1u << 20)
#define CACHES_MAX	1024u
/* MAX_WORDS in src/words.rs */
#define NAMES_MAX	4096u

/* From the file of symbols.h: addresses of variables, of which some kernels have no symbol. */
enum {
	IMAGE,			/* first and last address */
	PAGE_TABLES,
	SECTIONS,		/* mem_section; size of an entry */
	PER_CPU,		/* first and last address of static data */
	PER_CPU_OFFSETS,
	PER_CPU_UNIT,
	CACHES,
	CACHE_LIST,		/* offsets of fields in struct kmem_cache */
	CACHE_NAME,
	CACHE_SIZE,
	CACHE_USERS,
	KINDS,
};

static const char *const kinds[KINDS] = {
	[IMAGE] = "image",
	[PAGE_TABLES] = "tables",
	[SECTIONS] = "sections",
	[PER_CPU] = "percpu",
	[PER_CPU_OFFSETS] = "percpu_offset",
	[PER_CPU_UNIT] = "percpu_unit",
	[CACHES] = "caches",
	[CACHE_LIST] = "cache_list",
	[CACHE_NAME] = "cache_name",
	[CACHE_SIZE] = "cache_size",
	[CACHE_USERS] = "cache_refcount",
};

static struct {
	uint64_t start;
	uint64_t end;
} known[KINDS];

static uint64_t memory;			/* bytes */
static uint64_t insn_vaddr;
static uint64_t insn_host;
static uint64_t image_delta;		/* physical minus virtual addresses of the image */
static bool placed;

static uint64_t caches[CACHES_MAX];
static unsigned int cache_count;
static struct record names[NAMES_MAX];
static uint32_t name_count;

void objects_enable(uint64_t bytes)
{
	memory = bytes;
}

void objects_learn(const char *kind, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < KINDS; i++) {
		if (strcmp(kinds[i], kind))
			continue;
		known[i].start = start;
		known[i].end = end;
	}
}

static bool in_image(uint64_t vaddr)
{
	return vaddr >= known[IMAGE].start && vaddr < known[IMAGE].end;
}

void objects_place_host(uint64_t vaddr, const void *host)
{
	if (insn_host || !in_image(vaddr))
		return;
	insn_vaddr = vaddr;
	insn_host = (uintptr_t)host;
}

void objects_place(uint64_t vaddr, uint64_t physical)
{
	if (placed || !in_image(vaddr))
		return;
	image_delta = physical - vaddr;
	placed = true;
}

void objects_begin_cell(void)
{
	cache_count = 0;
	name_count = 0;
}

/* The kernel copies, so that an address outside the guest's memory is an error. */
static bool read_physical(uint64_t physical, void *to, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { .iov_len = bytes };
	uint64_t offset = physical - guest->memory_start;

	if (!placed || !insn_host || offset >= memory || bytes > memory - offset)
		return false;
	remote.iov_base = (void *)(uintptr_t)(insn_host + physical - insn_vaddr - image_delta);
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* Page tables of both architectures have four levels of 512 entries. */
static bool translate(uint64_t vaddr, uint64_t *physical)
{
	uint64_t table = known[PAGE_TABLES].start + image_delta, entry, low;

	if (!known[PAGE_TABLES].start)
		return false;
	for (unsigned int shift = PAGE_SHIFT + 3 * 9;; shift -= 9) {
		if (!read_physical(table + (vaddr >> shift & 511) * sizeof(entry), &entry,
				   sizeof(entry)) ||
		    !(entry & 1))
			return false;
		table = entry & 0x0000fffffffff000;
		if (shift > PAGE_SHIFT && (entry & guest->table_mask) == guest->table)
			continue;
		low = (1ull << shift) - 1;
		*physical = (table & ~low) | (vaddr & low);
		return true;
	}
}

/* Nothing that is read crosses a page. */
static bool read_virtual(uint64_t vaddr, void *to, size_t bytes)
{
	uint64_t physical;

	return translate(vaddr, &physical) && read_physical(physical, to, bytes);
}

static uint64_t read_variable(uint64_t vaddr)
{
	uint64_t value = 0;

	return vaddr && read_virtual(vaddr, &value, sizeof(value)) ? value : 0;
}

static void find_caches(void)
{
	uint64_t at = read_variable(known[CACHES].start);

	if (!known[CACHE_NAME].start)
		return;
	while (at && at != known[CACHES].start && cache_count < CACHES_MAX) {
		caches[cache_count++] = at - known[CACHE_LIST].start;
		at = read_variable(at);
	}
}

static bool is_cache(uint64_t address)
{
	for (unsigned int i = 0; i < cache_count; i++)
		if (caches[i] == address)
			return true;
	return false;
}

/*
 * Of struct page, by page frame: include/linux/mmzone.h, with SPARSEMEM_EXTREME. The entries of one
 * page of sections cover more memory than PHYSICAL_MAX (transfers.c).
 */
static uint64_t page_array(uint64_t frame)
{
	uint64_t section = read_variable(read_variable(known[SECTIONS].start));

	section += (frame >> SECTION_FRAMES_SHIFT) * known[SECTIONS].end;
	return read_variable(section) & ~(uint64_t)SECTION_FLAGS;
}

/* The struct page of a page frame, or of the first one if several make up a block. */
static bool read_page(uint64_t array, uint64_t *frame, uint64_t page[STRUCT_PAGE / 8])
{
	uint64_t own = array + *frame * STRUCT_PAGE, head;

	if (!read_virtual(own, page, STRUCT_PAGE))
		return false;
	head = page[1] - 1;
	if (!(page[1] & 1))
		return true;
	/* Since 7.1 a mask that turns own into the address of the first. */
	if (-head <= STRUCT_PAGE * BLOCK_FRAMES_MAX)
		head &= own;
	*frame = (head - array) / STRUCT_PAGE;
	return head >= array && read_virtual(head, page, STRUCT_PAGE);
}

static bool describe_object(struct record *record, uint64_t cache, uint64_t offset)
{
	uint64_t name = read_variable(cache + known[CACHE_NAME].start);
	char *copy = (char *)&record->instructions;
	uint32_t size = 0, users = 0;

	if (!read_virtual(cache + known[CACHE_SIZE].start, &size, sizeof(size)) || !size ||
	    !read_virtual(cache + known[CACHE_USERS].start, &users, sizeof(users)))
		return false;
	record->flags = users > 1 ? WORD_SLAB | WORD_MERGED : WORD_SLAB;
	record->offset = (uint16_t)(offset % size);
	for (size_t i = 0; i < sizeof(*record) - offsetof(struct record, instructions); i++)
		if (!read_virtual(name + i, &copy[i], 1) || !copy[i])
			break;
	return true;
}

static void describe_page(struct record *record, uint64_t vaddr, uint64_t physical)
{
	uint64_t page[STRUCT_PAGE / 8], frame = physical >> PAGE_SHIFT;

	if (!cache_count)
		find_caches();
	if (!read_page(page_array(frame), &frame, page))
		return;
	record->flags = vaddr < guest->linear_end ? WORD_PAGE : WORD_MAPPED;
	/* struct slab has its slab_cache in another place in each kernel. */
	for (size_t at = 1; at < STRUCT_PAGE / 8; at++)
		if (is_cache(page[at]) &&
		    describe_object(record, page[at], physical - (frame << PAGE_SHIFT)))
			return;
}

static bool describe_per_cpu(struct record *record, uint64_t vaddr)
{
	uint32_t unit = 0;

	if (!known[PER_CPU_OFFSETS].start ||
	    !read_virtual(known[PER_CPU_UNIT].start, &unit, sizeof(unit)))
		return false;
	for (unsigned int i = 0; i < PROCESSORS_MAX; i++) {
		uint64_t address = known[PER_CPU_OFFSETS].start + i * sizeof(uint64_t);
		uint64_t offset = read_variable(address);

		if (!offset || vaddr - offset - known[PER_CPU].start >= unit)
			continue;
		record->flags = WORD_PER_CPU;
		if (vaddr - offset < known[PER_CPU].end)
			record->instructions = vaddr - offset;
		return true;
	}
	return false;
}

/* The record's number, which is 0, of unknown words, if there are too many. */
static uint32_t number_of(struct record *record)
{
	for (record->number = 0; record->number < name_count; record->number++)
		if (!memcmp(&names[record->number], record, sizeof(*record)))
			return record->number;
	if (name_count == NAMES_MAX)
		return 0;
	names[name_count++] = *record;
	records_put(record);
	return record->number;
}

uint32_t objects_number(uint64_t vaddr, uint64_t physical)
{
	struct record record = { .kind = RECORD_WORD, .flags = WORD_UNKNOWN };

	if (!name_count)
		number_of(&record);
	if (!(vaddr >> 63)) {
		record.flags = WORD_USER;
	} else if (in_image(vaddr)) {
		record.flags = WORD_IMAGE;
		record.instructions = vaddr;
	} else if (!describe_per_cpu(&record, vaddr)) {
		describe_page(&record, vaddr, physical);
	}
	return number_of(&record);
}
