/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signs benchmark files for IMA, if its rules require that. */
#ifndef LSMETER_SETTINGS_SIGNED_H
#define LSMETER_SETTINGS_SIGNED_H

#include "../sys.h"

/* If the host made signatures: loads the key, and signs all files of make_file() from now on. */
void signed_start(void);
/* Signs `path`, which contains `size` bytes x. Returns 0, 1 if there is no signature, or -errno. */
int sign_file(const char *path, size_t size);

#endif
