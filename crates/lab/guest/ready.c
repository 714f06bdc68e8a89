// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A ready machine is copied, and each copy makes one measurement: counts/plugin/serve.h is the
 * other end. The plugin writes directives into pages that it recognises by their first bytes.
 */
#include "agent.h"

#define READY_MAGIC	0x796461655279614cull
#define READY_PAGES	64

struct ready_page {
	u64 magic;
	u32 number;
	u32 zero;
	char text[PAGE_SIZE - 16];
};

static struct ready_page *pages;

void ready_start(void)
{
	unsigned int i;

	/*
	 * The pages are shared, because a page that is copied at a fork would be a different one.
	 */
	pages = map_shared(READY_PAGES * PAGE_SIZE);
	for (i = 0; i < READY_PAGES; i++) {
		pages[i].number = i;
		pages[i].magic = READY_MAGIC;
	}
}

int ready(void)
{
	char *text = (char *)pages;
	size_t len = 0, room = sizeof(pages->text);
	unsigned int i;

	marker(MARKER_READY);
	for (i = 0; i < READY_PAGES; i++)
		memmove(text + i * room, pages[i].text, room);
	while (len < READY_PAGES * room && text[len])
		len++;
	parse_directives(text, len);
	/* Benchmarks that fork do not copy it. */
	SYS(munmap, pages, READY_PAGES * PAGE_SIZE);
	return len != 0;
}
