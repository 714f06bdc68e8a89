// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whole programs, in their own root: commands of an experiment are variants of the benchmark
 * `program`. The measured file system contains the root. The clock is read around each measured
 * run, so that the host can check that no instruction is missing.
 */
#include <linux/sockios.h>
#include <asm/signal.h>
#include <linux/time.h>
#include <linux/wait.h>
#include "program.h"
#include "slabs.h"
#include "../settings/given.h"

/* As in <linux/if.h> and <linux/socket.h>, which need a C library. */
#define IFF_UP		0x1
#define IFF_RUNNING	0x40
#define AF_INET		2
#define SOCK_DGRAM	2
#define PERIOD_NS	100000000	/* many ticks of any kernel */
#define SECOND_NS	1000000000
#define PHASE_NS	1000000
#define FILES_BEFORE_5_9	256
#define ERRORS		"/dev/errors"	/* in the root; in memory */
#define SEARCH_PATH	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/*
 * All code with markers is in a separate page. MARKER_AGENT makes it the only page whose markers
 * count, so a program that executes markers changes nothing.
 */
#define MARKED	__attribute__((noinline, section("marked")))
#define MARKED_BYTES	4096

asm(".pushsection marked, \"ax\", %progbits\n\t.p2align 12\n\t.popsection");
extern const char __start_marked[], __stop_marked[];

enum way {
	UNMEASURED,
	TRACED,			/* to learn the names of its tasks */
	MEASURED,
};

struct programs *programs;

static const struct variant no_variants[] = { { } };

/*
 * /proc/sys/vm/drop_caches, opened before any policy is loaded, because a policy for programs may
 * forbid writing it.
 */
static long caches = -ENOENT;

static const struct {
	const char *name;
	unsigned int minor;
} devices[] = {
	{ "null", 3 }, { "zero", 5 }, { "full", 7 }, { "random", 8 }, { "urandom", 9 },
};

const char *program_device(unsigned int i, char *path, size_t size)
{
	if (i >= ARRAY_SIZE(devices))
		return NULL;
	format(path, size, "%s/dev/%s", experiment.dir, devices[i].name);
	return path;
}

static void mount_in_root(const char *type, const char *name)
{
	char path[1100];
	long err;

	format(path, sizeof(path), "%s/%s", experiment.dir, name);
	sys_mkdir(path, 0755);
	err = SYS(mount, type, path, type, 0, NULL);
	if (err < 0 && err != -EBUSY)
		fatal("mounting %s on %s: %s (%ld)", type, path, errno_name(err), -err);
}

/* Devices and file systems that programs expect, except the agent's port. */
static void make_devices(void)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "fd" }, { "/proc/self/fd/0", "stdin" },
		{ "/proc/self/fd/1", "stdout" }, { "/proc/self/fd/2", "stderr" },
	};
	char path[1100];
	unsigned int i;

	for (i = 0; program_device(i, path, sizeof(path)); i++) {
		SYS(mknod, path, S_IFCHR | 0666, 1 << 8 | devices[i].minor);
		SYS(chmod, path, 0666);
	}
	for (i = 0; i < ARRAY_SIZE(links); i++) {
		format(path, sizeof(path), "%s/dev/%s", experiment.dir, links[i][1]);
		SYS(symlink, links[i][0], path);
	}
	format(path, sizeof(path), "%s/dev/shm", experiment.dir);
	sys_mkdir(path, 01777);
	format(path, sizeof(path), "%s/tmp", experiment.dir);
	sys_mkdir(path, 01777);
}

/* Servers and clients among the programs can reach each other, but nobody else. */
static void start_loopback(void)
{
	struct {
		char name[16];
		short flags;
		char rest[22];
	} request = { .name = "lo", .flags = IFF_UP | IFF_RUNNING };
	long fd = SYS(socket, AF_INET, SOCK_DGRAM, 0);

	/* Not needed without a network. */
	if (fd < 0)
		return;
	SYS(ioctl, fd, SIOCSIFFLAGS, &request);
	sys_close(fd);
}

/*
 * Markers count only in one page (MARKED), which the agent locks into memory together with all its
 * other pages. Memory compaction must not move it either.
 */
static void keep_locked_pages(void)
{
	long fd = sys_open("/proc/sys/vm/compact_unevictable_allowed", O_WRONLY | O_CLOEXEC, 0);

	/* Kernels without this setting do not compact memory. */
	if (fd < 0)
		return;
	sys_write(fd, "0\n", 2);
	sys_close(fd);
}

void program_prepare_root(void)
{
	if (!programs)
		return;
	/* The disk has the root now, and the memory is needed. */
	sys_unlink("/image");
	mount_in_root("proc", "proc");
	mount_in_root("sysfs", "sys");
	mount_in_root("tmpfs", "dev");
	make_devices();
	start_loopback();
	keep_locked_pages();
	given_move_root();
	caches = sys_open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC, 0);
	slabs_open();
}

