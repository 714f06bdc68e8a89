// SPDX-License-Identifier: GPL-2.0-or-later
/* A sweep: measured operations alternate between different delays at LSM hooks. */
#include <linux/mman.h>
#include "delays.h"

extern const struct delay_module *const __start_delay_modules[];
extern const struct delay_module *const __stop_delay_modules[];

#define DONT_FORK	10	/* MADV_DONTFORK */
#define UNDELAYED_MAX	(DELAY_HOOKS_MAX * DELAY_HOOK_LEN)
#define ASKED_MAX	(FRAME_PAYLOAD_MAX - 4)

struct delays *delays;
static char *asked;	/* a measurement's number and ASKED_MAX bytes */
static char *undelayed_hooks;	/* UNDELAYED_MAX bytes */

static const struct delay_module *find_module(const char *name)
{
	const struct delay_module *const *entry;

	for (entry = __start_delay_modules; entry < __stop_delay_modules; entry++)
		if (!strcmp((*entry)->name, name))
			return *entry;
	return NULL;
}

void *delay_memory(size_t size)
{
	long memory = SYS(mmap, 0, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	or_fatal(memory, "memory for delays");
	/* Otherwise a fork would allocate once more than without a sweep. */
	SYS(madvise, memory, size, DONT_FORK);
	return (void *)memory;
}

void parse_delays(const char *name, const char *which, const char *clock)
{
	const struct delay_module *module = name ? find_module(name) : NULL;

	if (!module)
		fatal("experiment: delays wants a module that can delay hooks, not %s",
		      name ? name : "nothing");
	if (!which || (strcmp(which, "all") && strcmp(which, "listed")))
		fatal("experiment: delays wants MODULE, all or listed, and a clock");
	if (!clock || (strcmp(clock, "time") && strcmp(clock, "instructions")))
		fatal("experiment: delays wants the clock time or instructions");
	if (delays)
		fatal("experiment: delays appears twice");
	delays = delay_memory(sizeof(*delays));
	delays->module = module;
	delays->listed_only = !strcmp(which, "listed");
	delays->counted = !strcmp(clock, "instructions");
}

static int is_hook_name(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (name[i] != '_' && (name[i] < '0' || name[i] > '9') &&
		    (name[i] < 'a' || name[i] > 'z'))
			return 0;
	return i > 0 && i < DELAY_HOOK_LEN;
}

void parse_delay_hook(const char *name, const char *id)
{
	struct delay_hook *hook;

	if (!delays)
		fatal("experiment: hook comes before delays");
	if (delays->hooks == DELAY_HOOKS_MAX)
		fatal("experiment: more than %u hooks", DELAY_HOOKS_MAX);
	hook = &delays->hook[delays->hooks];
	if (!name || !is_hook_name(name) || !id ||
	    parse_u32(id, ~0u, &hook->btf_id))
		fatal("experiment: hook wants NAME and BTF-ID");
	memcpy(hook->name, name, strlen(name) + 1);
	delays->hooks++;
}

static int find_hook(const char *name)
{
	unsigned int i;

	if (!strcmp(name, "all"))
		return ALL_HOOKS;
	for (i = 0; i < delays->hooks; i++)
		if (!strcmp(delays->hook[i].name, name))
			return i;
	return -1;
}

/* "0,10000,20000": one point each. */
void parse_delay_point(struct cell_spec *spec, const char *name, char *ns)
{
	struct delay_point *point;
	char *next;
	int hook;
	u32 value;

	if (!delays || !spec)
		fatal("experiment: point comes before delays and a cell");
	hook = name ? find_hook(name) : -1;
	if (hook < 0)
		fatal("experiment: point wants a hook that is listed, or all");
	for (; ns && *ns; ns = next) {
		for (next = ns; *next && *next != ','; next++)
			;
		if (*next)
			*next++ = '\0';
		if (parse_u32(ns, DELAY_MAX_NS, &value))
			fatal("experiment: point: a delay is from 0 to %u ns, not %s",
			      DELAY_MAX_NS, ns);
		if (delays->points == DELAY_POINTS_MAX)
			fatal("experiment: more than %u points", DELAY_POINTS_MAX);
		if (!spec->points)
			spec->first_point = delays->points;
		point = &delays->point[delays->points++];
		point->hook = hook;
		point->ns = value;
		spec->points++;
	}
}

void delay_operation(const struct cell_spec *spec, unsigned int i)
{
	if (spec->points)
		delays->module->set(&delays->point[spec->first_point + i % spec->points]);
}

void delay_nothing(void)
{
	static const struct delay_point nothing = { .ns = 0, .hook = ALL_HOOKS };

	if (delays)
		delays->module->set(&nothing);
}

long drop_caches(void)
{
	static const char dentries_and_inodes[] = "2\n";
	long fd, n;

	if (is_given_child())
		return given_drop_caches();
	fd = sys_open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	n = sys_write(fd, dentries_and_inodes, sizeof(dentries_and_inodes) - 1);
	sys_close(fd);
	return n < 0 ? n : 0;
}

void undelayed(const char *hook)
{
	size_t len;

	if (!undelayed_hooks)
		undelayed_hooks = delay_memory(UNDELAYED_MAX);
	len = strlen(undelayed_hooks);
	format(undelayed_hooks + len, UNDELAYED_MAX - len, "%s%s", len ? " " : "", hook);
}

void ask_begin(const struct cell_spec *spec)
{
	if (spec->ask && delays && delays->module->ask_begin)
		delays->module->ask_begin();
}

void ask_end(const struct cell_spec *spec)
{
	size_t len;

	if (!spec->ask || !delays || !delays->module->ask_begin)
		return;
	if (!asked)
		asked = delay_memory(4 + ASKED_MAX + 1);
	memcpy(asked, &spec->id, sizeof(spec->id));
	len = delays->module->ask_end(asked + 4, ASKED_MAX + 1);
	send_frame(FRAME_ASKED, asked, 4 + len);
}

/* Without delays the slope would be 0, which would be wrong. */
void delays_check(void)
{
	unsigned int i;

	for (i = 0; delays && delays->own_only && i < experiment.cells; i++) {
		const struct cell_spec *cell = &experiment.cell[i];

		if (cell->points && cell->benchmark->counts_children)
			fatal("delays by BPF programs: %s makes processes, and only the "
			      "agent's own is delayed without a control group: leave "
			      "that benchmark out, or make cgroup2 writable",
			      cell->benchmark->name);
	}
}

void delays_start(void)
{
	if (!delays)
		return;
	if (SYS(getpid) == 1) {
		if (delays->module->prepare)
			delays->module->prepare();
		prove_delays_end();
	}
	delays->module->start();
	if (undelayed_hooks)
		send_frame(FRAME_UNDELAYED, undelayed_hooks, strlen(undelayed_hooks));
}

void delays_leave(void)
{
	if (delays && delays->module->leave)
		delays->module->leave();
}

void delays_stop(void)
{
	if (delays)
		delays->module->stop();
}
