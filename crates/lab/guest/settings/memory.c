// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The metric memory. For a boot: memory in use once its policies are in force. For an object (an
 * inode, a task): growth of slabs per object, over thousands of them.
 *
 * A confined process may not be allowed to read any of this, so the process of outside.h does.
 */
#include <linux/resource.h>
#include <linux/stat.h>
#include "../policy.h"
#include "memory.h"
#include "outside.h"

#define CACHES_MAX	1024
#define TEXT_MAX	(256u << 10)
#define TMPFS_MAGIC	0x01021994
#define SETTLE_MS	200
#define LIMIT_NPROC	6
#define LIMIT_NOFILE	7
#define SIGKILL		9

struct cache {
	char name[40];
	u64 used, size;
};

/* From /proc/meminfo, in bytes; 0 if missing. */
struct totals {
	u64 used, slab, percpu, vmalloc;
};

/* And /proc/slabinfo by cache. */
struct reading {
	struct totals totals;
	unsigned int caches;
	struct cache cache[CACHES_MAX];
};

#define OBJECTS_MAX	4096

/* Mapped only for memory measurements, because a larger agent would change other counts. */
static volatile struct shared {
	struct reading reading, before;
	struct totals boot;	/* before any measurement */
	int has_booted;
	int handles[OBJECTS_MAX];
	char text[TEXT_MAX];
} *shared;

static void write_text(const char *path, const char *text)
{
	long fd = sys_open(path, O_WRONLY | O_CLOEXEC, 0);

	sys_write(fd, text, strlen(text));
	sys_close(fd);
}

/* Reads the file into shared->text; -errno if that is incomplete. */
static long read_whole(const char *path)
{
	char *text = (char *)shared->text;
	long fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0), n = 0;
	size_t len = 0;

	if (fd < 0)
		return fd;
	while (len < TEXT_MAX - 1 && (n = sys_read(fd, text + len, TEXT_MAX - 1 - len)) > 0)
		len += n;
	sys_close(fd);
	text[len] = '\0';
	return n < 0 ? n : n ? -EOVERFLOW : 0;
}

static const char *skip_blanks(const char *at)
{
	while (*at == ' ')
		at++;
	return at;
}

static const char *next_number(const char *at, u64 *value)
{
	at = skip_blanks(at);
	for (*value = 0; *at >= '0' && *at <= '9'; at++)
		*value = *value * 10 + *at - '0';
	return at;
}

static const char *next_line(const char *at)
{
	while (*at && *at != '\n')
		at++;
	return *at ? at + 1 : at;
}

/* A line of /proc/meminfo, in bytes; 0 if missing. */
static u64 meminfo(const char *key)
{
	size_t len = strlen(key);
	const char *at;
	u64 kib = 0;

	for (at = (const char *)shared->text; *at; at = next_line(at))
		if (!strncmp(at, key, len) && at[len] == ':') {
			next_number(at + len + 1, &kib);
			break;
		}
	return kib << 10;
}

/* "name used all size ...", after two header lines. */
static void parse_caches(struct reading *r)
{
	const char *at = next_line(next_line((const char *)shared->text));
	struct cache *cache;
	const char *end;
	size_t len;
	u64 all;

	for (r->caches = 0; *at && r->caches < CACHES_MAX; at = next_line(at)) {
		cache = &r->cache[r->caches++];
		for (end = at; *end && *end != ' ' && *end != '\n'; end++)
			;
		len = end - at;
		if (len >= sizeof(cache->name))
			len = sizeof(cache->name) - 1;
		memcpy(cache->name, at, len);
		cache->name[len] = '\0';
		end = next_number(end, &cache->used);
		end = next_number(end, &all);
		next_number(end, &cache->size);
	}
}

/* Runs in the process outside policies. */
static long take_reading(const void *none)
{
	struct reading *r = (struct reading *)&shared->reading;
	long err;

	(void)none;
	SYS(sync);
	/* Waits for objects that are freed after a grace period. */
	pause_ms(SETTLE_MS);
	err = read_whole("/proc/slabinfo");
	if (err < 0)
		return err;
	parse_caches(r);
	err = read_whole("/proc/meminfo");
	if (err < 0)
		return err;
	r->totals.slab = meminfo("Slab");
	r->totals.percpu = meminfo("Percpu");
	r->totals.vmalloc = meminfo("VmallocUsed");
	/* Excludes files of the initramfs and of the disk, whose number depends on the policy. */
	r->totals.used = meminfo("MemTotal") - meminfo("MemFree") - meminfo("Buffers") -
			 meminfo("Cached");
	return 0;
}

