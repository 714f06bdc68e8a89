// SPDX-License-Identifier: GPL-2.0-or-later
#include "functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any kernel with its modules has. */
#define RANGES_MAX	(1u << 20)

struct range {
	uint64_t start;
	uint64_t end;
	struct function function;
	bool part;		/* split off from its function, never called */
};

/* An exception table entry. */
struct fixup {
	uint64_t instruction;
	uint64_t resumes_at;
};

static struct range *ranges;
static size_t range_count, range_size;
static struct fixup *fixups;
static size_t fixup_count, fixup_size;
static uint64_t landing_pad;

/* Makes space for one more element; NULL if there are too many. */
static void *grow(void *things, size_t count, size_t *size, size_t bytes)
{
	if (count < *size)
		return things;
	*size = *size ? 2 * *size : 1 << 12;
	return *size > RANGES_MAX ? NULL : realloc(things, *size * bytes);
}

static int add_fixup(const char *line)
{
	struct fixup fixup, *more;

	if (sscanf(line, "x %" SCNx64 " %" SCNx64, &fixup.instruction, &fixup.resumes_at) != 2 ||
	    (fixup_count && fixup.instruction < fixups[fixup_count - 1].instruction))
		return -EINVAL;
	more = grow(fixups, fixup_count, &fixup_size, sizeof(*more));
	if (!more)
		return -ENOMEM;
	fixups = more;
	fixups[fixup_count++] = fixup;
	return 0;
}

static int add(const char *line)
{
	struct range range = { 0 }, *more;
	char flags[16];

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNu32 " %15s", &range.start, &range.end,
		   &range.function.number, flags) != 4)
		return -EINVAL;
	if (range.end <= range.start ||
	    (range_count && range.start < ranges[range_count - 1].end))
		return -EINVAL;
	range.function.thunk = strchr(flags, 't');
	range.function.syscall = strchr(flags, 's');
	range.function.forks = strchr(flags, 'f');
	range.function.sigreturn = strchr(flags, 'r');
	range.function.copies_stack = strchr(flags, 'c');
	range.part = strchr(flags, 'p');
	more = grow(ranges, range_count, &range_size, sizeof(*more));
	if (!more)
		return -ENOMEM;
	ranges = more;
	ranges[range_count++] = range;
	return 0;
}

int functions_load(const char *path)
{
	char line[128];
	FILE *file = fopen(path, "re");
	int ret = 0;

	if (!file)
		return -errno;
	if (!fgets(line, sizeof(line), file) || sscanf(line, "%" SCNu64, &landing_pad) != 1)
		ret = -EINVAL;
	while (!ret && fgets(line, sizeof(line), file))
		ret = *line == 'x' ? add_fixup(line) : add(line);
	fclose(file);
	return ret;
}

struct function functions_at(uint64_t address)
{
	static const struct function unknown = { .number = FUNCTION_UNKNOWN };
	size_t low = 0, high = range_count;
	struct function function;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= ranges[low - 1].end)
		return unknown;
	function = ranges[low - 1].function;
	function.entry = !ranges[low - 1].part &&
			 address - ranges[low - 1].start <= landing_pad;
	return function;
}

uint64_t functions_failing(uint64_t first, uint64_t last, uint64_t fixup)
{
	size_t low = 0, high = fixup_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fixups[middle].instruction < first)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < fixup_count && fixups[low].instruction <= last; low++)
		if (fixups[low].resumes_at == fixup)
			return fixups[low].instruction;
	return 0;
}
