// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The agent with faults: the kernel's stack selects one, so that an experiment has sound and broken
 * machines side by side. Built with the agent's own files; run_cells() there is sound_run_cells()
 * here.
 */
#include "agent.h"

void sound_run_cells(int in_vm);

static int port = -1;
static const struct outcome ended = { .operations = 1 };

static void say(const void *bytes, size_t len)
{
	sys_write(port, bytes, len);
	SYS(ioctl, port, 0x5409 /* TCSBRK */, 1);	/* waits until all is sent */
}

/* The kernel's list without modules that it always adds. */
static void own_stack(char *dst, size_t size)
{
	static const char *const added[] = { "lockdown", "ima", "evm", "" };
	char text[512], *name, *next;
	unsigned int i;
	size_t len = 0;

	memset(text, 0, sizeof(text));
	read_text("/sys/kernel/security/lsm", text, sizeof(text));
	dst[0] = '\0';
	for (name = text; *name; name = next) {
		for (next = name; *next && *next != ',' && *next != '\n'; next++)
			;
		if (*next)
			*next++ = '\0';
		for (i = 0; i < ARRAY_SIZE(added); i++)
			if (!strcmp(name, added[i]))
				break;
		if (i == ARRAY_SIZE(added))
			len += format(dst + len, size - len, "%s%s", len ? "," : "", name);
	}
}

static void begin_cell(void)
{
	u32 id = experiment.cell[0].id;

	send_frame(FRAME_CELL_BEGIN, &id, sizeof(id));
}

static void do_panic(void)
{
	long fd = sys_open("/proc/sysrq-trigger", O_WRONLY, 0);

	sys_write(fd, "c", 1);
	fatal("the kernel did not panic");
}

static void do_hang(void)
{
	for (;;)
		asm volatile("pause");
}

static void do_garbage(void)
{
	say("\033[2J\377\376 no frame at all\n", 21);
	finish(0);
}

static void do_truncated(void)
{
	/* A header that promises more bytes than follow. */
	say("LSMF\001\003\0\0\0\020\0\0\0\0\0\0half", 20);
	finish(0);
}

static void do_damaged(void)
{
	say("LSMF\001\005\0\0\004\0\0\0\1\2\3\4text", 20);
	finish(0);
}

static void do_oversized(void)
{
	say("LSMF\001\005\0\0\377\377\377\377\0\0\0\0", 16);
	finish(0);
}

static void do_exit(void)
{
	exit_process(3);
}

static void do_endless_log(void)
{
	for (;;)
		send_log("still here");
}

static void do_endless_windows(void)
{
	marker(MARKER_ARM);
	marker(MARKER_CELL_BEGIN);
	for (;;) {
		window_begin();
		window_end();
	}
}

static void do_lie(void)
{
	/* Reports success, but measured nothing. */
	send_cell_end(experiment.cell[0].id, STATUS_OK, &ended, "");
	send_frame(FRAME_DONE, "", 0);
	finish(0);
}

static void do_wrong_cell(void)
{
	send_cell_end(4000000000u, STATUS_OK, &ended, "");
	finish(0);
}

static const struct {
	const char *stack;
	void (*fault)(void);
} faults[] = {
	{ "capability,selinux", do_panic },
	{ "capability,apparmor", do_hang },
	{ "capability,tomoyo", do_garbage },
	{ "capability,landlock", do_truncated },
	{ "capability,yama", do_exit },
	{ "capability,bpf", do_endless_log },
	{ "capability,landlock,yama", do_damaged },
	{ "capability,yama,landlock", do_oversized },
	{ "capability,landlock,bpf", do_endless_windows },
	{ "capability,yama,bpf", do_lie },
	{ "capability,bpf,yama", do_wrong_cell },
};

void run_cells(int in_vm)
{
	char stack[512];
	unsigned int i;

	own_stack(stack, sizeof(stack));
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (strcmp(stack, faults[i].stack))
			continue;
		port = sys_open("/dev/ttyS1", O_RDWR | O_NOCTTY | O_CLOEXEC, 0);
		if (port < 0)
			fatal("opening the port again: %s", errno_name(port));
		ready_start();
		send_frame(FRAME_DONE, "", 0);
		vm_drain();
		if (!ready())
			return;
		begin_cell();
		faults[i].fault();
	}
	sound_run_cells(in_vm);
}
