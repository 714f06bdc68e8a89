// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Custom BPF objects with LSM programs. The host made a loader program from each (libbpf's light
 * skeleton). The loader, which runs here, creates the maps, relocates the programs against this
 * kernel's types and loads them (tools/lib/bpf/skel_internal.h). They are attached to their hooks
 * for all tasks, until the guest ends.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include "../delays/bpf.h"
#include "given.h"
#include "orders.h"

#define NAME_LEN	64
#define PROGRAMS_MAX	256
#define MAPS_MAX	1024
#define FUNCTIONS_MAX	16	/* of a program */
#define LOG_TOLD	380

/* A loader in the host's file, followed by programs, data, code and entries, padded to eight bytes. */
struct loader {
	char magic[4];
	u32 programs, maps, data_len, code_len, entries;
};

/* What a program is attached to. */
struct program {
	char name[NAME_LEN];
	char kind;		/* b: by its BTF; r: raw tracepoint; t: tracepoint; k, K: kprobe */
	char target[2 * NAME_LEN - 1];
};

/* An entry of a map, followed by key and value, padded to eight bytes. */
struct entry {
	u32 map, key_len, value_len, zero;
};

/* The loader's context: struct bpf_loader_ctx, then each map and program. */
struct context {
	u32 size, flags, log_level, log_size;
	u64 log_buf;
	struct {
		int fd;
		u32 max_entries;
		u64 initial_value;
	} map[];
};

static long sys_bpf(int command, union bpf_attr *attr)
{
	return SYS(bpf, command, attr, sizeof(*attr));
}

static long data_map(const void *data, u32 len)
{
	union bpf_attr attr;
	u32 key = 0;
	long fd, err;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(key);
	attr.value_size = len;
	attr.max_entries = 1;
	fd = sys_bpf(BPF_MAP_CREATE, &attr);
	if (fd < 0)
		return fd;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = fd;
	attr.key = (u64)&key;
	attr.value = (u64)data;
	err = sys_bpf(BPF_MAP_UPDATE_ELEM, &attr);
	return err < 0 ? err : fd;
}

static long load_loader(const void *code, u32 len, int map)
{
	union bpf_attr attr;
	int maps[1] = { map };

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.insns = (u64)code;
	attr.insn_cnt = len / sizeof(struct bpf_insn);
	attr.license = (u64)"Dual BSD/GPL";
	attr.fd_array = (u64)maps;
	attr.prog_flags = BPF_F_SLEEPABLE;
	return sys_bpf(BPF_PROG_LOAD, &attr);
}

static long run_loader(long loader, struct context *context)
{
	union bpf_attr attr;
	long err;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = loader;
	attr.test.ctx_in = (u64)context;
	attr.test.ctx_size_in = context->size;
	err = sys_bpf(BPF_PROG_TEST_RUN, &attr);
	return err < 0 ? err : (int)attr.test.retval;
}

/* The end of the verifier's log, from the start of a line, as one line. */
static const char *tail_of(char *log)
{
	size_t len = strlen(log);
	char *tail, *p;

	while (len && log[len - 1] == '\n')
		log[--len] = '\0';
	tail = log + (len > LOG_TOLD ? len - LOG_TOLD : 0);
	for (p = tail; tail > log && *p; p++)
		if (*p == '\n' && p[1]) {
			tail = p + 1;
			break;
		}
	for (p = tail; *p; p++)
		if (*p == '\n')
			*p = '|';
	return tail;
}

static __attribute__((noreturn)) void refused(const char *what, long err)
{
	fatal("bpf: %s: %s (%ld): is this kernel 5.14 or newer, with CONFIG_BPF_SYSCALL, "
	      "CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF?", what, errno_name(err), -err);
}

static void load_with(long loader, struct context *context)
{
	long err = run_loader(loader, context), again;

	if (err >= 0)
		return;
	/* Tries again, with the verifier's log. */
	scratch[0] = '\0';
	context->log_level = 1;
	context->log_size = sizeof(scratch);
	context->log_buf = (u64)scratch;
	again = run_loader(loader, context);
	if (err == -ENOENT)
		fatal("bpf: a hook, a type or a symbol that a program names is not in this kernel");
	if (!scratch[0] || again >= 0)
		refused("the kernel does not load a program", err);
	fatal("bpf: the kernel does not load a program: %s (%ld); the verifier's last lines: %s",
	      errno_name(err), -err, tail_of(scratch));
}

static u64 attaching_ns, detaching_ns;

static struct {
	int fd[PROGRAMS_MAX];
	char name[PROGRAMS_MAX][NAME_LEN];
	unsigned int count;
} *attached;

static u32 number_in(const char *path)
{
	char text[16], *end;
	u32 number = 0;

	read_text(path, text, sizeof(text));
	for (end = text; *end >= '0' && *end <= '9'; end++)
		;
	*end = '\0';
	if (parse_u32(text, ~0u, &number))
		fatal("bpf: %s has no number: is there such a tracepoint, or kprobes?", path);
	return number;
}