/* Also runs outside: drops caches and per-CPU pages. */
static long drop_all(const void *none)
{
	(void)none;
	SYS(sync);
	write_text("/proc/sys/vm/drop_caches", "3");
	write_text("/proc/sys/vm/compact_memory", "1");
	pause_ms(SETTLE_MS);
	return 0;
}

static long read_all(void)
{
	return outside_do(take_reading, NULL, 0);
}

void memory_start(void)
{
	const struct rlimit64 most = { 1 << 16, 1 << 16 };

	if (!experiment.of_memory)
		return;
	shared = map_shared(sizeof(*shared));
	write_text("/proc/sys/kernel/threads-max", "65536");
	SYS(prlimit64, 0, LIMIT_NOFILE, &most, NULL);
	SYS(prlimit64, 0, LIMIT_NPROC, &most, NULL);
	outside_start();
}

/* -- objects: make() creates the i-th, and keeps it until end() */

struct object {
	unsigned int count;
	long (*make)(struct cell *c, unsigned int i);
	void (*end)(struct cell *c, unsigned int made);
};

static long make_inode(struct cell *c, unsigned int i)
{
	format(c->path, sizeof(c->path), "%u", i);
	return make_file(c->path, 0);
}

static long open_again(struct cell *c, unsigned int i)
{
	(void)c;
	return shared->handles[i] = sys_open("file", O_RDONLY | O_CLOEXEC, 0);
}

static long make_socket(struct cell *c, unsigned int i)
{
	(void)c;
	return shared->handles[i] = SYS(socket, 1 /* AF_UNIX */, 1 /* SOCK_STREAM */, 0);
}

static void close_all(struct cell *c, unsigned int made)
{
	(void)c;
	while (made--)
		sys_close(shared->handles[made]);
}

static long make_task(struct cell *c, unsigned int i)
{
	const struct {
		s64 sec, nsec;
	} long_time = { 1 << 20, 0 };
	long pid = SYS(fork);

	(void)c;
	if (!pid)
		for (;;)
			SYS(nanosleep, &long_time, NULL);
	return shared->handles[i] = pid;
}

static void kill_all(struct cell *c, unsigned int made)
{
	(void)c;
	while (made--) {
		/* Do not wait for a task that the policy does not allow the agent to kill. */
		if (SYS(kill, shared->handles[made], SIGKILL) < 0)
			continue;
		while (SYS(wait4, shared->handles[made], NULL, 0, NULL) == -EINTR)
			;
	}
}

static long make_queue(struct cell *c, unsigned int i)
{
	(void)c;
	return shared->handles[i] = SYS(msgget, 0 /* IPC_PRIVATE */, 0600);
}

static void remove_queues(struct cell *c, unsigned int made)
{
	(void)c;
	while (made--)
		SYS(msgctl, shared->handles[made], 0 /* IPC_RMID */, NULL);
}

enum variant_of_memory {
	BOOT, BOOT_SLAB, BOOT_PERCPU, BOOT_VMALLOC, INODE, FILE, SOCKET, QUEUE, TASK,
};

static const struct object objects[] = {
	[INODE] = { 4096, make_inode, NULL },
	[FILE] = { 4096, open_again, close_all },
	[SOCKET] = { 4096, make_socket, close_all },
	[QUEUE] = { 4096, make_queue, remove_queues },
	[TASK] = { 2048, make_task, kill_all },
};

static const struct cache *find_cache(const struct reading *in, const struct cache *like,
				      unsigned int near)
{
	unsigned int i;

	if (near < in->caches && !strcmp(in->cache[near].name, like->name))
		return &in->cache[near];
	for (i = 0; i < in->caches; i++)
		if (!strcmp(in->cache[i].name, like->name))
			return &in->cache[i];
	return NULL;
}

/*
 * Slab memory of each of `count` objects. A cache's number of used objects is exact except for a
 * few per-CPU slabs, so the share of each created object is rounded to an integer. A shared object
 * (a disk buffer) is not counted.
 */
