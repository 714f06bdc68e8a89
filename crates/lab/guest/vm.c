// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In the VM the agent is process 1: it mounts file systems, loads the modules in the initramfs,
 * reports through the second serial port and reboots, which ends QEMU.
 */
#include <asm/termbits.h>
#include <asm/ioctls.h>
#include <linux/fs.h>
#include <linux/reboot.h>
#include "agent.h"

#define DEBUGFS		"/sys/kernel/debug"
#define DISK		"/dev/ram0"
#define IMAGE		"/image"
#define IMAGE_VERSION	1
#define EXTENT_MAX	(1u << 20)

static long port = -1;

static long mount_one(const char *type, const char *dir, int wanted)
{
	long err;

	sys_mkdir(dir, 0755);
	err = SYS(mount, type, dir, type, 0, NULL);
	if (err < 0 && err != -EBUSY && wanted)
		fatal("mounting %s on %s: %s (%ld)", type, dir,
		      errno_name(err), -err);
	return err;
}

/*
 * Kernels whose user space makes the nodes itself, as Android's does, have no devtmpfs. These are
 * the nodes that benchmarks and policies open, as in devtmpfs.
 */
static void make_devices(void)
{
	static const struct {
		const char *path;
		u32 mode;
		u32 major, minor;
	} devices[] = {
		{ DISK, S_IFBLK | 0600, 1, 0 },
		{ "/dev/null", S_IFCHR | 0666, 1, 3 },
		{ "/dev/zero", S_IFCHR | 0666, 1, 5 },
		{ "/dev/kmsg", S_IFCHR | 0644, 1, 11 },
		{ "/dev/console", S_IFCHR | 0600, 5, 1 },
		{ "/dev/fuse", S_IFCHR | 0666, 10, 229 },
		{ "/dev/loop-control", S_IFCHR | 0660, 10, 237 },
		{ "/dev/net/tun", S_IFCHR | 0666, 10, 200 },
	};
	static const char name[] = ARCH_RESULTS_PORT;
	/* A serial port's minor number is the last digit of its name. */
	u32 minor = 64 + name[sizeof(name) - 2] - '0';
	size_t i;

	mount_one("tmpfs", "/dev", 0);
	SYS(mknod, name, S_IFCHR | 0600, 4 << 8 | minor);
	sys_mkdir("/dev/net", 0755);
	for (i = 0; i < ARRAY_SIZE(devices); i++) {
		SYS(mknod, devices[i].path, devices[i].mode,
		    devices[i].major << 8 | devices[i].minor);
		/* devtmpfs ignores the umask. */
		SYS(chmod, devices[i].path, devices[i].mode & 07777);
	}
}

static void open_port(void)
{
	static const char complaint[] =
		"lsmeter agent: no results port " ARCH_RESULTS_PORT "\n";
	struct termios tio;

	port = sys_open(ARCH_RESULTS_PORT, O_RDWR | O_NOCTTY | O_CLOEXEC, 0);
	if (port < 0) {
		sys_write(1, complaint, sizeof(complaint) - 1);
		vm_end();
	}
	if (SYS(ioctl, port, TCGETS, &tio) == 0) {
		tio.c_iflag = 0;
		tio.c_oflag = 0;
		tio.c_lflag = 0;
		tio.c_cflag = CS8 | CREAD | CLOCAL | B115200;
		tio.c_cc[VMIN] = 1;
		tio.c_cc[VTIME] = 0;
		SYS(ioctl, port, TCSETS, &tio);
	}
	protocol_start(port, port);
}

/*
 * Newer kernels end a task's slice with a separate timer (HRTICK), so an operation in which two
 * tasks run, such as exec, is always interrupted. Other kernels ignore the word, and a kernel
 * without debugfs keeps its setting.
 */