static long drop_dentries_and_inodes(void)
{
	long n = caches < 0 ? caches : sys_write(caches, "2\n", 2);

	return n < 0 ? n : 0;
}

__attribute__((noreturn)) static void give_up(const char *what, long error)
{
	format(programs->told.what, sizeof(programs->told.what), "%s", what);
	programs->told.error = error ? error : -EIO;
	exit_process(127);
}

static void open_as(int fd, const char *path, int flags)
{
	long opened = sys_open(path, flags, 0644);

	if (opened < 0)
		give_up(path, opened);
	if (opened != fd) {
		SYS(dup2, opened, fd);
		sys_close(opened);
	}
}

static const char *search_path(const struct run *run)
{
	char **e;

	for (e = run->envp; e && *e; e++)
		if (!strncmp(*e, "PATH=", 5))
			return *e + 5;
	return SEARCH_PATH;
}

/* Locates the program before anything is measured. */
static const char *find_program(const struct run *run, char *path, size_t size)
{
	const char *name = run->argv[0], *at = search_path(run), *p;

	for (p = name; *p; p++)
		if (*p == '/')
			return name;
	while (*at) {
		char directory[512];
		size_t n = 0;

		for (; *at && *at != ':'; at++)
			if (n + 1 < sizeof(directory))
				directory[n++] = *at;
		directory[n] = '\0';
		if (*at)
			at++;
		format(path, size, "%s/%s", directory, name);
		if (SYS(access, path, 1 /* X_OK */) == 0)
			return path;
	}
	give_up(name, -ENOENT);
}

/*
 * Makes each run begin at the same distance from a tick, so that threads are preempted at the same
 * places and races have the same winners. Deferred work (RCU) is done by then.
 */
