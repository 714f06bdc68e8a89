/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of c->variant->arg2 bytes from one end of a pair to the other, both in the same task.
 * They fill the buffer from its start, where there are no addresses by then.
 */
#ifndef LSMETER_MESSAGES_H
#define LSMETER_MESSAGES_H

#include "sockets.h"

#define KB	1024

static inline long send_to(struct cell *c, int from, size_t size)
{
	return SYS(sendto, c->fd[from], c->buffer, size, 0, NULL, 0);
}

/* Receives everything, in any number of parts. */
static inline long receive_at(struct cell *c, int to, size_t size)
{
	return SYS(recvfrom, c->fd[to], c->buffer, size, MSG_WAITALL, NULL, NULL);
}

static inline void fill_message(struct cell *c)
{
	long n;

	for (n = 0; n < c->variant->arg2; n++)
		c->buffer[n] = n % 251 + 1;
}

/* Whether the message is in the buffer again. */
static inline int is_message(struct cell *c)
{
	long n;

	for (n = 0; n < c->variant->arg2; n++)
		if (c->buffer[n] != (char)(n % 251 + 1))
			return 0;
	return 1;
}

/* check() of such operations: the message arrives, and nothing else. */
static inline int check_message(struct cell *c)
{
	long ret;

	fill_message(c);
	ret = send_to(c, CLIENT, c->variant->arg2);
	if (ret < 0)
		return failed(c, "sendto", ret);
	memset(c->buffer, 0, c->variant->arg2);
	ret = receive_at(c, SERVER, c->variant->arg2);
	if (ret < 0)
		return failed(c, "recvfrom", ret);
	if (ret != c->variant->arg2 || !is_message(c) ||
	    SYS(recvfrom, c->fd[SERVER], c->buffer, 1, MSG_DONTWAIT, NULL, NULL) != -EAGAIN)
		return failed(c, "recvfrom: wrong result", 0);
	return 0;
}

/* An operation in one direction. */
static inline long send_and_receive(struct cell *c, unsigned int i)
{
	long ret = send_to(c, CLIENT, c->variant->arg2);

	return ret < 0 ? ret : receive_at(c, SERVER, c->variant->arg2);
}

#endif