static long attach_event(const struct program *of, int program)
{
	struct perf_event_attr event = { .size = sizeof(event), .sample_period = 1 };
	char path[256];
	long fd, err;

	if (of->kind == 't') {
		/* Fails if it is mounted. */
		SYS(mount, "tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
		format(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", of->target);
		event.type = PERF_TYPE_TRACEPOINT;
		event.config = number_in(path);
	} else {
		event.type = number_in("/sys/bus/event_source/devices/kprobe/type");
		event.config = of->kind == 'K';	/* format/retprobe is bit 0 */
		event.kprobe_func = (u64)of->target;
	}
	fd = SYS(perf_event_open, &event, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	err = SYS(ioctl, fd, PERF_EVENT_IOC_SET_BPF, program);
	if (err >= 0)
		err = SYS(ioctl, fd, PERF_EVENT_IOC_ENABLE, 0);
	return err < 0 ? err : fd;
}

static long attach_one(const struct program *of, int program)
{
	union bpf_attr attr;

	switch (of->kind) {
	case 'b':
		return attach_program(program);
	case 'r':
		memset(&attr, 0, sizeof(attr));
		attr.raw_tracepoint.name = (u64)of->target;
		attr.raw_tracepoint.prog_fd = program;
		return sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	default:
		return attach_event(of, program);
	}
}

/* The runs of all programs, because a kernel that has just booted has no others. */
static u64 runs(int stop)
{
	static const char file[] = "/proc/sys/kernel/bpf_stats_enabled";
	static int is_counted;
	struct bpf_prog_info info;
	union bpf_attr attr;
	u32 id = 0;
	u64 all = 0;
	long fd;

	if (is_counted == stop)
		write_line(file, stop ? "0" : "1");
	is_counted = !stop;
	for (;;) {
		memset(&attr, 0, sizeof(attr));
		attr.start_id = id;
		if (sys_bpf(BPF_PROG_GET_NEXT_ID, &attr) < 0)
			return all;
		id = attr.next_id;
		memset(&attr, 0, sizeof(attr));
		attr.prog_id = id;
		fd = sys_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
		or_fatal(fd, "bpf: opening a program");
		memset(&attr, 0, sizeof(attr));
		memset(&info, 0, sizeof(info));
		attr.info.bpf_fd = fd;
		attr.info.info_len = sizeof(info);
		attr.info.info = (u64)&info;
		or_fatal(sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr), "bpf: a program's run count");
		sys_close(fd);
		all += info.run_cnt;
	}
}

/* Appends start and end of each of the program's functions to the text; returns its new length. */
static size_t list_functions(unsigned int number, char *text, size_t len)
{
	u64 starts[FUNCTIONS_MAX] = { 0 };
	u32 sizes[FUNCTIONS_MAX] = { 0 };
	struct bpf_prog_info info = {
		.nr_jited_ksyms = FUNCTIONS_MAX,
		.jited_ksyms = (u64)starts,
		.nr_jited_func_lens = FUNCTIONS_MAX,
		.jited_func_lens = (u64)sizes,
	};
	union bpf_attr attr;
	char name[NAME_LEN + 16];
	u32 i;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = attached->fd[number];
	attr.info.info_len = sizeof(info);
	attr.info.info = (u64)&info;
	or_fatal(sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr), "bpf: a program's address");
	for (i = 0; i < number && strcmp(attached->name[i], attached->name[number]); i++)
		;
	/* Programs with the same name would have the same symbols. */
	if (i < number)
		return len;
	for (i = 0; i < FUNCTIONS_MAX && starts[i]; i++) {
		/* As in /proc/kallsyms, without the tag. */
		format(name, sizeof(name), i ? "bpf_prog_%s.%u" : "bpf_prog_%s",
		       attached->name[number], i);
		if (len + 2 * sizeof(name) + 64 > FRAME_PAYLOAD_MAX)
			break;
		len += format(text + len, FRAME_PAYLOAD_MAX - len, "bpf %s 0x%lx\nbpf %s.end 0x%lx\n",
			      name, starts[i], name, starts[i] + sizes[i]);
	}
	return len;
}

/* Names the programs for profiles. */
static void send_functions(void)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; attached && i < attached->count; i++)
		len = list_functions(i, scratch, len);
	if (len)
		send_frame(FRAME_MODULES, scratch, len);
}

static void attach(const struct program *of, int program)
{
	const char *name = of->name;
	unsigned int tries;
	u64 began_ns = busy_ns();
	long link = program > 0 ? attach_one(of, program) : -EBADF;

	attaching_ns += busy_ns() - began_ns;
	/*
	 * Detach it and attach it again, to measure the time, which cannot be done after
	 * measurements.
	 */
	if (link >= 0) {
		began_ns = busy_ns();
		sys_close(link);
		detaching_ns += busy_ns() - began_ns;
		/* Before 6.5 a kernel worker completes it. */
		for (tries = 0; (link = attach_one(of, program)) == -EBUSY && tries < 100; tries++)
			pause_ms(10);
	}
	or_fatal(link, "bpf: attaching %s", name);
	if (!attached)
		attached = map_shared(sizeof(*attached));
	if (attached->count < PROGRAMS_MAX) {
		memcpy(attached->name[attached->count], name, NAME_LEN);
		attached->fd[attached->count++] = program;
	}
	step("bpf: attached %s", name);
}

