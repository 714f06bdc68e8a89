// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accesses that check a custom policy. Each must pass before any policy applies. Afterwards, those
 * that the policy must deny return EACCES or EPERM, and those that IMA must measure are in its
 * list. Only a refusal counts: executing an empty file may also fail because it is not a program,
 * and a connection because nobody listens.
 */
#include <linux/in.h>
#include <linux/socket.h>
#include "given.h"

#define ACCESSES_MAX	128
#define TEXT_MAX	32768
#define ROUNDS		3
#define INTERNET	2	/* AF_INET */
#define STREAM		1	/* SOCK_STREAM */

enum verdict {
	DENIED,
	ALLOWED,
	NOT_MEASURED,
	MEASURED,
	OBSERVED,
};

static const char *const verdicts[] = {
	[DENIED] = "denied",
	[ALLOWED] = "allowed",
	[NOT_MEASURED] = "not-measured",
	[MEASURED] = "measured",
	[OBSERVED] = "observed",
};

struct access {
	const struct policy_module *module;
	enum verdict verdict;
	const struct how *how;
	const char *what;
};

static struct access accesses[ACCESSES_MAX];
static unsigned int access_count;
static char *texts;
static size_t texts_len;

static long close_after(long fd)
{
	if (fd < 0)
		return fd;
	sys_close(fd);
	return 0;
}

static long try_read(const char *path)
{
	return close_after(sys_open(path, O_RDONLY | O_CLOEXEC, 0));
}

static long try_write(const char *path)
{
	return close_after(sys_open(path, O_WRONLY | O_CLOEXEC, 0));
}

static long try_create(const char *path)
{
	long err = close_after(sys_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));

	if (!err)
		sys_unlink(path);
	return err;
}

static long execute(const void *path)
{
	const char *const argv[] = { path, NULL };
	const char *const envp[] = { NULL };

	return SYS(execve, path, argv, envp);
}

static long try_execute(const char *path)
{
	long err = in_child(execute, path);

	return err == -ENOEXEC || err == -EIO ? 0 : err;
}

static long do_nothing(const void *what)
{
	(void)what;
	return 0;
}

static long try_list(const char *path)
{
	return close_after(sys_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
}

static long with_socket(const char *port, int connects)
{
	struct sockaddr_in address = {
		.sin_family = INTERNET,
		.sin_addr.s_addr = __builtin_bswap32(INADDR_LOOPBACK),
	};
	u32 number = 0;
	long fd, err;

	if (parse_u32(port, 65535, &number))
		fatal("given: not a port: %s", port);
	address.sin_port = __builtin_bswap16(number);
	fd = SYS(socket, INTERNET, STREAM, 0);
	if (fd < 0)
		return fd;
	err = connects ? SYS(connect, fd, &address, sizeof(address)) :
			 SYS(bind, fd, &address, sizeof(address));
	sys_close(fd);
	/* If nobody listens or the loopback interface is down, the access was allowed. */
	return err == -EACCES || err == -EPERM ? err : 0;
}

static long try_connect(const char *port)
{
	return with_socket(port, 1);
}

static long try_bind(const char *port)
{
	return with_socket(port, 0);
}

static const struct how {
	const char *word;
	const char *text;	/* the attempt, with a %s */
	long (*try)(const char *what);
	int mode;		/* of the file made for it; 0: none */
} hows[] = {
	{ "read", "open of %s for reading", try_read, 0644 },
	{ "write", "open of %s for writing", try_write, 0644 },
	{ "create", "creat of %s", try_create, 0 },
	{ "execute", "execve of %s", try_execute, 0755 },
	{ "list", "open of the directory %s", try_list, 0 },
	{ "connect", "connect to port %s of 127.0.0.1", try_connect, 0 },
	{ "bind", "bind to port %s of 127.0.0.1", try_bind, 0 },
};

static const struct how *find_how(const char *word)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hows); i++)
		if (!strcmp(hows[i].word, word))
			return &hows[i];
	return NULL;
}

/* Cuts off the word before the first blank; *rest is the remainder. */
static char *cut_word(char **rest)
{
	char *word = *rest, *p = word;

	while (*p && *p != ' ')
		p++;
	if (*p)
		*p++ = '\0';
	*rest = p;
	return word;
}

