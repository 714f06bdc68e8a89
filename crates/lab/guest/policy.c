// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads policies, and checks that they are enforced. */
#include <linux/mman.h>
#include "policy.h"
#include "denials.h"
#include "settings/first.h"
#include "settings/given.h"

extern const struct policy_module *const __start_policies[];
extern const struct policy_module *const __stop_policies[];

#define FILE_MAX	(64u << 20)

const char *agent_root = "";
int steps_are_reported = 1;

static struct policy policies[POLICIES_MAX];
static unsigned int policy_count;

static const struct policy_module *find_module(const char *name)
{
	const struct policy_module *const *entry;

	for (entry = __start_policies; entry < __stop_policies; entry++)
		if (!strcmp((*entry)->name, name))
			return *entry;
	return NULL;
}

static const struct {
	const char *name;
	size_t offset;
	u32 most;
} keys[] = {
	{ "rules", offsetof(struct policy, rules), 100000 },
	{ "layers", offsetof(struct policy, layers), 16 },
	{ "avc_entries", offsetof(struct policy, avc_entries), 65536 },
	{ "ima_policy", offsetof(struct policy, ima_policy), 3 },
	{ "audit_rules", offsetof(struct policy, audit_rules), 100000 },
	{ "records", offsetof(struct policy, records), 2 },
	{ "labels", offsetof(struct policy, labels), 4096 },
	{ "denials", offsetof(struct policy, denials), 1 },
	{ "given", offsetof(struct policy, given), 1 },
	{ "first_after", offsetof(struct policy, first_after), 2 },
};

static void parse_key(struct policy *p, char *word)
{
	unsigned int i;
	u32 value;
	char *eq;

	for (eq = word; *eq && *eq != '='; eq++)
		;
	if (*eq)
		*eq++ = '\0';
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].name, word))
			continue;
		if (parse_u32(eq, keys[i].most, &value))
			fatal("experiment: policy %s: %s is a number up to %u",
			      p->module->name, word, keys[i].most);
		memcpy((char *)p + keys[i].offset, &value, sizeof(value));
		return;
	}
	fatal("experiment: policy %s: unknown key: %s", p->module->name, word);
}

void parse_policy(char *name, char *state, char *(*next)(char **), char **rest)
{
	struct policy *p;
	char *word;

	if (policy_count == POLICIES_MAX)
		fatal("experiment: more than %d policies", POLICIES_MAX);
	if (!name || !state)
		fatal("experiment: policy wants MODULE STATE");
	p = &policies[policy_count];
	*p = (struct policy){ .module = find_module(name) };
	if (!p->module)
		fatal("experiment: no policy for a module called %s", name);
	if (!strcmp(state, "enforcing"))
		p->state = POLICY_ENFORCING;
	else if (!strcmp(state, "permissive"))
		p->state = POLICY_PERMISSIVE;
	else if (strcmp(state, "none"))
		fatal("experiment: policy %s: unknown state: %s", name, state);
	while ((word = next(rest)))
		parse_key(p, word);
	policy_count++;
}

void policies_load(void)
{
	unsigned int i;

	first_prepare(policies, policy_count);
	given_choose_policies(policies, policy_count);
	for (i = 0; i < policy_count; i++)
		if (policies[i].module->load)
			policies[i].module->load(&policies[i]);
}

const char *policies_root_options(void)
{
	static char options[1024];
	unsigned int i;

	options[0] = '\0';
	for (i = 0; i < policy_count && programs; i++) {
		const struct policy *p = &policies[i];
		const char *option = p->module->root_option ? p->module->root_option(p) : "";
		size_t len = strlen(options);

		if (!*option)
			continue;
		if (len + strlen(option) + 2 > sizeof(options))
			fatal("%s: the mount option %s is too long", p->module->name, option);
		format(options + len, sizeof(options) - len, "%s%s", len ? "," : "", option);
		step("%s: the root is mounted with -o %s", p->module->name, option);
	}
	return options[0] ? options : NULL;
}

void policies_label_copied(const char *path)
{
	unsigned int i;

	for (i = 0; i < policy_count; i++) {
		const struct policy *p = &policies[i];
		const char *attribute, *label;
		long err;

		if (!p->module->copied_label)
			continue;
		label = p->module->copied_label(p, &attribute);
		if (!label)
			continue;
		err = SYS(lsetxattr, path, attribute, label, strlen(label), 0);
		or_fatal(err, "%s: setting %s of %s to %s", p->module->name, attribute, path,
			 label);
	}
}

static void confine_and_prove(unsigned int last)
{
	unsigned int i;

	for (i = 0; i < policy_count; i++)
		if (policies[i].module->last == last && policies[i].module->confine &&
		    !policies[i].given) {
			policies[i].module->confine(&policies[i]);
			denials_confined(&policies[i]);
		}
	for (i = 0; i < policy_count; i++)
		if (policies[i].module->last == last && policies[i].module->prove &&
		    !policies[i].given)
			policies[i].module->prove(&policies[i]);
}

