// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The scope of delays is the agent's own control group, which also contains its descendants, or
 * only the agent's process if there are no control groups.
 */
#include <asm/stat.h>
#include <linux/bpf.h>
#include <linux/fcntl.h>
#include "bpf.h"
#include "getdents.h"

#define VM_MOUNT	"/cgroup"
#define PATH_SIZE	2048
#define RECORDS_SIZE	32768
#define TEXT_SIZE	(256 * 1024)	/* limit for /proc/self/mountinfo */

/* Readlink of /proc/self/ns/pid in the initial PID namespace. */
#define FIRST_PID_NAMESPACE	"pid:[4026531836]"

struct group {
	char parent[PATH_SIZE];
	char path[PATH_SIZE];
};

static struct group *group;	/* NULL: none */

/* Cuts off the next blank-separated word; NULL at the end of the line. */
static char *next_word(char **rest)
{
	char *word = *rest, *p = word;

	if (!*word)
		return NULL;
	while (*p && *p != ' ')
		p++;
	if (*p)
		*p++ = '\0';
	*rest = p;
	return word;
}

/* Cuts the first line off *rest; NULL at the end. */
static char *next_line(char **rest)
{
	char *line = *rest, *p = line;

	if (!*line)
		return NULL;
	while (*p && *p != '\n')
		p++;
	if (*p)
		*p++ = '\0';
	*rest = p;
	return line;
}

/*
 * A line of mountinfo: "36 35 0:30 ROOT DIRECTORY rw - cgroup2 cgroup2 rw". Escaped names (with
 * blanks) are not supported.
 */
static int is_cgroup2(char *line, char **root, char **dir)
{
	char *word;
	int i;

	for (i = 0; i < 3; i++)
		if (!next_word(&line))
			return 0;
	*root = next_word(&line);
	*dir = next_word(&line);
	do
		word = next_word(&line);
	while (word && strcmp(word, "-"));
	word = next_word(&line);
	if (!word || strcmp(word, "cgroup2"))
		return 0;
	for (word = *dir; *word; word++)
		if (*word == '\\')
			return 0;
	return 1;
}

/* Finds the agent's current group, as a directory in group->parent. 0 or -errno. */
static long find_parent(char *text)
{
	static const char prefix[] = "0::";
	char *rest = text, *line, *root, *dir, *own = group->path;
	size_t len;
	long n;

	n = read_text("/proc/self/cgroup", text, TEXT_SIZE);
	if (n < 0)
		return n;
	while ((line = next_line(&rest)) && strncmp(line, prefix, strlen(prefix)))
		;
	if (!line)
		return -ENODEV;
	format(own, PATH_SIZE, "%s", line + strlen(prefix));
	/* Above the namespace's root, or longer than a path may be. */
	if (!strncmp(own, "/..", 3) || strlen(own) == PATH_SIZE - 1)
		return -ENOENT;

	n = read_text("/proc/self/mountinfo", text, TEXT_SIZE);
	if (n < 0)
		return n;
	for (rest = text; (line = next_line(&rest));) {
		if (!is_cgroup2(line, &root, &dir))
			continue;
		len = strcmp(root, "/") ? strlen(root) : 0;
		if (strncmp(own, root, len) || (own[len] && own[len] != '/'))
			continue;
		own += len;
		format(group->parent, PATH_SIZE, "%s%s", dir, strcmp(own, "/") ? own : "");
		return 0;
	}
	return -ENODEV;
}

void scope_prepare(void)
{
	sys_mkdir(VM_MOUNT, 0755);
	SYS(mount, "cgroup2", VM_MOUNT, "cgroup2", 0, NULL);
}

/* Moves the agent into the group at `dir`. */
static long move_to(const char *dir)
{
	char path[PATH_SIZE + 16];
	long fd, n;

	format(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = sys_open(path, O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	n = sys_write(fd, "0", 1);
	sys_close(fd);
	return n < 0 ? n : 0;
}

/*
 * Removes groups of killed agents whose processes have ended; rmdir fails for a group that still
 * has processes.
 */
static void remove_stale_groups(void)
{
	static const char prefix[] = "lsmeter-agent-";
	char *records = delay_memory(RECORDS_SIZE);
	struct dirent64 *entry;
	long fd, n, pos;

	fd = sys_open(group->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	while (fd >= 0 && (n = SYS(getdents64, fd, records, RECORDS_SIZE)) > 0) {
		for (pos = 0; (entry = dirent_at(records, n, pos)); pos += entry->d_reclen)
			if (!strncmp(entry->d_name, prefix, strlen(prefix)))
				SYS(unlinkat, fd, entry->d_name, AT_REMOVEDIR);
	}
	if (fd >= 0)
		sys_close(fd);
	SYS(munmap, records, RECORDS_SIZE);
}

/* A group's id is the inode number of its directory. */
static long enter_group(u64 *id)
{
	struct stat st;
	size_t len;
	long err;

	remove_stale_groups();
	len = format(group->path, PATH_SIZE, "%s/lsmeter-agent-%ld", group->parent,
		     SYS(getpid));
	if (len == PATH_SIZE - 1)
		return -ENAMETOOLONG;
	err = sys_mkdir(group->path, 0755);
	if (err < 0)
		return err;
	err = SYS(stat, group->path, &st);
	if (err == 0)
		err = move_to(group->path);
	if (err < 0)
		sys_rmdir(group->path);
	*id = st.st_ino;
	return err;
}

static long make_group(u64 *id)
{
	char *text = delay_memory(TEXT_SIZE);
	long err;

	group = delay_memory(sizeof(*group));
	err = find_parent(text);
	SYS(munmap, text, TEXT_SIZE);
	if (err == 0)
		err = enter_group(id);
	if (err < 0) {
		SYS(munmap, group, sizeof(*group));
		group = NULL;
	}
	return err;
}

/* Programs see PIDs of the initial namespace. */
static void check_namespace(void)
{
	char name[64];
	long len = SYS(readlink, "/proc/self/ns/pid", name, sizeof(name) - 1);

	if (len < 0)
		fatal("/proc/self/ns/pid: %s (%ld); is /proc mounted?",
		      errno_name(len), -len);
	name[len] = '\0';
	if (strcmp(name, FIRST_PID_NAMESPACE))
		fatal("delays by BPF programs: this process is in a PID namespace (%s) "
		      "and no control group can be made: run it outside the container",
		      name);
}

void scope_enter(struct bpf_scope *scope)
{
	u64 id = 0;
	long err = make_group(&id);

	if (err == 0) {
		*scope = (struct bpf_scope){
			.helper = BPF_FUNC_get_current_cgroup_id,
			.value = id,
			.children = 1,
		};
		return;
	}
	check_namespace();
	*scope = (struct bpf_scope){
		.helper = BPF_FUNC_get_current_pid_tgid,
		.shift = 32,
		.value = SYS(getpid),
	};
	send_log("bpf: only the agent's own process is delayed, not what it forks: "
		 "no control group (cgroup2) of its own: %s (%ld)",
		 errno_name(err), -err);
}

void scope_leave(void)
{
	long err;

	if (!group)
		return;
	err = move_to(group->parent);
	if (err == 0)
		err = sys_rmdir(group->path);
	if (err < 0)
		send_log("bpf: the control group %s stays: %s (%ld)", group->path,
			 errno_name(err), -err);
	SYS(munmap, group, sizeof(*group));
	group = NULL;
}
