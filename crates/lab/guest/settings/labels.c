// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A working set for the access vector cache. The cache contains a decision for each pair of
 * contexts and class, and there are few decisions if all files have the same label. So files from
 * make_file() rotate through labels: a context written to /proc/self/attr/fscreate labels the next
 * file.
 */
#include "../policy.h"
#include "labels.h"

#define FSCREATE	"/proc/self/attr/fscreate"
#define STATS		"/sys/fs/selinux/avc/cache_stats"
#define ATTRIBUTE	"security.selinux"
#define CONTEXT_MAX	256
#define PROBE		"selinux-label"

static u32 labels, made;
static char before[CONTEXT_MAX], behind[CONTEXT_MAX];	/* the type */

static size_t context_of(char *dst, size_t size, u32 label)
{
	return format(dst, size, "%slabel%05u_t%s", before, label + 1, behind);
}

void next_label(void)
{
	char context[2 * CONTEXT_MAX + 16];

	if (!labels)
		return;
	write_whole(FSCREATE, context,
		    context_of(context, sizeof(context), made++ % labels));
}

void no_label(void)
{
	if (labels)
		write_line(FSCREATE, "\n");
}

/* Splits user:role:type and the remainder around the type. */
static void split(const char *context)
{
	size_t n, type, colons = 0;

	for (n = 0; context[n] && colons < 2; n++)
		colons += context[n] == ':';
	for (type = n; context[type] && context[type] != ':'; type++)
		;
	if (colons < 2 || type >= CONTEXT_MAX || strlen(context + type) >= CONTEXT_MAX)
		fatal("selinux: the context %s has no type that can be replaced", context);
	memcpy(before, context, n);
	memcpy(behind, context + type, strlen(context + type) + 1);
}

size_t label_context(char *dst, size_t size, const char *context, u32 number)
{
	split(context);
	return context_of(dst, size, number);
}

/* Lines of numbers, one per processor: lookups hits misses allocations reclaims frees. */
void avc_read(u32 *lookups, u32 *misses)
{
	static char text[4096];
	u32 column = 0, value = 0, digits = 0;
	const char *at;

	*lookups = *misses = 0;
	if (read_text(STATS, text, sizeof(text)) < 0)
		fatal("selinux: " STATS " cannot be read: CONFIG_SECURITY_SELINUX_AVC_STATS");
	for (at = text; ; at++) {
		if (*at >= '0' && *at <= '9') {
			value = value * 10 + (*at - '0');
			digits++;
			continue;
		}
		if (digits) {
			*lookups += column == 0 ? value : 0;
			*misses += column == 2 ? value : 0;
			column++;
		}
		value = digits = 0;
		if (*at == '\n' || !*at)
			column = 0;
		if (!*at)
			return;
	}
}

static void probe_name(char *dst, size_t size, u32 label)
{
	format(dst, size, PROBE "%05u", label);
}

static void open_all(u32 *lookups, u32 *misses)
{
	u32 label, lookups_before, misses_before;
	char name[32];
	long fd;

	avc_read(&lookups_before, &misses_before);
	for (label = 0; label < labels; label++) {
		probe_name(name, sizeof(name), label);
		fd = sys_open(name, O_RDONLY | O_CLOEXEC, 0);
		or_fatal(fd, "selinux: open of ./%s", name);
		sys_close(fd);
	}
	avc_read(lookups, misses);
	*lookups -= lookups_before;
	*misses -= misses_before;
}

void labels_start(const struct policy *p, const char *context)
{
	char name[32], wanted[2 * CONTEXT_MAX + 16], got[CONTEXT_MAX];
	u32 label, lookups, misses, limit = p->avc_entries ? p->avc_entries : 512;
	long n;

	split(context);
	labels = p->labels;
	for (label = 0; label < labels; label++) {
		probe_name(name, sizeof(name), label);
		n = make_file(name, 0);
		or_fatal(n, "selinux: making ./%s", name);
		n = SYS(lgetxattr, name, ATTRIBUTE, got, sizeof(got) - 1);
		or_fatal(n, "selinux: " ATTRIBUTE " of ./%s", name);
		got[n] = '\0';
		context_of(wanted, sizeof(wanted), label);
		if (strcmp(got, wanted))
			fatal("selinux: ./%s should have the label %s, and has %s", name,
			      wanted, got);
	}
	step("selinux: wrote %s to " FSCREATE " before a file is made: it has that label; so on "
	     "up to the type label%05u_t, and again from the first", wanted, labels);
	open_all(&lookups, &misses);
	open_all(&lookups, &misses);
	/* There is one cached decision per file; decisions for directories are few. */
	if (labels > limit && misses < labels - limit)
		fatal("selinux: %u opens of files of as many labels missed the cache of %u "
		      "entries %u times only", labels, limit, misses);
	if (2 * labels + 64 < limit && misses)
		fatal("selinux: %u opens of files of as many labels missed the cache of %u "
		      "entries %u times", labels, limit, misses);
	step("selinux: " STATS ": opening %u files of as many labels again: %u lookups, "
	     "%u misses", labels, lookups, misses);
	for (label = 0; label < labels; label++) {
		probe_name(name, sizeof(name), label);
		n = sys_unlink(name);
		or_fatal(n, "selinux: unlink of ./%s", name);
	}
	made = 0;
}