static void end_slices_with_ticks(void)
{
	static const char word[] = "NO_HRTICK";
	long fd;

	if (SYS(mount, "debugfs", DEBUGFS, "debugfs", 0, NULL) < 0)
		return;
	fd = sys_open(DEBUGFS "/sched/features", O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		fd = sys_open(DEBUGFS "/sched_features", O_WRONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		sys_write(fd, word, sizeof(word) - 1);
		sys_close(fd);
	}
	SYS(umount2, DEBUGFS, 0);
}

/*
 * Once the idle loop has run, the plugin makes it cheap at the next translation: keep_idling() in
 * counts/plugin/plugin.c. The agent waits often from here on.
 */
static void idle_cheaply(void)
{
	const struct {
		s64 sec, nsec;
	} moment = { 0, 1000 };

	SYS(nanosleep, &moment, NULL);
	marker(MARKER_ARM);
	marker(MARKER_DISARM);
}

void vm_start(void)
{
	/* Open the port first, so that later failures can be reported. */
	if (mount_one("devtmpfs", "/dev", 0) == -ENODEV)
		make_devices();
	open_port();
	idle_cheaply();
	mount_one("proc", "/proc", 1);
	mount_one("sysfs", "/sys", 1);
	end_slices_with_ticks();
	/* This is missing in a kernel without LSMs. */
	mount_one("securityfs", "/sys/kernel/security", 0);
	load_modules();
}

/* Reads len bytes; 0 at a clean end of the file. */
static int read_image(int fd, void *dst, size_t len)
{
	size_t got = 0;
	long n;

	while (got < len) {
		n = sys_read(fd, (char *)dst + got, len - got);
		or_fatal(n, "reading " IMAGE);
		if (!n)
			break;
		got += n;
	}
	if (got && got < len)
		fatal("reading " IMAGE ": it ends in the middle of an extent");
	return got == len;
}

static void copy_extent(int image, int disk, u64 offset, u32 len)
{
	long n;
	u32 part, done;

	while (len) {
		part = len < sizeof(scratch) ? len : sizeof(scratch);
		if (!read_image(image, scratch, part))
			fatal("reading " IMAGE ": it ends in the middle of an extent");
		for (done = 0; done < part; done += n) {
			n = SYS(pwrite64, disk, scratch + done, part - done,
				offset + done);
			if (n <= 0)
				fatal("writing " DISK " at %lu: %s (%ld)",
				      offset + done, errno_name(n), -n);
		}
		offset += part;
		len -= part;
	}
}

static void write_disk(void)
{
	struct __attribute__((packed)) {
		char magic[4];
		u32 version;
		u64 size;
	} header;
	struct __attribute__((packed)) {
		u64 offset;
		u32 len;
	} extent;
	u64 disk_size = 0;
	long image, disk;

	/* A root is large, so avoid a second copy of it in the disk's page cache. */
	image = sys_open(IMAGE, (programs ? O_RDWR : O_RDONLY) | O_CLOEXEC, 0);
	or_fatal(image, "opening " IMAGE);
	disk = sys_open(DISK, O_RDWR | O_CLOEXEC | (programs ? O_DIRECT : 0), 0);
	or_fatal(disk, "opening " DISK " (the module brd makes it)");
	SYS(ioctl, disk, BLKGETSIZE64, &disk_size);
	if (!read_image(image, &header, sizeof(header)) ||
	    memcmp(header.magic, "LSMX", 4) || header.version != IMAGE_VERSION)
		fatal(IMAGE " is not a file system image of version %u", IMAGE_VERSION);
	if (header.size > disk_size)
		fatal(IMAGE " wants a disk of %lu bytes, " DISK " has %lu",
		      header.size, disk_size);
	while (read_image(image, &extent, sizeof(extent))) {
		if (extent.len > EXTENT_MAX || extent.len > header.size ||
		    extent.offset > header.size - extent.len)
			fatal(IMAGE ": extent of %u bytes at %lu lies outside",
			      extent.len, extent.offset);
		copy_extent(image, disk, extent.offset, extent.len);
		if (programs)
			release_image(image);
	}
	sys_close(disk);
	sys_close(image);
}

/*
 * Mounts as in a container: the image is the lower layer, and files that are written go to the
 * upper layer, here in memory.
 */
static long mount_overlay(const char *disk)
{
	static char options[1200];
	const char *wanted = policies_root_options();
	long err;

	sys_mkdir("/lower", 0755);
	sys_mkdir("/upper", 0755);
	err = SYS(mount, disk, "/lower", "ext4", 0, wanted);
	or_fatal(err, "mounting ext4 on /lower");
	err = SYS(mount, "tmpfs", "/upper", "tmpfs", 0, programs ? "size=100%,nr_inodes=0" : NULL);
	or_fatal(err, "mounting tmpfs on /upper");
	sys_mkdir("/upper/files", 0755);
	sys_mkdir("/upper/work", 0755);
	format(options, sizeof(options), "lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work%s%s",
	       wanted ? "," : "", wanted ? wanted : "");
	return SYS(mount, "overlay", experiment.dir, "overlay", 0, options);
}

static void mount_file_system(void)
{
	static const char *const on_disk[] = { "ext4", "xfs", "btrfs", "overlay" };
	const char *fs = experiment.fs, *disk;
	unsigned int i;
	long err;

	if (!strcmp(fs, "tmpfs")) {
		err = SYS(mount, "tmpfs", experiment.dir, "tmpfs", 0, tmpfs_options());
	} else {
		for (i = 0; i < ARRAY_SIZE(on_disk); i++)
			if (!strcmp(fs, on_disk[i]))
				break;
		if (i == ARRAY_SIZE(on_disk))
			fatal("experiment: unknown file system: %s", fs);
		disk = ready_disk();
		if (!disk) {
			write_disk();
			disk = DISK;
		}
		err = strcmp(fs, "overlay") ?
		      SYS(mount, disk, experiment.dir, fs, 0, policies_root_options()) :
		      mount_overlay(disk);
	}
	or_fatal(err, "mounting %s on %s", fs, experiment.dir);
	if (root_is_copied(fs)) {
		disk = copied_from(fs);
		if (!disk) {
			write_disk();
			disk = DISK;
		}
		program_copy_root(disk);
	}
}

void vm_enter_directory(void)
{
	long err;

	if (!experiment.dir[0])
		format(experiment.dir, sizeof(experiment.dir), "/mnt");
	make_dirs(experiment.dir);
	err = sys_mkdir(experiment.dir, 0755);
	if (err < 0 && err != -EEXIST)
		fatal("mkdir of %s: %s (%ld)", experiment.dir, errno_name(err), -err);
	if (experiment.fs[0])
		mount_file_system();
	program_prepare_root();
	err = SYS(chdir, experiment.dir);
	or_fatal(err, "chdir to %s", experiment.dir);
	if (!programs)
		names_start();
}

void vm_drain(void)
{
	if (port >= 0)
		SYS(ioctl, port, TCSBRK, 1);
}

void vm_end(void)
{
	vm_drain();
	copy_end();
	SYS(reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
	    LINUX_REBOOT_CMD_RESTART, NULL);
	for (;;)
		SYS(pause);
}
