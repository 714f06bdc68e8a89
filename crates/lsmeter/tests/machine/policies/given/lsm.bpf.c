// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LSM programs as users write them: one that guards files by their name, as host intrusion
 * detection does, one that the verifier refuses, one that denies all, one for no hook.
 */
#define SEC(name)	__attribute__((section(name), used))
#define RELOCATED	__attribute__((preserve_access_index))

typedef unsigned int u32;
typedef unsigned long long u64;

struct qstr { const unsigned char *name; } RELOCATED;
struct dentry { struct qstr d_name; } RELOCATED;
struct path { struct dentry *dentry; } RELOCATED;
struct file { struct path f_path; } RELOCATED;

static void *(*map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*probe_read_kernel_str)(void *to, u32 size, const void *from) = (void *)115;

/* BPF_MAP_TYPE_ARRAY, with one entry. */
struct {
	int (*type)[2];
	int (*max_entries)[1];
	u32 *key;
	u64 *value;
} opens SEC(".maps");

const volatile char guarded[8] = "shadow";

SEC("lsm/file_open")
int guard(u64 *args)
{
	struct file *file = (struct file *)args[0];
	int before = args[1];
	char name[8] = { };
	u32 key = 0;
	u64 *count = map_lookup_elem(&opens, &key);

	if (count)
		__sync_fetch_and_add(count, 1);
	if (before)
		return before;
	probe_read_kernel_str(name, sizeof(name), file->f_path.dentry->d_name.name);
#pragma unroll
	for (int i = 0; i < 7; i++)
		if (name[i] != guarded[i])
			return 0;
	return -1;
}

SEC("lsm/file_open")
int wild(u64 *args)
{
	(void)args;
	return *(volatile int *)16;
}

SEC("lsm/file_open")
int all(u64 *args)
{
	(void)args;
	return -1;
}

SEC("lsm/no_such_hook")
int nowhere(u64 *args)
{
	(void)args;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
