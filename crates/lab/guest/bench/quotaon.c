// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: quotactl(Q_QUOTAON) of ext4, with a quota file that has no entries yet. prepare() syncs
 * the file system, which the call would do otherwise. Kernel tasks drain the per-CPU page lists
 * for it, and the work of all tasks counts. Undo: Q_QUOTAOFF.
 */
#include <asm/stat.h>
#include <asm/statfs.h>
#include <linux/magic.h>
#include <linux/quota.h>
#include "../vm-only.h"
#include "mounts.h"

#define DISK		"/dev/ram0"	/* of the lab's machine: vm.c */
#define DISK_NUMBER	0x100		/* its device number: the first of major number 1 */
#define QUOTA_FILE	"quotas"
#define ROOT		0		/* c->fd[] */
#define WEEK		(7 * 24 * 3600)
#define BLOCK		1024		/* of the file: its header, and the root of a tree */
#define MAGIC		0xd9c01f11	/* of user quotas */

#define COMMAND(command)	((command) << SUBCMDSHIFT | USRQUOTA)

/* struct v2_disk_dqheader and v2_disk_dqinfo of the kernel's fs/quota/quotaio_v2.h */
struct head {
	u32 magic, version;
	u32 block_grace, inode_grace;
	u32 flags, blocks, free_block, free_entry;
};

static int make_quotas(struct cell *c)
{
	struct head head = {
		.magic = MAGIC,
		.block_grace = WEEK,
		.inode_grace = WEEK,
		.blocks = 2,
	};
	int ret = make_file(QUOTA_FILE, 0);
	long fd;

	if (ret < 0)
		return ret;
	memset(slot_data(c), 0, 2 * BLOCK);
	memcpy(slot_data(c), &head, sizeof(head));
	fd = sys_open(QUOTA_FILE, O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	ret = sys_write(fd, slot_data(c), 2 * BLOCK);
	sys_close(fd);
	return ret < 0 ? ret : 0;
}

/* Sets an option of the measured file system, which is mounted one directory above. */
static long set_option(const char *option)
{
	return SYS(mount, "none", "..", NULL, MS_REMOUNT, option);
}

static int is_on_disk(struct cell *c)
{
	struct statfs *fs = (struct statfs *)slot_data(c);
	struct stat *here = (struct stat *)(fs + 1);

	return SYS(statfs, ".", fs) >= 0 && fs->f_type == EXT4_SUPER_MAGIC &&
	       SYS(stat, ".", here) >= 0 && here->st_dev == DISK_NUMBER;
}

OP(op, SYS(quotactl, COMMAND(Q_QUOTAON), DISK, QFMT_VFS_V0, QUOTA_FILE));

SLOT(undo, SYS(quotactl, COMMAND(Q_QUOTAOFF), DISK, 0, NULL));

SLOT(prepare, SYS(syncfs, c->fd[ROOT]));

static void teardown(struct cell *c)
{
	undo(c, 0);
	set_option("noquota");
	close_as(c, ROOT);
}

static int setup(struct cell *c)
{
	int ret = vm_only(c, "the file system is not a VM's own");
	long err;

	if (ret)
		return ret;
	if (!is_on_disk(c))
		return unsupported(c, "files of quotas are measured on ext4 alone", 0);
	ret = make_quotas(c);
	if (ret < 0)
		return ret;
	ret = open_as(c, ROOT, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret < 0)
		return ret;
	err = set_option("usrquota");
	if (err >= 0)
		return 0;
	close_as(c, ROOT);
	if (err == -EINVAL)
		return unsupported(c, "this kernel's ext4 has no quotas", err);
	return mount_result(c, err);
}

static int check(struct cell *c)
{
	u32 format = 0;
	long ret = prepare(c, 0);

	if (ret < 0)
		return ret;
	ret = op(c, 0);
	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no quotas", ret);
	if (ret == -ESRCH)
		return unsupported(c, "no such format of quotas here", ret);
	if (ret == -EPERM || ret == -EACCES)
		return unsupported(c, "the policy denies it", ret);
	if (ret < 0)
		return ret;
	ret = SYS(quotactl, COMMAND(Q_GETFMT), DISK, 0, &format);
	if (ret == -EACCES)
		return unsupported(c, "the policy denies what proves it", ret);
	if (ret < 0)
		return ret;
	if (format != QFMT_VFS_V0)
		return failed(c, "quotactl: another format", 0);
	ret = op(c, 0);
	return ret == -EBUSY ? undo(c, 0) : failed(c, "quotactl: wrong result", ret);
}

BENCH("quotaon", ADMIN, ADMIN, 29, "quotactl(Q_QUOTAON) of user quotas on ext4",
      .source = "quotactl(2)", .syscalls = "quotactl", .max_batch = 1, .counts_children = 1,
      .variants = VARIANTS({ "user", .modules = "quota_v2" }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = teardown);
