// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: userfaultfd for user-space faults only. Undo: close. */
#include <linux/ioctl.h>
#include <linux/userfaultfd.h>
#include "slots.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY	1
#endif

OP(op, *slot_fd(c, i) = SYS(userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));

static int check(struct cell *c)
{
	struct uffdio_api *api = (struct uffdio_api *)slot_data(c);
	long ret = op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no userfaultfd", ret);
	if (ret == -EINVAL)
		return unsupported(c, "this kernel's userfaultfd is for any fault", ret);
	if (ret == -EPERM)
		return unsupported(c, "only root may use userfaultfd on this machine", ret);
	if (ret < 0)
		return ret;
	api->api = UFFD_API;
	ret = SYS(ioctl, *slot_fd(c, 0), UFFDIO_API, api);
	if (ret < 0)
		return failed(c, "ioctl", ret);
	return api->ioctls & 1ull << _UFFDIO_REGISTER ? slot_close(c, 0) :
	       failed(c, "userfaultfd: wrong result", 0);
}

BENCH("userfaultfd", IPC, IPC, 35, "userfaultfd for user-space faults",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "user-mode" }),
      .check = check, .op = op, .undo = slot_close);
