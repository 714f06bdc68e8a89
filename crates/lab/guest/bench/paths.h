/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths and names shared by the paper's benchmarks. */
#ifndef LSMETER_PATHS_H
#define LSMETER_PATHS_H

#include "../bench.h"

/*
 * open and stat: the eleven sub-benchmarks of section 4.1 (depth 1 to 8, a hard link, a symbolic
 * link, a missing file) and the two additional paths of Table 6. The last component is the file.
 * Every component has two letters, so only their number differs.
 */
extern const struct variant lookup_variants[];

/* Makes the variant's file: c->path; c->state[0] is the expected error. */
int make_lookup_file(struct cell *c);

/* rename and chmod: depth 1 to 5, counting the file itself. */
extern const struct variant depth_variants[];

/* One file per operation of a batch; the runner has the same limit. */
#define SLOTS		1024
#define SLOT_LEN	48

extern char slot_name[SLOTS][SLOT_LEN];
extern char slot_other[SLOTS][SLOT_LEN];

/* Sets dst to prefix and 16 random hexadecimal digits. */
void random_name(struct cell *c, char dst[SLOT_LEN], const char *prefix);
/* Fills slot_name[] with random names. */
void random_slots(struct cell *c, const char *prefix);

/* mkdir and rmdir: number of distinct names in the paper (section 4.1). */
#define DIR_NAMES	9437

extern char dir_name[DIR_NAMES][8];
int make_dir_names(struct cell *c);

/* read, write and copy: size of the file and of one transfer. */
#define RW_FILE_SIZE	(100 * 1024)

extern const struct variant rw_variants[];

/* Makes such a file at path, with every page active; 0 or -errno. */
int make_rw_file(struct cell *c, const char *path);

/* The result of stat() for path; 0 or -errno. */
int file_size(const char *path, long *size);
int file_mode(const char *path, unsigned int *mode);

#endif
