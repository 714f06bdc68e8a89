/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that benchmarks make are signed for IMA, if its rules want that. */
#ifndef LSMETER_SETTINGS_SIGNED_H
#define LSMETER_SETTINGS_SIGNED_H

#include "../sys.h"

/* If the host made signatures: the key that verifies, and from now on all files of make_file(). */
void signed_start(void);
/* `path`, which holds `size` times an x, gets its signature; 0, 1 if there is none, or -errno. */
int sign_file(const char *path, size_t size);

#endif