static void fill_maps(const struct context *context, u32 maps, const char *at, size_t left)
{
	const struct entry *entry;
	union bpf_attr attr;
	u32 filled = 0;
	size_t size;

	for (; left >= sizeof(*entry); at += size, left -= size, filled++) {
		entry = (const struct entry *)at;
		size = sizeof(*entry) + ((entry->key_len + 7ul) & ~7ul) +
		       ((entry->value_len + 7ul) & ~7ul);
		if (entry->map >= maps || size > left)
			fatal("bpf: /policy/bpf/loader has a broken entry of a map");
		memset(&attr, 0, sizeof(attr));
		attr.map_fd = context->map[entry->map].fd;
		attr.key = (u64)(entry + 1);
		attr.value = attr.key + ((entry->key_len + 7ul) & ~7ul);
		or_fatal(sys_bpf(BPF_MAP_UPDATE_ELEM, &attr), "bpf: entry %u of a map", filled);
	}
	if (filled)
		step("bpf: bpftool map update: %u entries", filled);
}

/* Loads one object; returns its size in the file. */
static size_t load_object(const char *at, size_t left)
{
	static u64 memory[(sizeof(struct context) + 16 * MAPS_MAX + 4 * 4 * PROGRAMS_MAX) / 8];
	struct context *context = (struct context *)memory;
	const struct loader *head = (const struct loader *)at;
	const struct program *programs_of = (const void *)(at + sizeof(*head));
	const char *data, *code;
	size_t size, data_len;
	const int *programs;
	long map, loader;
	u64 began_ns = busy_ns();
	u32 i;

	if (left < sizeof(*head) || memcmp(head->magic, "LSMB", 4) ||
	    head->programs > PROGRAMS_MAX || head->maps > MAPS_MAX)
		fatal("bpf: /policy/bpf/loader is broken");
	data_len = (head->data_len + 7ul) & ~7ul;
	data = (const char *)(programs_of + head->programs);
	code = data + data_len;
	size = code - at + ((head->code_len + 7ul) & ~7ul);
	size += head->entries;
	if (size > left)
		fatal("bpf: /policy/bpf/loader is cut short");
	memset(memory, 0, sizeof(memory));
	/* libbpf counts functions as programs, so there is more space for them than needed. */
	context->size = sizeof(*context) + 16 * head->maps + 4 * 4 * PROGRAMS_MAX;
	map = data_map(data, head->data_len);
	if (map < 0)
		refused("a map for what the loader reads", map);
	loader = load_loader(code, head->code_len, map);
	if (loader < 0)
		refused("the loader, which is a program itself", loader);
	load_with(loader, context);
	sys_close(loader);
	sys_close(map);
	step_took("bpf", "loading", busy_ns() - began_ns);
	programs = (const int *)&context->map[head->maps];
	fill_maps(context, head->maps, at + size - head->entries, head->entries);
	for (i = 0; i < head->programs; i++)
		attach(&programs_of[i], programs[i]);
	return size;
}

static void load_all(void)
{
	const char *all, *at;
	size_t len, left;

	all = map_whole(POLICY_DIR "bpf/loader", &len);
	for (at = all, left = len; left;) {
		size_t taken = load_object(at, left);

		at += taken;
		left -= taken;
	}
	/*
	 * This is reported once, however many programs there are, because the number of steps is
	 * limited.
	 */
	step_took("bpf", "attaching", attaching_ns);
	step_took("bpf", "detaching", detaching_ns);
	send_functions();
}

/*
 * For benchmarks, another process keeps the descriptors until the guest ends. If the agent had
 * them, fork and execve would cost more than without a policy. For programs, the agent closes them
 * (program.c).
 */
static void confine(const struct policy *p)
{
	u32 *is_loaded, never = 0;
	long pid;

	(void)p;
	if (programs) {
		load_all();
		return;
	}
	is_loaded = map_shared(sizeof(*is_loaded));
	pid = SYS(fork);
	or_fatal(pid, "bpf: fork");
	if (!pid) {
		load_all();
		order_set(is_loaded, 1);
		for (;;)
			order_wait(&never, 0, NULL);
	}
	while (!*(volatile u32 *)is_loaded)
		order_wait(is_loaded, 0, NULL);
	SYS(munmap, is_loaded, sizeof(*is_loaded));
}

POLICY_MODULE(bpf) = {
	.name = "bpf",
	.global = 1,
	.confine = confine,
	.runs = runs,
};