static void add_access(const struct policy *p, char *line)
{
	struct access *a = &accesses[access_count];
	size_t len = strlen(line) + 1;
	char *rest;
	const char *verdict;
	unsigned int i;

	if (access_count == ACCESSES_MAX || len > TEXT_MAX - texts_len)
		fatal("%s: more than %u accesses prove policies", p->module->name,
		      ACCESSES_MAX);
	if (!texts)
		texts = map_shared(TEXT_MAX);
	rest = texts + texts_len;
	memcpy(rest, line, len);
	texts_len += len;
	verdict = cut_word(&rest);
	a->module = p->module;
	for (i = 0; i < ARRAY_SIZE(verdicts) && strcmp(verdict, verdicts[i]); i++)
		;
	a->verdict = i;
	a->how = find_how(cut_word(&rest));
	a->what = rest;
	if (!a->how || !*a->what || i == ARRAY_SIZE(verdicts))
		fatal("%s: not an access: %s", p->module->name, line);
	access_count++;
}

void given_read_accesses(const struct policy *p)
{
	given_lines(p, "accesses", add_access);
}

static void make_one(const struct access *a)
{
	int is_port = a->how->try == try_connect || a->how->try == try_bind;
	long err, fd;

	if (is_port)
		return;
	err = make_dirs(a->what);
	if (!err && a->how->try == try_list) {
		err = sys_mkdir(a->what, 0755);
		if (err == -EEXIST)
			err = 0;
	} else if (!err && a->how->mode) {
		fd = sys_open(a->what, O_WRONLY | O_CREAT | O_CLOEXEC, a->how->mode);
		err = close_after(fd);
		/* Another access may have made it. */
		if (!err && a->how->mode & 0111)
			err = SYS(chmod, a->what, a->how->mode);
	}
	or_fatal(err, "making %s, which an access names", a->what);
}

void given_make_files(const struct policy *p)
{
	unsigned int i;

	for (i = 0; i < access_count; i++)
		if (accesses[i].module == p->module)
			make_one(&accesses[i]);
}

static void make_named(const struct policy *p, char *line)
{
	struct access a = { .how = find_how(cut_word(&line)), .what = line };

	if (!a.how)
		fatal("%s: not an access: %s", p->module->name, line);
	make_one(&a);
}

void given_make_all_files(const struct policy *p)
{
	given_lines(p, "accesses", make_named);
}

static int is_denied(const struct access *a)
{
	unsigned int i;

	for (i = 0; i < access_count; i++)
		if (accesses[i].module == a->module && accesses[i].verdict == DENIED &&
		    !strcmp(accesses[i].what, a->what))
			return 1;
	return 0;
}

void given_passing_files(const struct policy *p, void (*each)(const char *path))
{
	const struct access *a;

	for (a = accesses; a < accesses + access_count; a++)
		if (a->module == p->module && a->how->mode && !is_denied(a))
			each(a->what);
}

static const char *tell(const struct access *a, char *text, size_t size)
{
	format(text, size, a->how->text, a->what);
	return text;
}

void given_try_before(const struct policy *p)
{
	char what[640];
	unsigned int i;
	long err;

	for (i = 0; i < access_count; i++) {
		if (accesses[i].module != p->module)
			continue;
		err = accesses[i].how->try(accesses[i].what);
		if (err < 0)
			fatal("%s: %s gives %s (%ld) before its policy decides, and proves "
			      "nothing", p->module->name,
			      tell(&accesses[i], what, sizeof(what)), errno_name(err), -err);
	}
}

/* The access passed; the kernel log must show that enforcing mode would deny it. */
static void prove_noticed(const struct policy *p, const struct access *a)
{
	char text[640];

	if (p->module->prove_noticed) {
		p->module->prove_noticed(p, a->how->word, a->what);
		return;
	}
	format(text, sizeof(text), "name=\"%s\"", a->what);
	prove_logged(p, "apparmor=\"ALLOWED\"", *a->what == '/' ? text : "");
}

/*
 * Checks the module's count of allowed violations. Reading that count may be one of them, if a
 * TOMOYO domain does not allow it.
 */
static void prove_counted(const struct policy *p, const struct access *a, const char *what)
{
	u32 (*let_pass)(void) = p->module->let_pass;
	u32 first = let_pass(), before = let_pass(), after;

	prove_allowed(p, what, a->how->try(a->what));
	after = let_pass();
	if (after - before <= before - first)
		fatal("%s does not notice: it counts nothing that %s would not be allowed",
		      p->module->name, what);
	step("%s: noticed: its count of what it let pass went up", p->module->name);
}

