// SPDX-License-Identifier: GPL-2.0-or-later
/* The benchmarks that were linked in, in the order in which they are listed. */
#include "agent.h"

#define BENCHMARKS_MAX	256

/* The linker makes these from the section that BENCHMARK() fills. */
extern const struct benchmark *const __start_benchmarks[];
extern const struct benchmark *const __stop_benchmarks[];

static const char *const suite_names[] = {
	[SUITE_PAPER] = "paper",
	[SUITE_LMBENCH] = "lmbench",
	[SUITE_HOWELLS] = "howells",
	[SUITE_BEYOND] = "beyond",
};

static const char *const class_names[] = {
	[CLASS_FILE] = "file",
	[CLASS_DIR] = "directory",
	[CLASS_LINK] = "link",
	[CLASS_ATTR] = "attribute",
	[CLASS_XATTR] = "xattr",
	[CLASS_DESCRIPTOR] = "descriptor",
	[CLASS_READ_WRITE] = "read-write",
	[CLASS_EVENT] = "event",
	[CLASS_PROCESS] = "process",
	[CLASS_FLOOR] = "floor",
};

static int after(const struct benchmark *a, const struct benchmark *b)
{
	if (a->suite != b->suite)
		return a->suite > b->suite;
	if (a->number != b->number)
		return a->number > b->number;
	return strcmp(a->name, b->name) > 0;
}

const struct benchmark *const *benchmarks(unsigned int *count)
{
	static const struct benchmark *sorted[BENCHMARKS_MAX];
	static unsigned int n;
	const struct benchmark *const *p;
	unsigned int k;

	if (!n) {
		for (p = __start_benchmarks;
		     p < __stop_benchmarks && n < BENCHMARKS_MAX; p++) {
			for (k = n++; k && after(sorted[k - 1], *p); k--)
				sorted[k] = sorted[k - 1];
			sorted[k] = *p;
		}
	}
	*count = n;
	return sorted;
}

const struct benchmark *find_benchmark(const char *name)
{
	const struct benchmark *const *p;

	for (p = __start_benchmarks; p < __stop_benchmarks; p++)
		if (!strcmp((*p)->name, name))
			return *p;
	return NULL;
}

const struct variant *find_variant(const struct benchmark *b, const char *name)
{
	const struct variant *v;

	for (v = b->variants; v->name; v++)
		if (!strcmp(v->name, name))
			return v;
	return NULL;
}

static int put_line(const char *text, size_t len)
{
	long n;

	while (len) {
		n = sys_write(1, text, len);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return 1;
		text += n;
		len -= n;
	}
	return 0;
}

/* One tab-separated line a variant, for the build; its exit status. */
int list_benchmarks(void)
{
	const struct benchmark *const *all;
	const struct variant *v;
	unsigned int count, i;
	char line[2048];
	size_t len;

	all = benchmarks(&count);
	for (i = 0; i < count; i++) {
		const struct benchmark *b = all[i];

		for (v = b->variants; v->name; v++) {
			len = format(line, sizeof(line),
				     "%s\t%u\t%s\t%s\t%s\t%u\t%s\t%s\t%s\t%u\t%u\t%u\t%u\n",
				     suite_names[b->suite], b->number, b->name,
				     v->name, class_names[b->class], b->measures,
				     b->syscalls, b->source, b->summary,
				     b->max_batch, b->composite,
				     b->counts_children,
				     v->together ? v->together : b->repetitions);
			if (put_line(line, len))
				return 1;
		}
	}
	return 0;
}
