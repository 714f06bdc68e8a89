// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The disk with the root. If the kernel uses host memory as a disk, the root is there at once, and
 * the initramfs contains no image of it. Otherwise the image is copied to the RAM disk, and each
 * copied part is freed, so that there is never more than one complete copy.
 */
#include <linux/falloc.h>
#include "program.h"

#define IMAGE		"/image"
#define PERSISTENT	"/dev/pmem0"
#define WAIT_MS		10000
#define PAGE		4096L

/* The driver is loaded, but probes its devices asynchronously. */
static const char *persistent_disk(void)
{
	unsigned int waited;
	long err = 0;

	for (waited = 0; waited < WAIT_MS; waited++) {
		/* Its name appears before it is usable. */
		err = sys_open(PERSISTENT, O_RDONLY, 0);
		if (err >= 0) {
			sys_close(err);
			return PERSISTENT;
		}
		pause_ms(1);
	}
	fatal("there is neither " IMAGE " nor " PERSISTENT " (the module nd_pmem makes it): %s (%ld)",
	      errno_name(err), -err);
}

const char *ready_disk(void)
{
	return !programs || SYS(access, IMAGE, 0) == 0 ? NULL : persistent_disk();
}

int root_is_copied(const char *fs)
{
	return programs && (!strcmp(fs, "tmpfs") || !strcmp(fs, "xfs"));
}

const char *copied_from(const char *fs)
{
	/* The image contains an empty xfs, which is now on the RAM disk. */
	return strcmp(fs, "xfs") ? ready_disk() : persistent_disk();
}

const char *tmpfs_options(void)
{
	static char options[1200];
	const char *wanted = policies_root_options();

	if (!programs)
		return NULL;
	/* The defaults are half of the memory, and as many inodes as half of its pages. */
	format(options, sizeof(options), "size=100%%,nr_inodes=0%s%s", wanted ? "," : "",
	       wanted ? wanted : "");
	return options;
}

void release_image(long image)
{
	long done = SYS(lseek, image, 0, 1 /* SEEK_CUR */);

	/* If the file system cannot punch holes, the image is freed at the end. */
	if (done >= PAGE)
		SYS(fallocate, image, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		    done & ~(PAGE - 1));
}
