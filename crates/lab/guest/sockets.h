/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets of one task that has both ends: their types, unique addresses, and connected pairs. All
 * traffic uses the loopback interface, or no interface.
 */
#ifndef LSMETER_SOCKETS_H
#define LSMETER_SOCKETS_H

#include <asm/socket.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <linux/un.h>
#include "slots.h"

/* In the C library's headers, but not in the kernel's. */
#define AF_UNIX		1
#define AF_INET		2
#define AF_INET6	10
#define AF_NETLINK	16
#define AF_PACKET	17
#define SOCK_STREAM	1
#define SOCK_DGRAM	2
#define SOCK_RAW	3
#define SOCK_SEQPACKET	5
#define SOCK_CLOEXEC	O_CLOEXEC
#define SOCK_NONBLOCK	O_NONBLOCK
#define MSG_DONTWAIT	0x40
#define MSG_WAITALL	0x100
#define MSG_NOSIGNAL	0x4000
#define SHUT_WR		1
#define IFF_UP		0x1
#define MULTIPATH_TCP	262	/* IPPROTO_MPTCP, missing from older headers */

#define LISTENER	0	/* c->fd[] */
#define CLIENT		1
#define SERVER		2
#define BACKLOG		(2 * MAX_FD_SLOTS)
#define ADDRESS_SIZE	6	/* c->state[]: of each address in a slot */

enum socket_kind {
	UNIX_STREAM,
	UNIX_DGRAM,
	UNIX_SEQPACKET,
	TCP,
	UDP,
	TCP6,
	UDP6,
	SCTP,
	RAW,		/* of an experimental protocol (RFC 3692) */
	PACKET,		/* not bound */
	ROUTE,		/* netlink */
	AUDIT,
	XFRM,
	NETFILTER,
	MPTCP,		/* its first subflow is a TCP socket in the kernel */
};

#define EXPERIMENTAL	253

static const struct {
	u8 family, type;
	u16 protocol;
} socket_kinds[] = {
	[UNIX_STREAM] = { AF_UNIX, SOCK_STREAM },
	[UNIX_DGRAM] = { AF_UNIX, SOCK_DGRAM },
	[UNIX_SEQPACKET] = { AF_UNIX, SOCK_SEQPACKET },
	[TCP] = { AF_INET, SOCK_STREAM },
	[UDP] = { AF_INET, SOCK_DGRAM },
	[TCP6] = { AF_INET6, SOCK_STREAM },
	[UDP6] = { AF_INET6, SOCK_DGRAM },
	[SCTP] = { AF_INET, SOCK_STREAM, IPPROTO_SCTP },
	[RAW] = { AF_INET, SOCK_RAW, EXPERIMENTAL },
	[PACKET] = { AF_PACKET, SOCK_RAW },
	[ROUTE] = { AF_NETLINK, SOCK_RAW, NETLINK_ROUTE },
	[AUDIT] = { AF_NETLINK, SOCK_RAW, NETLINK_AUDIT },
	[XFRM] = { AF_NETLINK, SOCK_RAW, NETLINK_XFRM },
	[NETFILTER] = { AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER },
	[MPTCP] = { AF_INET, SOCK_STREAM, MULTIPATH_TCP },
};

static inline int family_of(enum socket_kind kind)
{
	return socket_kinds[kind].family;
}

static inline int is_tcp(enum socket_kind kind)
{
	return kind == TCP || kind == TCP6;
}

static inline int is_stream(enum socket_kind kind)
{
	return socket_kinds[kind].type == SOCK_STREAM || kind == UNIX_SEQPACKET;
}

static inline long new_socket(enum socket_kind kind)
{
	return SYS(socket, family_of(kind), socket_kinds[kind].type | SOCK_CLOEXEC,
		   socket_kinds[kind].protocol);
}

/*
 * The reason why setup() got no socket: it is missing from the kernel, or not allowed for this
 * user.
 */
static inline int no_socket(struct cell *c, long err)
{
	switch (err) {
	case -ENOSYS:
	case -EAFNOSUPPORT:
	case -EPROTONOSUPPORT:
	case -ESOCKTNOSUPPORT:
	case -ENOPROTOOPT:
		return unsupported(c, "this kernel has no such sockets", err);
	case -EPERM:
	case -EACCES:
		return unsupported(c, "such sockets need CAP_NET_RAW", err);
	}
	return failed(c, "socket", err);
}

/* Brings the loopback interface up, which is down after boot. */
static inline int loopback_up(struct cell *c)
{
	struct {
		char name[16];
		short flags;
		char rest[22];
	} request = { .name = "lo" };
	long fd = new_socket(UDP), err;

	if (fd < 0)
		return no_socket(c, fd);
	err = SYS(ioctl, fd, SIOCGIFFLAGS, &request);
	if (!err && !(request.flags & IFF_UP)) {
		request.flags |= IFF_UP;
		err = SYS(ioctl, fd, SIOCSIFFLAGS, &request);
	}
	sys_close(fd);
	return err < 0 ? unsupported(c, "the loopback interface is down", err) : 0;
}

/* Whether such sockets, and their interface, are available. */
static inline int sockets_start(struct cell *c, enum socket_kind kind)
{
	long fd = new_socket(kind);

	if (fd < 0)
		return no_socket(c, fd);
	sys_close(fd);
	return family_of(kind) == AF_UNIX || family_of(kind) == AF_NETLINK ? 0 : loopback_up(c);
}

static inline u16 big_endian(u16 n)
{
	return __builtin_bswap16(n);
}

