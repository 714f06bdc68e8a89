// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The disk that a root is on. Where the kernel takes memory of the host's as a disk, the root is
 * there at once, and the initramfs brings no image of it. Else it is copied to the ram disk,
 * and each part of the image goes when it has been: only one copy is ever whole.
 */
#include <linux/falloc.h>
#include "program.h"

#define IMAGE		"/image"
#define PERSISTENT	"/dev/pmem0"
#define WAIT_MS		10000
#define PAGE		4096L

/* The driver is loaded, but what it finds it looks at in a thread of its own. */
static const char *persistent_disk(void)
{
	unsigned int waited;
	long err = 0;

	for (waited = 0; waited < WAIT_MS; waited++) {
		/* Its name is there before it can be used. */
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
	/* The image is that of an empty xfs, which is on the ram disk now. */
	return strcmp(fs, "xfs") ? ready_disk() : persistent_disk();
}

const char *tmpfs_options(void)
{
	static char options[1200];
	const char *wanted = policies_root_options();

	if (!programs)
		return NULL;
	/* Of itself it takes half of the memory, and as many inodes as half of its pages. */
	format(options, sizeof(options), "size=100%%,nr_inodes=0%s%s", wanted ? "," : "",
	       wanted ? wanted : "");
	return options;
}

void release_image(long image)
{
	long done = SYS(lseek, image, 0, 1 /* SEEK_CUR */);

	/* Of a file system that cannot, all of it goes at the end. */
	if (done >= PAGE)
		SYS(fallocate, image, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		    done & ~(PAGE - 1));
}
