// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that only observe, as agents have them: an LSM program that looks up the file's name in
 * a map that user space fills, a logger with a ring buffer, and programs on a function, on a
 * tracepoint and on a probe.
 */
#define SEC(name)	__attribute__((section(name), used))
#define RELOCATED	__attribute__((preserve_access_index))
#define HASH		1
#define ARRAY		2
#define OWN_ARRAY	6
#define RING_BUFFER	27

typedef unsigned int u32;
typedef unsigned long long u64;

struct qstr { const unsigned char *name; } RELOCATED;
struct dentry { struct qstr d_name; } RELOCATED;
struct path { struct dentry *dentry; } RELOCATED;
struct file { struct path f_path; } RELOCATED;

static void *(*map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*probe_read_kernel_str)(void *to, u32 size, const void *from) = (void *)115;
static u64 (*get_current_pid_tgid)(void) = (void *)14;
static long (*ringbuf_output)(void *ring, void *data, u64 size, u64 flags) = (void *)130;

struct name {
	char text[16];
};

struct {
	int (*type)[HASH];
	int (*max_entries)[1000];
	struct name *key;
	u32 *value;
} watched SEC(".maps");

struct {
	int (*type)[ARRAY];
	int (*max_entries)[4];
	u32 *key;
	u64 *value;
} counts SEC(".maps");

struct {
	int (*type)[OWN_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	u64 *value;
} own_counts SEC(".maps");

struct {
	int (*type)[RING_BUFFER];
	int (*max_entries)[4096];
} events SEC(".maps");

static inline __attribute__((always_inline)) void count(u32 which)
{
	u64 *value = map_lookup_elem(&counts, &which);

	if (value)
		__sync_fetch_and_add(value, 1);
}

SEC("lsm/file_open")
int filter(u64 *args)
{
	struct file *file = (struct file *)args[0];
	struct name name = { };

	probe_read_kernel_str(name.text, sizeof(name.text), file->f_path.dentry->d_name.name);
	if (map_lookup_elem(&watched, &name))
		count(0);
	return (int)args[1];
}

SEC("lsm/bprm_check_security")
int log_exec(u64 *args)
{
	u64 task = get_current_pid_tgid();

	ringbuf_output(&events, &task, sizeof(task), 0);
	return (int)args[1];
}

/* Neither opens nor executes a file: the agent's report of an access, and a fork before it. */
SEC("lsm/file_permission")
int at_report(u64 *args)
{
	count(0);
	return (int)args[2];
}

SEC("tracepoint/syscalls/sys_enter_fork")
int at_fork(void *context)
{
	(void)context;
	count(0);
	return 0;
}

SEC("fentry/do_filp_open")
int at_function(u64 *args)
{
	(void)args;
	count(1);
	return 0;
}

/* Each processor has its own counter. */
SEC("fentry/do_filp_open")
int at_own(u64 *args)
{
	u32 which = 0;
	u64 *value = map_lookup_elem(&own_counts, &which);

	(void)args;
	if (value)
		++*value;
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_openat")
int at_tracepoint(void *context)
{
	(void)context;
	count(2);
	return 0;
}

SEC("kprobe/do_sys_openat2")
int at_probe(void *context)
{
	(void)context;
	count(3);
	return 0;
}


char LICENSE[] SEC("license") = "GPL";
