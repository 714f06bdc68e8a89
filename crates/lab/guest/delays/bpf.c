// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delays by BPF LSM programs (crates/sensitivity/bpf/README.md). Programs and links are open files
 * of the agent, so they end with the agent, however it ends.
 */
#include <linux/capability.h>
#include <linux/mman.h>
#include "bpf.h"

#define STACK		"/sys/kernel/security/lsm"
#define KERNEL_BTF	"/sys/kernel/btf/vmlinux"
#define LOG_SIZE	65536
/* More than the time until the loop first reads the clock. */
#define FLOOR_NS	200
#define DONT_FORK	10	/* MADV_DONTFORK */

static struct {
	struct delay_slot *slots;	/* the map: a slot for each hook in delays */
	size_t len;
	int *link;			/* -1: the hook is left out */
	int map;
	u32 round;			/* instructions per round; 0: delays are in ns */
} held = { .map = -1 };

/* Names for the log, as many per line as fit. */
struct names {
	const char *title;
	size_t len;
	char text[416];	/* with its title, below the limit of a log frame */
};

static void end_names(struct names *names)
{
	if (names->len)
		send_log("bpf: %s:%s", names->title, names->text);
	names->len = 0;
}

static void add_name(struct names *names, const char *name, u64 number)
{
	if (names->len + DELAY_HOOK_LEN + 24 > sizeof(names->text))
		end_names(names);
	names->len += format(names->text + names->len,
			     sizeof(names->text) - names->len, " %s %lu", name, number);
}

/* Whether `word` is in a comma-separated list that may end in a newline. */
static int lists(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		if (!strncmp(list, word, len) &&
		    (!list[len] || list[len] == ',' || list[len] == '\n'))
			return 1;
		while (*list && *list++ != ',')
			;
	}
	return 0;
}

/* Programs also load if bpf is not in the stack, but never run. */
static void check_stack(void)
{
	char stack[256];
	long n = read_text(STACK, stack, sizeof(stack));

	if (n < 0)
		send_log("bpf: " STACK ": %s (%ld): cannot tell whether bpf is in the "
			 "stack; if it is not, no delay has an effect",
			 errno_name(n), -n);
	else if (!lists(stack, "bpf"))
		fatal("delays by BPF programs: bpf is not in the stack, which is %s: "
		      "boot a kernel with CONFIG_BPF_LSM=y and bpf in lsm=", stack);
}

static int may_load(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { };
	u64 effective;

	if (SYS(capget, &header, data) < 0)
		return 0;
	effective = data[0].effective | (u64)data[1].effective << 32;
	if (effective & 1ull << CAP_SYS_ADMIN)
		return 1;
	return (effective & 1ull << CAP_BPF) && (effective & 1ull << CAP_PERFMON);
}

static const char *meaning(long err)
{
	switch (-err) {
	case EPERM:
		return may_load() ?
			"it refuses programs with trampolines even to CAP_BPF and "
			"CAP_PERFMON (a hardened kernel, or a container's filter): "
			"use a kernel in the lab" :
			"it wants CAP_BPF and CAP_PERFMON: run as root, or give them "
			"to this process";
	case ENOSYS:
		return "it has no bpf(2): CONFIG_BPF_SYSCALL, or a container's filter";
	case ENOTSUPP:
		return "it has no BPF trampolines: CONFIG_BPF_JIT and "
			"CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS";
	case EMFILE:
		return "a hook takes a descriptor: raise the limit (ulimit -n)";
	case ENOMEM:
		return "it is out of memory";
	}
	if (SYS(access, KERNEL_BTF, 0) < 0)
		return "it has no " KERNEL_BTF ": CONFIG_DEBUG_INFO_BTF";
	return "is it 5.17 or newer, with CONFIG_BPF_LSM, and are the hooks' BTF ids "
		"its own?";
}

static const char *name_of(long err)
{
	return err == -ENOTSUPP ? "ENOTSUPP" : errno_name(err);
}

static __attribute__((noreturn)) void refused(const char *what, const char *hook,
					      long err)
{
	fatal("delays by BPF programs: the kernel refuses %s%s: %s (%ld): %s", what,
	      hook, name_of(err), -err, meaning(err));
}

/* The end of the verifier's log, from the start of a line. */
static void send_verifier_log(const struct delay_program *program)
{
	char *log = delay_memory(LOG_SIZE), *tail, *p;
	long err = load_program(program, log, LOG_SIZE);
	size_t len;

	if (err >= 0)
		sys_close(err);
	log[LOG_SIZE - 1] = '\0';
	len = strlen(log);
	while (len && log[len - 1] == '\n')
		log[--len] = '\0';
	tail = log + (len > 400 ? len - 400 : 0);
	for (p = tail; tail > log && *p; p++)
		if (*p == '\n' && p[1]) {
			tail = p + 1;
			break;
		}
	if (*tail)
		send_log("bpf: the verifier: %s", tail);
	SYS(munmap, log, LOG_SIZE);
}

/* Whether the next hook would fail in the same way. */
static int concerns_all(long err)
{
	return err == -EPERM || err == -ENOSYS || err == -ENOMEM || err == -EMFILE ||
	       err == -ENFILE;
}