static void await_phase(void)
{
	struct {
		s64 sec, nsec;
	} time;

	if (SYS(clock_gettime, CLOCK_MONOTONIC, &time) < 0)
		return;
	time.nsec += PERIOD_NS - time.nsec % PERIOD_NS + PHASE_NS;
	time.sec += time.nsec / SECOND_NS;
	time.nsec %= SECOND_NS;
	SYS(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

/* Closes the agent's files, because the measured execve() would otherwise close them. */
static void close_agent_files(void)
{
	unsigned int fd;

	/* Before 5.9 there is no such call, and few files are open. */
	if (SYS(close_range, 3, ~0u, 0) == -ENOSYS)
		for (fd = 3; fd < FILES_BEFORE_5_9; fd++)
			sys_close(fd);
}

MARKED __attribute__((noreturn)) static void be_program(const struct run *run, enum way way)
{
	static char *none[] = { NULL };
	char **envp = run->envp ? run->envp : none;
	char found[1100];
	const char *path;
	long err;

	err = SYS(setsid);
	err = SYS(chroot, experiment.dir);
	if (err < 0)
		give_up("chroot", err);
	err = SYS(chdir, run->directory);
	if (err < 0)
		give_up(run->directory, err);
	open_as(0, run->input, O_RDONLY);
	open_as(1, run->output, O_WRONLY | O_CREAT | O_TRUNC);
	open_as(2, ERRORS, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
	path = find_program(run, found, sizeof(found));
	if (!run->next)
		given_start_program();
	if (run->user || run->group) {
		SYS(setgroups, 0, NULL);
		err = SYS(setgid, run->group);
		if (err >= 0)
			err = SYS(setuid, run->user);
		if (err < 0)
			give_up("setuid", err);
	}
	close_agent_files();
	programs->told.ticks = 0;
	if (way == TRACED)
		tasks_await_trace(&programs->tasks);
	pages_leave();
	if (way == MEASURED)
		await_phase();
	touch_memory();
	if (way == MEASURED)
		programs->told.ticks = marker_then_clock(MARKER_WINDOW_BEGIN);
	err = SYS(execve, path, run->argv, envp);
	give_up(path, err);
}

/* Waits until the program and its descendants have ended; returns its status, or -errno. */
static long wait_for_all(long pid, enum way way)
{
	long result = -ECHILD, ended;
	/* Tracing needs __WALL. The writer of audit records is not waited for. */
	int all = way == TRACED || !given_has_writer() ? __WALL : 0;
	int status, options = all;

	for (;;) {
		ended = SYS(wait4, -1, &status, options, NULL);
		if (ended == -EINTR)
			continue;
		if (ended < 0)
			return result;
		if (options & WNOHANG) {
			/* A process is still running, and the wait is limited. */
			SYS(kill, -1, SIGKILL);
			given_kill_all();
			options = all;
		}
		if (!ended)
			continue;
		if ((status & 0xff) == 0x7f) {
			tasks_stopped(&programs->tasks, ended, status);
			continue;
		}
		if (ended != pid)
			continue;
		result = status;
		/*
		 * Sends no signal if no process is left, because policies check each signal and
		 * record it.
		 */
		options |= WNOHANG;
	}
}

/* Reports how the program ended, with the last line of its output. */
static long ended_badly(struct cell *c, const struct run *run, int status)
{
	int signal = status & 0x7f, code = status >> 8 & 0xff;
	char path[1100], text[2048];
	char *line = text, *p;

	format(path, sizeof(path), "%s" ERRORS, experiment.dir);
	read_text(path, text, sizeof(text));
	for (p = text; *p; p++)
		if (*p == '\n' && p[1])
			line = p + 1;
	for (p = line; *p; p++)
		if ((u8)*p < ' ' || *p == 0x7f)
			*p = *p == '\n' ? '\0' : ' ';
	format(c->reason, sizeof(c->reason),
	       signal ? "%s was killed by signal %d%s%s" : "%s ended with status %d%s%s",
	       run->argv[0], signal ? signal : code, *line ? ": " : "", line);
	return -EIO;
}

MARKED static long run_program(struct cell *c, const struct run *run, enum way way,
			struct sample *sample)
{
	u64 ticks;
	long pid, status;

	programs->told.error = 0;
	programs->tasks.may_begin = 0;
	given_begin_program();
	pid = SYS(fork);
	if (pid < 0)
		return failed(c, "fork", pid);
	if (!pid)
		be_program(run, way);
	if (way == TRACED)
		tasks_trace(&programs->tasks, pid);
	status = wait_for_all(pid, way);
	ticks = clock_then_marker(MARKER_WINDOW_END);
	given_end_program(way == MEASURED);
	if (programs->told.error)
		status = failed(c, programs->told.what, programs->told.error);
	else if (status < 0)
		status = failed(c, "wait4", status);
	else if (status)
		status = ended_badly(c, run, status);
	if (status) {
		given_add_denial(c->reason, sizeof(c->reason));
		return status;
	}
	if (way == MEASURED)
		*sample = (struct sample){ 1, ticks - programs->told.ticks };
	return 0;
}

/*
 * Runs the preparations, then the measured command, in the given mode. Samples are only of the
 * measured command.
 */
static long run_all(struct cell *c, u32 cold, enum way way, struct sample *sample)
{
	struct command *command = &programs->commands[c->variant->arg];
	const struct run *run = command->first;
	long err = 0;

	for (; run && !err; run = run->next) {
		if (run->once && command->started)
			continue;
		if (!run->argv)
			return failed(c, "a command without a program", 0);
		if (!run->next && cold)
			err = drop_dentries_and_inodes();
		if (err)
			return explain(c, "dropping caches", err);
		if (!run->next)
			slabs_fill(way == TRACED);
		err = run_program(c, run, run->next ? UNMEASURED : way, sample);
	}
	command->started = 1;
	return err;
}

/* Before any program runs. */
MARKED static void own_markers(void)
{
	static int owned;

	if (owned)
		return;
	if (__stop_marked - __start_marked > MARKED_BYTES)
		fatal("markers are in more than one page");
	marker(MARKER_AGENT);
	owned = 1;
}

MARKED void count_no_program(void)
{
	marker(MARKER_CELL_BEGIN);
	marker(MARKER_CELL_END);
}

MARKED void copy_end(void)
{
	marker(MARKER_END);
}

MARKED int count_program(const struct cell_spec *spec, struct cell *c, struct outcome *out)
{
	u32 n;
	long err = 0;

	own_markers();
	programs->tasks.count = 0;
	for (n = 0; n < spec->warmup && !err; n++)
		err = run_all(c, spec->cold, n ? UNMEASURED : TRACED, NULL);
	if (!err)
		err = given_unseen(c, programs->tasks.error);
	if (err)
		return err;
	tasks_send(&programs->tasks, spec->id);
	out->samples = spec->samples < SAMPLES_MAX ? spec->samples : SAMPLES_MAX;
	/*
	 * This is not done earlier, because a program's one-time work can take long (git reads a
	 * new tree completely).
	 */
	marker(MARKER_ARM);
	marker(MARKER_CELL_BEGIN);
	for (n = 0; n < out->samples && !err; n++) {
		err = run_all(c, spec->cold, MEASURED, &cell_samples[n]);
		if (!err)
			out->operations++;
	}
	marker(MARKER_CELL_END);
	marker(MARKER_DISARM);
	if (!err && given_log_denials())
		err = run_all(c, spec->cold, UNMEASURED, NULL);
	given_send_denials(spec->id);
	return err;
}

static long op(struct cell *c, unsigned int i)
{
	(void)i;
	return run_all(c, 0, UNMEASURED, NULL);
}

BENCH(PROGRAM, PROCESS, BEYOND, ~0u, "a command of the experiment, in its own root",
      .source = "execve(2)", .syscalls = "", .variants = no_variants, .op = op);
