// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares calls32.h with the kernel's header; adds nothing to the agent. */
#include <asm/unistd_32.h>
#include "calls32.h"

#define CHECK(name)	_Static_assert(CALL_32(name) == __NR_##name, #name)

CHECK(adjtimex);
CHECK(settimeofday);
CHECK(stime);
CHECK(clock_settime);
CHECK(sethostname);
CHECK(setdomainname);
CHECK(chmod);
CHECK(fchmod);
CHECK(fchmodat);
CHECK(lchown);
CHECK(fchown);
CHECK(chown);
CHECK(fchownat);
CHECK(setxattr);
CHECK(lsetxattr);
CHECK(fsetxattr);
CHECK(removexattr);
CHECK(lremovexattr);
CHECK(fremovexattr);
CHECK(open);
CHECK(creat);
CHECK(truncate);
CHECK(ftruncate);
CHECK(openat);
CHECK(open_by_handle_at);
CHECK(mount);
CHECK(unlink);
CHECK(unlinkat);
CHECK(rename);
CHECK(renameat);
CHECK(ioctl);
