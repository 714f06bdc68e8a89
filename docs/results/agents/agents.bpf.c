// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Four ideas of published agents, none of which denies anything: a log of programs, a filter of
 * paths, systemd's restrict_filesystems, and a count of opened files.
 *
 * docs/results/measure compiles it.
 */
#include <linux/bpf.h>

#define SEC(name)	__attribute__((section(name), used))
#define RELOCATED	__attribute__((preserve_access_index))
#define PATH_LEN	256
#define FULL		(8 * PATH_LEN)

typedef __u32 u32;
typedef __u64 u64;

struct super_block { unsigned long s_magic; } RELOCATED;
struct inode { struct super_block *i_sb; } RELOCATED;
struct path { void *dentry; } RELOCATED;
struct file { struct path f_path; struct inode *f_inode; } RELOCATED;
struct linux_binprm { const char *filename; } RELOCATED;

static void *(*map_lookup_elem)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static u64 (*ktime_get_ns)(void) = (void *)BPF_FUNC_ktime_get_ns;
static u64 (*get_current_pid_tgid)(void) = (void *)BPF_FUNC_get_current_pid_tgid;
static u64 (*get_current_cgroup_id)(void) = (void *)BPF_FUNC_get_current_cgroup_id;
static void *(*ringbuf_reserve)(void *ring, u64 size, u64 flags) = (void *)BPF_FUNC_ringbuf_reserve;
static void (*ringbuf_submit)(void *data, u64 flags) = (void *)BPF_FUNC_ringbuf_submit;
static long (*probe_read_kernel_str)(void *to, u32 size, const void *from) =
	(void *)BPF_FUNC_probe_read_kernel_str;
static long (*d_path)(struct path *path, char *to, u32 size) = (void *)BPF_FUNC_d_path;

struct event {
	u64 ns, task;
	char path[PATH_LEN];
};

struct prefix {
	u32 bits;
	char path[PATH_LEN];
};

/* magic 0: are file systems restricted in this control group? */
struct restriction {
	u64 cgroup, magic;
};

struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[1 << 20];
} events SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_LPM_TRIE];
	int (*map_flags)[BPF_F_NO_PREALLOC];
	int (*max_entries)[1000];
	struct prefix *key;
	u32 *value;
} prefixes SEC(".maps");

/* The stack of a program has 512 bytes. */
struct {
	int (*type)[BPF_MAP_TYPE_PERCPU_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	struct prefix *value;
} scratch SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	int (*max_entries)[1000];
	struct restriction *key;
	u32 *value;
} restrictions SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_PERCPU_ARRAY];
	int (*max_entries)[2];
	u32 *key;
	u64 *value;
} counts SEC(".maps");

static inline __attribute__((always_inline)) void count(u32 which)
{
	u64 *value = map_lookup_elem(&counts, &which);

	if (value)
		++*value;
}

SEC("lsm/bprm_check_security")
int log_exec(u64 *args)
{
	struct linux_binprm *program = (struct linux_binprm *)args[0];
	struct event *event = ringbuf_reserve(&events, sizeof(*event), 0);

	if (!event)
		return 0;
	event->ns = ktime_get_ns();
	event->task = get_current_pid_tgid();
	probe_read_kernel_str(event->path, sizeof(event->path), program->filename);
	ringbuf_submit(event, 0);
	return 0;
}

SEC("lsm/file_open")
int filter_path(u64 *args)
{
	struct file *file = (struct file *)args[0];
	u32 zero = 0;
	struct prefix *path = map_lookup_elem(&scratch, &zero);

	if (!path || d_path(&file->f_path, path->path, sizeof(path->path)) < 0)
		return 0;
	path->bits = FULL;
	if (map_lookup_elem(&prefixes, path))
		count(1);
	return 0;
}

SEC("lsm/file_open")
int restrict_filesystems(u64 *args)
{
	struct file *file = (struct file *)args[0];
	struct restriction key = { .cgroup = get_current_cgroup_id() };

	if (!map_lookup_elem(&restrictions, &key))
		return 0;
	key.magic = file->f_inode->i_sb->s_magic;
	return map_lookup_elem(&restrictions, &key) ? 0 : -1;
}

SEC("lsm/file_open")
int count_lsm(u64 *args)
{
	(void)args;
	count(0);
	return 0;
}

SEC("fentry/security_file_open")
int count_fentry(u64 *args)
{
	(void)args;
	count(0);
	return 0;
}

SEC("kprobe/security_file_open")
int count_kprobe(void *context)
{
	(void)context;
	count(0);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_open")
int count_tracepoint(void *context)
{
	(void)context;
	count(0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