static void try_denied(const struct policy *p, const struct access *a)
{
	char what[640];
	long err;

	tell(a, what, sizeof(what));
	if (p->state == POLICY_PERMISSIVE && p->module->let_pass) {
		prove_counted(p, a, what);
		return;
	}
	log_mark(p);
	err = a->how->try(a->what);
	if (p->state == POLICY_PERMISSIVE) {
		prove_allowed(p, what, err);
		prove_noticed(p, a);
		return;
	}
	if (err == -EPERM)
		prove_denied(p, what, err, -EPERM);
	else
		prove_denied(p, what, err, -EACCES);
}

static void try_measured(const struct policy *p, const struct access *a)
{
	int is_asked = a->verdict == MEASURED;
	char what[640];

	tell(a, what, sizeof(what));
	prove_allowed(p, what, a->how->try(a->what));
	if (p->module->has_measured(a->what) != is_asked)
		fatal(is_asked ? "%s does not measure: %s" : "%s is not to measure, and did: %s",
		      p->module->name, what);
	step("%s: %smeasured: %s", p->module->name, is_asked ? "" : "not ", what);
}

/*
 * A program that never denies still runs. Runs during the access are counted, but not runs in the
 * calls that read the counts or that start the executed file's process, nor runs caused by a timer
 * in one of these.
 */
static void try_observed(const struct policy *p, const struct access *a)
{
	u64 before, between, after, with = ~0ull, without = 0;
	unsigned int round;
	char what[640];
	long err = 0;

	for (round = 0; round < ROUNDS && err >= 0; round++) {
		before = p->module->runs(0);
		if (a->how->try == try_execute)
			in_child(do_nothing, NULL);
		between = p->module->runs(0);
		err = a->how->try(a->what);
		after = p->module->runs(0);
		if (without < between - before)
			without = between - before;
		if (with > after - between)
			with = after - between;
	}
	p->module->runs(1);
	prove_allowed(p, tell(a, what, sizeof(what)), err);
	if (with <= without)
		fatal("%s: no program ran at: %s", p->module->name, what);
	step("%s: observed: %lu runs of programs at: %s", p->module->name, with - without, what);
}

void given_try_after(const struct policy *p)
{
	char what[640];
	unsigned int i;

	for (i = 0; i < access_count; i++) {
		const struct access *a = &accesses[i];

		if (a->module != p->module)
			continue;
		if (a->verdict == DENIED)
			try_denied(p, a);
		else if (a->verdict == OBSERVED && p->module->runs)
			try_observed(p, a);
		else if (a->verdict != ALLOWED && p->module->has_measured)
			try_measured(p, a);
		else
			prove_allowed(p, tell(a, what, sizeof(what)), a->how->try(a->what));
	}
}

void given_lines(const struct policy *p, const char *name,
		 void (*line)(const struct policy *p, char *line))
{
	char path[128], text[PAGE_SIZE];
	const char *all, *end;
	size_t len, n = 0;

	format(path, sizeof(path), POLICY_DIR "%s/%s", p->module->name, name);
	all = map_whole(path, &len);
	for (end = all + len; all < end; all++) {
		if (*all == '\n') {
			text[n] = '\0';
			if (n)
				line(p, text);
			n = 0;
			continue;
		}
		if (n == sizeof(text) - 1)
			fatal("%s: %s has a line of more than %lu bytes", p->module->name, path, n);
		text[n++] = *all;
	}
	SYS(munmap, end - len, len);
}

int given_has(const struct policy *p, const char *name)
{
	char path[160];

	format(path, sizeof(path), POLICY_DIR "%s/%s", p->module->name, name);
	return SYS(access, own_path(path), 0) == 0;
}

const char *given_line(const struct policy *p, const char *name, char *text, size_t size)
{
	char path[160], *end;
	long n;

	format(path, sizeof(path), POLICY_DIR "%s/%s", p->module->name, name);
	n = read_text(own_path(path), text, size);
	for (end = text; n > 0 && *end && *end != '\n'; end++)
		;
	if (n <= 0 || end == text || (size_t)n >= size - 1)
		fatal("%s: %s says nothing, or too much (%ld)", p->module->name, path, n);
	*end = '\0';
	return text;
}