void policies_enforce(void)
{
	unsigned int i;

	given_make(policies, policy_count);
	for (i = 0; i < policy_count; i++)
		if (policies[i].module->label)
			policies[i].module->label(&policies[i]);
	denials_confined(NULL);
	confine_and_prove(0);
	confine_and_prove(1);
	given_prove(policies, policy_count);
	first_prove();
}

void step(const char *fmt, ...)
{
	__builtin_va_list args;

	if (!steps_are_reported)
		return;
	__builtin_va_start(args, fmt);
	send_text(FRAME_STEP, fmt, args);
	__builtin_va_end(args);
}

void step_took(const char *module, const char *what, u64 ns)
{
	step("%s: %s took %lu ns of the processor", module, what, ns);
}

void prove_denied(const struct policy *p, const char *what, long result,
		  long expected)
{
	const char *name = p->module->name;

	if (result >= 0)
		fatal("%s does not enforce: %s was allowed", name, what);
	if (result != expected)
		fatal("%s: %s gave %s (%ld) instead of %s (%ld)", name, what,
		      errno_name(result), -result, errno_name(expected), -expected);
	step("%s: denied: %s: %s (%ld)", name, what, errno_name(result), -result);
}

void prove_allowed(const struct policy *p, const char *what, long result)
{
	const char *name = p->module->name;

	if (result < 0)
		fatal("%s: %s must pass, and gave %s (%ld)", name, what,
		      errno_name(result), -result);
	step("%s: allowed: %s", name, what);
}

void prove_own_file(const struct policy *p, const char *name)
{
	char what[128];
	long fd, err;

	format(what, sizeof(what), "creat and unlink of ./%s", name);
	fd = sys_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = fd;
	if (fd >= 0) {
		sys_close(fd);
		err = sys_unlink(name);
	}
	prove_allowed(p, what, err);
}

long in_child(long (*access)(const void *argument), const void *argument)
{
	long pid, result = -EIO;
	long *shared;

	shared = map_shared(4096);
	*shared = -EIO;
	pid = SYS(fork);
	or_fatal(pid, "fork");
	if (!pid) {
		protocol_forget();
		*(volatile long *)shared = access(argument);
		exit_process(0);
	}
	while (SYS(wait4, pid, NULL, 0, NULL) == -EINTR)
		;
	result = *(volatile long *)shared;
	SYS(munmap, shared, 4096);
	return result;
}

const char *own_path(const char *path)
{
	static char own[1200];

	format(own, sizeof(own), "%s%s", agent_root, path);
	return own;
}

long open_own(const char *path, int flags)
{
	return sys_open(own_path(path), flags | O_CLOEXEC, 0);
}

size_t write_whole(const char *path, const void *data, size_t len)
{
	long fd, n;

	fd = open_own(path, O_WRONLY);
	or_fatal(fd, "opening %s", path);
	n = sys_write(fd, data, len);
	sys_close(fd);
	or_fatal(n, "writing %s", path);
	if ((size_t)n != len)
		fatal("writing %s: %ld of %lu bytes", path, n, len);
	return len;
}

const char *map_whole(const char *path, size_t *len)
{
	long fd, size, map;

	fd = open_own(path, O_RDONLY);
	or_fatal(fd, "opening %s", path);
	size = SYS(lseek, fd, 0, 2 /* SEEK_END */);
	if (size <= 0 || size > FILE_MAX)
		fatal("%s: a length of %ld", path, size);
	map = SYS(mmap, NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if ((unsigned long)map > -4096ul)
		fatal("mapping %s: %s (%ld)", path, errno_name(map), -map);
	sys_close(fd);
	*len = size;
	return (const char *)map;
}

size_t copy_whole(const char *from, const char *to)
{
	size_t size;
	const char *map = map_whole(from, &size);

	write_whole(to, map, size);
	SYS(munmap, map, size);
	return size;
}

long put_whole(const char *path, const void *data, size_t len)
{
	long fd = sys_open(path, O_WRONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return fd;
	n = sys_write(fd, data, len);
	sys_close(fd);
	return n < 0 ? n : (size_t)n == len ? 0 : -EIO;
}

long put_copy(const char *from, const char *to)
{
	long fd = sys_open(from, O_RDONLY | O_CLOEXEC, 0), size, map, err;

	if (fd < 0)
		return fd;
	size = SYS(lseek, fd, 0, 2 /* SEEK_END */);
	map = SYS(mmap, NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	sys_close(fd);
	if ((unsigned long)map > -4096ul)
		return map;
	err = put_whole(to, (const void *)map, size);
	SYS(munmap, map, size);
	return err;
}

void write_line(const char *path, const char *text)
{
	write_whole(path, text, strlen(text));
}
