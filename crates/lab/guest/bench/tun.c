// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: ioctls of /dev/net/tun. `create` makes a network device; undo: close, which removes
 * it. `attach` opens an existing one; undo: close. `queue` attaches a detached queue; undo:
 * detach.
 */
#include <linux/ioctl.h>
#include <linux/if_tun.h>
#include "slots.h"

enum { CREATE, ATTACH, QUEUE };	/* arg of variants */
enum { DEVICE, SECOND };	/* c->fd[] */

#define PATH	"/dev/net/tun"
#define FLAGS	(IFF_TUN | IFF_NO_PI | IFF_MULTI_QUEUE)

/* struct ifreq of linux/if.h, which needs a C library's headers. */
struct request {
	char name[16];
	short flags;
	char rest[22];
};

static struct request *request(struct cell *c, short flags)
{
	struct request *request = (struct request *)slot_data(c);

	memset(request, 0, sizeof(*request));
	format(request->name, sizeof(request->name), "lsmeter0");
	request->flags = flags;
	return request;
}

static long open_queue(struct cell *c, int n)
{
	long ret = open_as(c, n, PATH, O_RDWR | O_CLOEXEC);

	return ret < 0 ? ret : SYS(ioctl, c->fd[n], TUNSETIFF, request(c, FLAGS));
}

static void teardown(struct cell *c)
{
	close_as(c, SECOND);
	close_as(c, DEVICE);
}

static int setup(struct cell *c)
{
	long ret = c->variant->arg == CREATE ? open_as(c, DEVICE, PATH, O_RDWR | O_CLOEXEC) :
		   open_queue(c, DEVICE);

	if (ret >= 0 && c->variant->arg == QUEUE)
		ret = open_queue(c, SECOND);
	if (ret >= 0 && c->variant->arg == QUEUE)
		ret = SYS(ioctl, c->fd[SECOND], TUNSETQUEUE, request(c, IFF_DETACH_QUEUE));
	if (ret >= 0)
		return 0;
	teardown(c);
	if (ret == -ENOENT || ret == -ENODEV || ret == -EACCES || ret == -EPERM)
		return unsupported(c, "no " PATH " here, or not for this user", ret);
	return failed(c, "ioctl of " PATH, ret);
}

static int prepare(struct cell *c, unsigned int i)
{
	switch (c->variant->arg) {
	case CREATE:
		request(c, FLAGS);
		return c->fd[DEVICE] ? 0 : open_as(c, DEVICE, PATH, O_RDWR | O_CLOEXEC);
	case ATTACH:
		request(c, FLAGS);
		return open_as(c, SECOND, PATH, O_RDWR | O_CLOEXEC);
	}
	request(c, IFF_ATTACH_QUEUE);
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	switch (c->variant->arg) {
	case CREATE:
		return SYS(ioctl, c->fd[DEVICE], TUNSETIFF, slot_data(c));
	case ATTACH:
		return SYS(ioctl, c->fd[SECOND], TUNSETIFF, slot_data(c));
	}
	return SYS(ioctl, c->fd[SECOND], TUNSETQUEUE, slot_data(c));
}

static int undo(struct cell *c, unsigned int i)
{
	switch (c->variant->arg) {
	case CREATE:
		close_as(c, DEVICE);
		return 0;
	case ATTACH:
		close_as(c, SECOND);
		return 0;
	}
	return SYS(ioctl, c->fd[SECOND], TUNSETQUEUE, request(c, IFF_DETACH_QUEUE));
}

static int check(struct cell *c)
{
	long ret = prepare(c, 0);

	if (ret >= 0)
		ret = op(c, 0);
	if (ret == -EPERM)
		return unsupported(c, "it needs CAP_NET_ADMIN", ret);
	if (ret < 0)
		return ret;
	/* The descriptor already has the requested device. */
	ret = op(c, 0);
	return ret == -EEXIST || ret == -EINVAL ? undo(c, 0) : failed(c, "tun: wrong result", ret);
}

BENCH("tun", SOCKET, NETWORK, 25, "a virtual network device: created, opened, a queue attached",
      .source = "Documentation/networking/tuntap.rst", .syscalls = "ioctl", .max_batch = 1,
      .variants = VARIANTS({ "create", .arg = CREATE, .modules = "tun" },
			   { "attach", .arg = ATTACH, .modules = "tun" },
			   { "queue", .arg = QUEUE, .modules = "tun" }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = teardown);
