// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: open for reading of an empty file: denied by modules (one call), or allowed and
 * followed by close. The files differ only in which modules deny them (denials.h). They exist if
 * the experiment has `denials`. Nothing to undo.
 */
#include "slots.h"
#include "denials.h"

#define EXPECTED	0	/* c->state[]: the error of the open; 0: none */


static int setup(struct cell *c)
{
	format(c->path, sizeof(c->path), DENIALS "/%s", c->variant->path);
	return denials_expect(c, c->path, &c->state[EXPECTED]);
}

static long op(struct cell *c, unsigned int i)
{
	long fd = sys_open(c->path, O_RDONLY, 0);

	if (fd < 0)
		return fd == c->state[EXPECTED] ? 0 : fd;
	return sys_close(fd);
}

static int check(struct cell *c)
{
	long fd = sys_open(c->path, O_RDONLY, 0);

	if (fd >= 0) {
		sys_close(fd);
		fd = 0;
	}
	if (fd == c->state[EXPECTED])
		return 0;
	return failed(c, fd ? "open" : "open: it is allowed", fd);
}

/* A letter for each module that denies by name: settings/denials.c. */
BENCH("denied-open", FILE, BEYOND, 60,
      "open of a file that modules deny; open and close of an allowed file",
      .source = "the paper's Figure 5; open(2)", .syscalls = "open close",
      .variants = VARIANTS({ "allowed", .path = "granted/----" },
			   { "by-apparmor", .path = "granted/a---" },
			   { "by-tomoyo", .path = "granted/-t--" },
			   { "by-landlock", .path = "refused/----" },
			   { "by-selinux", .path = "granted/--s-" },
			   { "by-smack", .path = "granted/---m" },
			   { "by-apparmor-tomoyo", .path = "granted/at--" },
			   { "by-apparmor-landlock", .path = "refused/a---" },
			   { "by-tomoyo-landlock", .path = "refused/-t--" }),
      .setup = setup, .check = check, .op = op);
