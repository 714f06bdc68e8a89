// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads CLOCK_MONOTONIC_RAW, which NTP does not slew. The system call costs as much as a short
 * benchmark, so this looks up the vDSO function, as a dynamic linker would. Without a vDSO it
 * makes the system call.
 */
#include <linux/auxvec.h>
#include <linux/elf.h>
#include <linux/time.h>
#include "agent.h"

#define CLOCK_COST_TRIES	2000

typedef long (*clock_gettime_fn)(long id, struct timespec *ts);

static clock_gettime_fn vdso_clock_gettime;
u64 clock_cost_ns;

struct vdso {
	u64 bias;
	const Elf64_Sym *symbols;
	const char *strings;
	const u32 *hash;
	const u32 *gnu_hash;
};

static u64 symbol_count(const struct vdso *v)
{
	const u32 *buckets, *chains;
	u32 i, last = 0;

	if (v->hash)
		return v->hash[1];
	/* GNU layout: buckets, first symbol, bloom words, shift; then arrays. */
	buckets = v->gnu_hash + 4 + 2 * (u64)v->gnu_hash[2];
	chains = buckets + v->gnu_hash[0];
	for (i = 0; i < v->gnu_hash[0]; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < v->gnu_hash[1])
		return 0;
	while (!(chains[last - v->gnu_hash[1]] & 1))
		last++;
	return (u64)last + 1;
}

static clock_gettime_fn find_in_vdso(u64 base)
{
	const Elf64_Ehdr *ehdr = (const void *)base;
	const Elf64_Phdr *phdr = (const void *)(base + ehdr->e_phoff);
	const Elf64_Dyn *dyn = NULL;
	struct vdso v = { .bias = base };
	u64 i, count;

	for (i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_LOAD)
			v.bias = base + phdr[i].p_offset - phdr[i].p_vaddr;
		else if (phdr[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(base + phdr[i].p_offset);
	}
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		const void *p = (const void *)(v.bias + dyn->d_un.d_ptr);

		if (dyn->d_tag == DT_SYMTAB)
			v.symbols = p;
		else if (dyn->d_tag == DT_STRTAB)
			v.strings = p;
		else if (dyn->d_tag == DT_HASH)
			v.hash = p;
		else if (dyn->d_tag == 0x6ffffef5)	/* DT_GNU_HASH */
			v.gnu_hash = p;
	}
	if (!v.symbols || !v.strings || (!v.hash && !v.gnu_hash))
		return NULL;
	count = symbol_count(&v);
	for (i = 1; i < count; i++)
		if (v.symbols[i].st_shndx &&
		    !strcmp(v.strings + v.symbols[i].st_name, ARCH_VDSO_CLOCK_GETTIME))
			return (clock_gettime_fn)(v.bias + v.symbols[i].st_value);
	return NULL;
}

u64 busy_ns(void)
{
	struct timespec ts;

	SYS(clock_gettime, CLOCK_THREAD_CPUTIME_ID, &ts);
	return (u64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

u64 now_ns(void)
{
	struct timespec ts;

	if (vdso_clock_gettime)
		vdso_clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	else
		SYS(clock_gettime, CLOCK_MONOTONIC_RAW, &ts);
	return (u64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void clock_start(const u64 *auxv)
{
	struct timespec ts;
	u64 a, b, least = ~0ull;
	int i;

	for (; auxv[0] != AT_NULL; auxv += 2)
		if (auxv[0] == AT_SYSINFO_EHDR && auxv[1])
			vdso_clock_gettime = find_in_vdso(auxv[1]);
	if (vdso_clock_gettime &&
	    vdso_clock_gettime(CLOCK_MONOTONIC_RAW, &ts))
		vdso_clock_gettime = NULL;
	for (i = 0; i < CLOCK_COST_TRIES; i++) {
		a = now_ns();
		b = now_ns();
		if (b - a < least)
			least = b - a;
	}
	/* The clock's resolution may exceed its cost. */
	clock_cost_ns = least ? least : 1;
}
