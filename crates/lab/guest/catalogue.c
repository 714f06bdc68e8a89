// SPDX-License-Identifier: GPL-2.0-or-later
/* The linked benchmarks, in listing order. */
#include "agent.h"

#define BENCHMARKS_MAX	256

#ifndef AT_FORMS	/* without at-forms.h, calls are made in the form of their name */
#define AT_FORMS
#endif

/* The linker defines these for the section that BENCH() fills. */
extern const struct benchmark *const __start_benchmarks[];
extern const struct benchmark *const __stop_benchmarks[];

static const char *const suite_names[] = {
	[SUITE_PAPER] = "paper",
	[SUITE_LMBENCH] = "lmbench",
	[SUITE_HOWELLS] = "howells",
	[SUITE_BEYOND] = "beyond",
	[SUITE_NETWORK] = "network",
	[SUITE_IPC] = "ipc",
	[SUITE_PROCESS] = "process",
	[SUITE_ADMIN] = "admin",
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
	[CLASS_SOCKET] = "socket",
	[CLASS_MESSAGE] = "message",
	[CLASS_IPC] = "ipc",
	[CLASS_SIGNAL] = "signal",
	[CLASS_TRACE] = "trace",
	[CLASS_CREDENTIALS] = "credentials",
	[CLASS_SCHEDULING] = "scheduling",
	[CLASS_NAMESPACE] = "namespace",
	[CLASS_ADMIN] = "admin",
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

	for (v = program_variants(b); v->name; v++)
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

/* The measured calls, such as "open close", in the form that this architecture has. */
static void made_calls(const char *calls, char *dst, size_t size)
{
	static const struct {
		const char *name, *made;
	} forms[] = { AT_FORMS { NULL, NULL } }, *form;
	char word[64];
	size_t n;

	*dst = '\0';
	while (*calls) {
		for (n = 0; calls[n] && calls[n] != ' '; n++)
			if (n + 1 < sizeof(word))
				word[n] = calls[n];
		word[n + 1 < sizeof(word) ? n : sizeof(word) - 1] = '\0';
		for (form = forms; form->name && strcmp(form->name, word);)
			form++;
		calls += n + (calls[n] == ' ');
		n = format(dst, size, "%s%s", form->name ? form->made : word,
			   *calls ? " " : "");
		dst += n;
		size -= n;
	}
}

/* Prints a tab-separated line per variant, for the build; returns the exit status. */
int list_benchmarks(void)
{
	const struct benchmark *const *all;
	const struct variant *v;
	unsigned int count, i;
	char line[2048], calls[256];
	size_t len;

	all = benchmarks(&count);
	for (i = 0; i < count; i++) {
		const struct benchmark *b = all[i];

		/* Measures no call: selected by its metric. */
		if (b->measures == MEASURE_MEMORY)
			continue;
		for (v = b->variants; v->name; v++) {
			made_calls(v->syscalls ? v->syscalls : b->syscalls, calls,
				   sizeof(calls));
			len = format(line, sizeof(line),
				     "%s\t%u\t%s\t%s\t%s\t%u\t%s\t%s\t%s\t%u\t%u\t%u\t%u\t%u\t%s\n",
				     suite_names[b->suite], b->number, b->name,
				     v->name, class_names[b->class], b->measures,
				     calls, b->source, b->summary,
				     b->max_batch, b->composite,
				     b->counts_children,
				     v->together ? v->together : b->repetitions,
				     v->depth, v->modules ? v->modules : "-");
			if (put_line(line, len))
				return 1;
		}
	}
	return 0;
}
