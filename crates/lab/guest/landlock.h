/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landlock's interface: include/uapi/linux/landlock.h, which may be missing from the build machine.
 */
#ifndef LSMETER_LANDLOCK_H
#define LSMETER_LANDLOCK_H

#define LANDLOCK_CREATE_RULESET		444
#define LANDLOCK_ADD_RULE		445
#define LANDLOCK_RESTRICT_SELF		446
#define CREATE_RULESET_VERSION		1
#define RULE_PATH_BENEATH		1
#define RULE_NET_PORT			2
/* A flag of RESTRICT_SELF, from ABI 7 on: programs log their denials, if audit is on. */
#define LOG_NEW_EXEC_ON			(1u << 1)
#define LOGGING_ABI			7

#define ACCESS_EXECUTE		(1ull << 0)
#define ACCESS_WRITE_FILE	(1ull << 1)
#define ACCESS_READ_FILE	(1ull << 2)
#define ACCESS_READ_DIR		(1ull << 3)
#define ACCESS_REMOVE_DIR	(1ull << 4)
#define ACCESS_MAKE_REG		(1ull << 8)
#define ACCESS_READ		(ACCESS_EXECUTE | ACCESS_READ_FILE | ACCESS_READ_DIR)
#define ACCESS_TRUNCATE		(1ull << 14)
#define ACCESS_IOCTL_DEV	(1ull << 15)
#define ACCESS_BIND_TCP		(1ull << 0)
#define ACCESS_CONNECT_TCP	(1ull << 1)

#endif