/* A link, or -errno. */
static long delay_hook(const struct delay_program *program, const char *name)
{
	long fd = load_program(program, NULL, 0), link;

	if (fd >= 0) {
		link = attach_program(fd);
		sys_close(fd);
		if (link < 0 && concerns_all(link))
			refused("to attach a program to ", name, link);
		return link;
	}
	if (concerns_all(fd)) {
		send_verifier_log(program);
		refused("a program for ", name, fd);
	}
	return fd;
}

static void delay_hooks(struct delay_program *program)
{
	struct names names = {
		.title = "left out, no program for them (errno; 2: not in the kernel's BTF)",
	};
	long first = 0;
	unsigned int i, done = 0;

	for (i = 0; i < delays->hooks; i++) {
		const struct delay_hook *hook = &delays->hook[i];
		long link = -ENOENT;

		program->slot = i;
		program->btf_id = hook->btf_id;
		if (hook->btf_id)
			link = delay_hook(program, hook->name);
		held.link[i] = link < 0 ? -1 : link;
		if (link >= 0) {
			done++;
			continue;
		}
		add_name(&names, hook->name, -link);
		undelayed(hook->name);
		if (i == 0)
			first = link;
	}
	end_names(&names);
	if (done)
		return;
	program->btf_id = delays->hook[0].btf_id;
	send_verifier_log(program);
	refused("a program for every listed hook, first ", delays->hook[0].name, first);
}

static void map_slots(void)
{
	long memory;

	held.map = make_slots(delays->hooks);
	if (held.map < 0)
		refused("a map", "", held.map);
	held.len = (delays->hooks * sizeof(*held.slots) + PAGE_SIZE - 1) &
		   ~(PAGE_SIZE - 1);
	memory = SYS(mmap, 0, held.len, PROT_READ | PROT_WRITE, MAP_SHARED, held.map, 0);
	or_fatal(memory, "delays by BPF programs: mapping the delays");
	held.slots = (struct delay_slot *)memory;
	/* Children do not need it, and copying it would cost time at each fork. */
	SYS(madvise, memory, held.len, DONT_FORK);
}

static const struct delay_point nothing = { .ns = 0, .hook = ALL_HOOKS };

static void write_delay(unsigned int hook, u32 delay)
{
	volatile struct delay_slot *slot = &held.slots[hook];

	slot->wait = held.round ? delay / held.round : delay;
	slot->rest = held.round ? delay % held.round : 0;
}

static void set(const struct delay_point *point)
{
	unsigned int i;

	for (i = 0; i < delays->hooks; i++)
		write_delay(i, FLOOR_NS + (point->hook == ALL_HOOKS ||
					   point->hook == i ? point->ns : 0));
}

/* A counted wait consists of rounds, whose number of instructions depends on the kernel. */
static u32 instructions_of_round(int types)
{
	long milli = measure_round(types), round;

	if (milli < 0)
		refused("a program that measures its own loop", "", milli);
	round = (milli + 500) / 1000;
	/* The result is an integer if the clock counts instructions. */
	if (milli > round * 1000 + 50 || milli < round * 1000 - 50)
		fatal("delays by BPF programs: a round of a loop takes %ld/1000 ns: the "
		      "clock does not count instructions", milli);
	if (round < 1 || round > REST_MAX + 1)
		fatal("delays by BPF programs: a round of a loop takes %ld instructions, "
		      "and at most %u can be counted", round, REST_MAX + 1);
	return round;
}

static void start(void)
{
	struct delay_program program = { };
	long types;

	if (!delays->hooks)
		fatal("delays by BPF programs: no hook is listed");
	check_stack();
	held.link = delay_memory(DELAY_HOOKS_MAX * sizeof(*held.link));
	map_slots();
	types = load_types();
	if (types < 0)
		refused("the types of a program (BTF)", "", types);
	scope_enter(&program.scope);
	delays->own_only = !program.scope.children;
	if (delays->counted)
		held.round = instructions_of_round(types);
	program.counted = delays->counted;
	program.map = held.map;
	program.types = types;
	delay_hooks(&program);
	sys_close(types);
	set(&nothing);
}

static void stop(void)
{
	struct names names = { .title = "calls" };
	/* A VM ends now, and detaching programs in it would take seconds. */
	int leave = SYS(getpid) != 1;
	unsigned int i;

	if (!held.slots)
		return;
	for (i = 0; i < delays->hooks; i++)
		write_delay(i, 0);
	for (i = 0; i < delays->hooks; i++) {
		u64 calls = *(volatile u64 *)&held.slots[i].calls;

		if (leave && held.link[i] >= 0)
			sys_close(held.link[i]);
		if (calls)
			add_name(&names, delays->hook[i].name, calls);
	}
	end_names(&names);
	if (!leave)
		return;
	SYS(munmap, held.slots, held.len);
	held.slots = NULL;
	sys_close(held.map);
}

DELAY_MODULE(delays_bpf) = {
	.name = "bpf",
	.prepare = scope_prepare,
	.start = start,
	.set = set,
	.stop = stop,
	.leave = scope_leave,
};