/*
 * Addresses for the slots, of size c->state[ADDRESS_SIZE]: names in the working directory, or ports
 * below the ephemeral range, which differ between agents that may run at the same time.
 */
static inline void *slot_address(struct cell *c, unsigned int i)
{
	return slot_name(c, i);
}

static inline void address_slots(struct cell *c, enum socket_kind kind)
{
	u16 port = 8192 + SYS(getpid) % 40 * MAX_SLOTS;
	unsigned int i;

	for (i = 0; i < MAX_SLOTS; i++) {
		struct sockaddr_un *un = slot_address(c, i);
		struct sockaddr_in *in = slot_address(c, i);
		struct sockaddr_in6 *in6 = slot_address(c, i);

		memset(in, 0, SLOT_SIZE);
		in->sin_family = family_of(kind);
		if (family_of(kind) == AF_UNIX) {
			c->state[ADDRESS_SIZE] = offsetof(struct sockaddr_un, sun_path) + 1 +
				format(un->sun_path, 16, "socket%03u", i);
		} else if (family_of(kind) == AF_INET) {
			in->sin_port = big_endian(port + i);
			in->sin_addr.s_addr = __builtin_bswap32(INADDR_LOOPBACK);
			c->state[ADDRESS_SIZE] = sizeof(*in);
		} else {
			in6->sin6_port = big_endian(port + i);
			in6->sin6_addr.s6_addr[15] = 1;
			c->state[ADDRESS_SIZE] = sizeof(*in6);
		}
	}
}

static inline long set_option(int fd, int level, int option, int value)
{
	return SYS(setsockopt, fd, level, option, &value, sizeof(value));
}

static inline long bind_slot(struct cell *c, int fd, unsigned int i)
{
	return SYS(bind, fd, slot_address(c, i), c->state[ADDRESS_SIZE]);
}

static inline long connect_slot(struct cell *c, int fd, unsigned int i)
{
	return SYS(connect, fd, slot_address(c, i), c->state[ADDRESS_SIZE]);
}

/* Close resets the connection, so that neither end waits for late segments. */
static inline long close_at_once(int fd)
{
	struct {
		int on, seconds;
	} linger = { 1, 0 };

	SYS(setsockopt, fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	return sys_close(fd);
}

/* A socket bound to the slot's address, with a new name in the file system. */
static inline long bound_socket(struct cell *c, enum socket_kind kind, unsigned int i)
{
	long fd = new_socket(kind), err;

	if (fd < 0)
		return fd;
	if (family_of(kind) == AF_UNIX)
		sys_unlink(((struct sockaddr_un *)slot_address(c, i))->sun_path);
	else
		set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	err = bind_slot(c, fd, i);
	if (err < 0) {
		sys_close(fd);
		return err;
	}
	return fd;
}

/* The listener, or the receiving socket, at the address of slot 0. */
static inline int listen_at_slot(struct cell *c, enum socket_kind kind)
{
	long fd = bound_socket(c, kind, 0), err;

	if (fd < 0)
		return failed(c, "bind", fd);
	c->fd[LISTENER] = fd;
	err = is_stream(kind) ? SYS(listen, fd, BACKLOG) : 0;
	return err < 0 ? failed(c, "listen", err) : 0;
}

/* For teardown(), and for a setup() that fails. */
static inline void close_all(struct cell *c)
{
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(c->fd); n++)
		close_as(c, n);
}

/* The complete setup() of a benchmark that connects to a peer. */
static inline int set_up_listener(struct cell *c, enum socket_kind kind)
{
	int ret = sockets_start(c, kind);

	if (ret)
		return ret;
	address_slots(c, kind);
	ret = listen_at_slot(c, kind);
	if (ret)
		close_all(c);
	return ret;
}

/* A second descriptor of a slot. */
static inline int *slot_fd2(struct cell *c, unsigned int i)
{
	return slot_fd(c, MAX_FD_SLOTS + i);
}

/*
 * A client at the address of slot 1, connected to a server: streams through the listener, which
 * stays open, other sockets by each other's addresses.
 */
static inline long connect_both(struct cell *c, enum socket_kind kind)
{
	long fd = bound_socket(c, kind, 1), err;

	if (fd < 0)
		return fd;
	c->fd[CLIENT] = fd;
	err = connect_slot(c, fd, 0);
	if (err < 0)
		return err;
	if (is_stream(kind)) {
		fd = SYS(accept4, c->fd[LISTENER], NULL, NULL, SOCK_CLOEXEC);
	} else {
		fd = c->fd[LISTENER];
		c->fd[LISTENER] = 0;
		err = connect_slot(c, fd, 1);
	}
	if (fd < 0)
		return fd;
	c->fd[SERVER] = fd;
	return err;
}

/* The complete setup() of a benchmark with both ends connected. */
static inline int set_up_pair(struct cell *c, enum socket_kind kind)
{
	long err = set_up_listener(c, kind);

	if (err)
		return err;
	err = connect_both(c, kind);
	if (err < 0) {
		close_all(c);
		return failed(c, "connect", err);
	}
	if (is_tcp(kind)) {
		set_option(c->fd[CLIENT], IPPROTO_TCP, TCP_NODELAY, 1);
		set_option(c->fd[SERVER], IPPROTO_TCP, TCP_NODELAY, 1);
	}
	return 0;
}

/* Its teardown(). */
static inline void tear_down_pair(struct cell *c)
{
	if (c->fd[CLIENT])
		close_at_once(c->fd[CLIENT]);
	c->fd[CLIENT] = 0;
	close_all(c);
}

#endif
