// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: creat of a new file in a FUSE file system served by a child: the kernel work of both
 * tasks, and of switching between them. The server requests the label of new files. Undo: close and
 * unlink.
 */
#include <linux/fuse.h>
#include <linux/mount.h>
#include "../child.h"

#define DEVICE		0	/* c->fd[] */
#define PLACE		"place"
#define NEW		PLACE "/new"
#define MINOR		36	/* first protocol version with labels */
#define MAX_WRITE	4096
#define NODE		2	/* of the new file, in the protocol */
#define VALID_S		1000	/* the kernel may cache the answer for this long */

static void fill_attributes(struct fuse_attr *attr, u64 node)
{
	attr->ino = node;
	attr->mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644;
	attr->nlink = 1;
	attr->uid = SYS(geteuid);
	attr->gid = SYS(getegid);
}

/* Number of bytes of the answer to a request, or an error. */
static long answer(const struct fuse_in_header *in, void *body)
{
	union {
		struct fuse_init_out init;
		struct fuse_attr_out attributes;
		struct {
			struct fuse_entry_out entry;
			struct fuse_open_out open;
		} created;
		struct fuse_statfs_out statfs;
	} *out = body;

	memset(out, 0, sizeof(*out));
	switch (in->opcode) {
	case FUSE_INIT:
		out->init.major = FUSE_KERNEL_VERSION;
		out->init.minor = MINOR;
		out->init.max_write = MAX_WRITE;
		out->init.flags = FUSE_INIT_EXT;
		out->init.flags2 = FUSE_SECURITY_CTX >> 32;
		return sizeof(out->init);
	case FUSE_GETATTR:
		out->attributes.attr_valid = VALID_S;
		fill_attributes(&out->attributes.attr, in->nodeid);
		return sizeof(out->attributes);
	case FUSE_CREATE:
		out->created.entry.nodeid = NODE;
		out->created.entry.entry_valid = VALID_S;
		out->created.entry.attr_valid = VALID_S;
		fill_attributes(&out->created.entry.attr, NODE);
		return sizeof(out->created);
	case FUSE_STATFS:
		return sizeof(out->statfs);
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_UNLINK:
	case FUSE_DESTROY:
		return 0;
	case FUSE_LOOKUP:
		return -ENOENT;
	}
	return -ENOSYS;
}

static __attribute__((noreturn)) void serve(struct cell *c)
{
	struct fuse_in_header *in = (struct fuse_in_header *)slot_data(c);
	struct fuse_out_header *out = (struct fuse_out_header *)slot_name(c, 0);
	long len;

	SYS(prctl, PR_SET_PDEATHSIG, SIGKILL);
	while ((len = sys_read(c->fd[DEVICE], in, DATA_SIZE)) >= (long)sizeof(*in)) {
		if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET)
			continue;
		out->unique = in->unique;
		len = answer(in, out + 1);
		out->error = len < 0 ? len : 0;
		out->len = sizeof(*out) + (len < 0 ? 0 : len);
		sys_write(c->fd[DEVICE], out, out->len);
	}
	for (;;)
		SYS(exit_group, 0);
}

static void teardown(struct cell *c)
{
	SYS(umount2, PLACE, 0);
	if (c->state[CHILD])
		end_child(c);
	close_as(c, DEVICE);
}

static int setup(struct cell *c)
{
	struct timespec time = { 0, SETTLE_NS };
	char options[96];
	long ret = sys_mkdir(PLACE, 0755);

	if (ret >= 0)
		ret = open_as(c, DEVICE, "/dev/fuse", O_RDWR | O_CLOEXEC);
	if (ret == -ENOENT || ret == -ENODEV || ret == -EACCES || ret == -EPERM)
		return unsupported(c, "no FUSE here, or not for this user", ret);
	if (ret < 0)
		return ret;
	format(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%ld,group_id=%ld",
	       c->fd[DEVICE], SYS(geteuid), SYS(getegid));
	ret = SYS(mount, "lsmeter", PLACE, "fuse", MS_NOSUID | MS_NODEV, options);
	if (ret < 0) {
		close_as(c, DEVICE);
		return ret == -EPERM || ret == -ENODEV ?
		       unsupported(c, "no FUSE for this user to mount", ret) :
		       failed(c, "mount", ret);
	}
	ret = SYS(fork);
	if (ret == 0)
		serve(c);
	if (ret < 0) {
		teardown(c);
		return ret == -ENOSYS ?
		       unsupported(c, "it needs a second task, and in this kernel there is one", ret) :
		       failed(c, "fork", ret);
	}
	c->state[CHILD] = ret;
	/* By then, the server has answered the first request and waits for the next one. */
	SYS(nanosleep, &time, NULL);
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long fd = SYS(creat, NEW, 0644);

	*slot_fd(c, 1) = fd;
	return fd;
}

static int undo(struct cell *c, unsigned int i)
{
	long ret = sys_close(*slot_fd(c, 1));

	return ret < 0 ? ret : sys_unlink(NEW);
}

static int check(struct cell *c)
{
	long ret = op(c, 0), again;

	if (ret == -ENOSYS || ret == -EINVAL)
		return unsupported(c, "this kernel's FUSE does not send labels", ret);
	if (ret < 0)
		return ret;
	ret = undo(c, 0);
	if (ret < 0)
		return ret;
	again = sys_open(NEW, O_RDONLY, 0);
	return again == -ENOENT ? 0 : failed(c, "creat: wrong result", again);
}

BENCH("fuse", FILE, ADMIN, 26, "creat of a file in a FUSE file system served by a child",
      .source = "fuse(4)", .syscalls = "creat", .max_batch = 1, .counts_children = 1,
      .variants = VARIANTS({ "creat", .modules = "fuse" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
