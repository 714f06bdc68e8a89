// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LoadPin: modules must come from the same file system as the first one
 * (security/loadpin/loadpin.c), here the initramfs. It decides before the kernel reads the module,
 * so any file will do: if the access passes, the file is not a module (ENOEXEC); otherwise it is
 * denied (EPERM).
 */
#include "../policy.h"

#define PINNED	"/loadpin-allowed"
#define OTHER	"/loadpin"

static long load_module(const char *path)
{
	long fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0), err;

	or_fatal(fd, "loadpin: opening %s", path);
	err = SYS(finit_module, fd, "", 0);
	sys_close(fd);
	return err;
}

static void load(const struct policy *p)
{
	long err;

	if (p->state == POLICY_NONE)
		return;
	err = make_file(PINNED, 64);
	or_fatal(err, "making " PINNED);
	load_module(PINNED);
	step("loadpin: pinned to the initramfs by finit_module of " PINNED);
	sys_mkdir(OTHER, 0755);
	err = SYS(mount, "tmpfs", OTHER, "tmpfs", 0, NULL);
	or_fatal(err, "mounting tmpfs on " OTHER);
	err = make_file(OTHER "/denied", 64);
	or_fatal(err, "making " OTHER "/denied");
}

static void prove(const struct policy *p)
{
	long err;

	if (p->state == POLICY_NONE)
		return;
	log_mark(p);
	err = load_module(OTHER "/denied");
	if (p->state == POLICY_ENFORCING) {
		prove_denied(p, "finit_module of a file on another tmpfs", err, -EPERM);
	} else {
		if (err != -ENOEXEC)
			fatal("loadpin: finit_module of a file on another tmpfs gave "
			      "%s (%ld)", errno_name(err), -err);
		prove_allowed(p, "finit_module of a file on another tmpfs, which "
			      "enforcing denies (ENOEXEC: it is no module)", 0);
		prove_logged(p, "LoadPin:", "pinning-ignored");
	}
	err = load_module(PINNED);
	if (err != -ENOEXEC)
		fatal("loadpin: finit_module of " PINNED " gave %s (%ld)",
		      errno_name(err), -err);
	prove_allowed(p, "finit_module of " PINNED " (ENOEXEC: it is no module)", 0);
}

POLICY_MODULE(loadpin) = {
	.name = "loadpin",
	.load = load,
	.prove = prove,
};
