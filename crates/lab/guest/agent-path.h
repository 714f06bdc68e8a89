/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the agent lies that runs, for benchmarks that execute it. */
#ifndef LSMETER_AGENT_PATH_H
#define LSMETER_AGENT_PATH_H

#include "slots.h"

#define SELF		"/proc/self/exe"
#define EXECUTE_OK	1	/* X_OK of unistd.h */

/* Without links where it has a path without. */
static inline long agent_path(char *path, size_t size)
{
	long ret = SYS(readlink, SELF, path, size - 1);

	if (ret < 0) {
		format(path, size, "/init");
		return SYS(access, path, EXECUTE_OK);
	}
	path[ret] = '\0';
	/* Deleted, in another mount namespace or a memfd: the link still works. */
	if (SYS(access, path, EXECUTE_OK) < 0)
		format(path, size, SELF);
	return 0;
}

#endif
