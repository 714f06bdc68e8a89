// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"

#define RANGES_MAX	1024

struct range {
	uint64_t start;
	uint64_t end;
	enum symbol_kind kind;
};

static struct range ranges[RANGES_MAX];
static size_t range_count;

static enum symbol_kind parse_kind(const char *word)
{
	if (!strcmp(word, "interrupt"))
		return SYMBOL_INTERRUPT;
	if (!strcmp(word, "exception"))
		return SYMBOL_EXCEPTION;
	if (!strcmp(word, "switch"))
		return SYMBOL_SWITCH;
	if (!strcmp(word, "idle"))
		return SYMBOL_IDLE;
	return SYMBOL_NONE;
}

static int by_start(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

int symbols_load(const char *path)
{
	char line[128], word[16];
	FILE *file = fopen(path, "re");

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		struct range range;

		if (range_count == RANGES_MAX ||
		    sscanf(line, "%15s %" SCNx64 " %" SCNx64, word, &range.start,
			   &range.end) != 3) {
			fclose(file);
			return -EINVAL;
		}
		range.kind = parse_kind(word);
		if (range.kind != SYMBOL_NONE)
			ranges[range_count++] = range;
		else
			objects_learn(word, range.start, range.end);
	}
	fclose(file);
	qsort(ranges, range_count, sizeof(ranges[0]), by_start);
	return (int)range_count;
}

enum symbol_kind symbols_kind(uint64_t address)
{
	size_t low = 0, high = range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < ranges[low - 1].end ? ranges[low - 1].kind : SYMBOL_NONE;
}

bool symbols_known(void)
{
	return range_count > 0;
}