static s64 held(const struct reading *after, unsigned int count)
{
	const struct cache *new, *old;
	s64 grown, half, sum = 0;
	unsigned int i;

	for (i = 0; i < after->caches; i++) {
		new = &after->cache[i];
		old = find_cache((const struct reading *)&shared->before, new, i);
		grown = new->used - (old ? old->used : 0);
		half = grown < 0 ? -(s64)(count / 2) : count / 2;
		sum += (grown + half) / (s64)count * (s64)new->size;
	}
	return sum;
}

static long is_tmpfs(void)
{
	struct {
		s64 type, rest[32];
	} found = { 0 };
	long err = SYS(statfs, ".", &found);

	return err < 0 ? err : found.type == TMPFS_MAGIC;
}

static int take_before(void)
{
	long err = read_all();

	memcpy((void *)&shared->before, (const void *)&shared->reading, sizeof(shared->before));
	return err;
}

/* Inodes on a disk are read again, so that only inodes are counted, without disk buffers. */
static long read_inodes(struct cell *c, unsigned int count)
{
	struct statx found;
	unsigned int i;
	long err;

	outside_do(drop_all, NULL, 0);
	err = take_before();
	for (i = 0; !err && i < count; i++) {
		format(c->path, sizeof(c->path), "%u", i);
		err = SYS(statx, AT_FDCWD, c->path, 0, STATX_BASIC_STATS, &found);
	}
	return err;
}

static int unread(struct cell *c, long err)
{
	if (err == -ENOENT)
		return unsupported(c, "this kernel does not tell what it holds (/proc/slabinfo)",
				   err);
	return explain(c, "reading what the kernel holds", err);
}

static int measure_objects(struct cell *c, const struct object *object)
{
	unsigned int made = 0;
	long err, in_memory;
	s64 sum = 0;

	in_memory = is_tmpfs();
	err = make_file("file", 1);
	if (in_memory < 0 || err < 0)
		return explain(c, "making a file", err < 0 ? err : in_memory);
	err = take_before();
	for (; err >= 0 && made < object->count; made++) {
		err = object->make(c, made);
		if (err < 0) {
			explain(c, "making one more", err);
			break;
		}
	}
	if (err >= 0 && object->make == make_inode && !in_memory)
		err = read_inodes(c, made);
	if (err >= 0)
		err = read_all();
	if (err >= 0)
		sum = held((const struct reading *)&shared->reading, made);
	if (object->end)
		object->end(c, made);
	if (err < 0)
		return unread(c, err);
	if (sum <= 0)
		return failed(c, "nothing more is held", 0);
	cell_samples[0] = (struct sample){ made, made * sum };
	return 0;
}

static u64 of_boot(enum variant_of_memory which)
{
	const struct totals *boot = (const struct totals *)&shared->boot;

	switch (which) {
	case BOOT_SLAB:
		return boot->slab;
	case BOOT_PERCPU:
		return boot->percpu;
	case BOOT_VMALLOC:
		return boot->vmalloc;
	default:
		return boot->used;
	}
}

int measure_memory(const struct cell_spec *spec, struct cell *c, struct outcome *out)
{
	enum variant_of_memory which = spec->variant->arg;
	long err = 0;
	u64 bytes;

	outside_do(drop_all, NULL, 0);
	if (!shared->has_booted) {
		err = read_all();
		if (err < 0)
			return unread(c, err);
		memcpy((void *)&shared->boot, (const void *)&shared->reading.totals,
		       sizeof(shared->boot));
		shared->has_booted = 1;
	}
	if (which >= INODE) {
		err = measure_objects(c, &objects[which]);
	} else {
		bytes = of_boot(which);
		if (!bytes)
			return unsupported(c, "this kernel's /proc/meminfo does not tell it", 0);
		cell_samples[0] = (struct sample){ 1, bytes };
	}
	if (err < 0)
		return err;
	out->samples = 1;
	out->operations = cell_samples[0].operations;
	return 0;
}

BENCH("memory", FLOOR, BEYOND, 0, "what the kernel holds",
      .source = "proc_meminfo(5), slabinfo(5)", .syscalls = "", .measures = MEASURE_MEMORY,
      .variants = VARIANTS({ "boot", .arg = BOOT },
			   { "boot-slab", .arg = BOOT_SLAB },
			   { "boot-percpu", .arg = BOOT_PERCPU },
			   { "boot-vmalloc", .arg = BOOT_VMALLOC },
			   { "inode", .arg = INODE },
			   { "file", .arg = FILE },
			   { "socket", .arg = SOCKET },
			   { "queue", .arg = QUEUE },
			   { "task", .arg = TASK }));
