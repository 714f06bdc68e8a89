// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rules/30-stig.rules in the audit sources, in the same order, from July 2018 to August 2020 (audit
 * 2.8.4 to 2.8.5 and development of 3.0): records required by the Security Technical Implementation
 * Guides. 64-bit calls, 32-bit calls, and watches of files and directories below /etc.
 */
#include "audit.h"
#include "calls32.h"

#define BITS_64		.arch = ARCH_AUDIT
#define BITS_32		.arch = ARCH_AUDIT_32

#define ON_CLOCK	.fields = { AUDIT_ARG0 }, .values = { 0 },		\
			.operators = { AUDIT_EQUAL }
#define REFUSED(error)	LOGGED_IN_FIELDS(AUDIT_EXIT,),				\
			LOGGED_IN_VALUES((u32)-error,), LOGGED_IN_OPERATORS(AUDIT_EQUAL,)
/* -p wa, and -F perm=wa */
#define CHANGED		.fields = { AUDIT_PERM },				\
			.values = { AUDIT_PERM_WRITE | AUDIT_PERM_ATTR },	\
			.operators = { AUDIT_EQUAL }

#define WATCHED(file, rule_key, field, rule_text)				\
	{ .text = rule_text " -k " rule_key, .key = rule_key, .path = file,	\
	  .path_field = field, CHANGED }
#define WATCH(file, key)		WATCHED(file, key, AUDIT_WATCH, "-w " file " -p wa")
/* auditctl checks whether -w names a directory. */
#define WATCH_DIRECTORY(file, key)	WATCHED(file, key, AUDIT_DIR, "-w " file "/ -p wa")
#define DIRECTORY(file, key)						\
	WATCHED(file, key, AUDIT_DIR, "-a always,exit -F dir=" file "/ -F perm=wa")

static const struct set_rule rules[] = {
	{
		.text = "-S adjtimex,settimeofday,stime -k time-change",
		BITS_32, .key = "time-change",
		.syscalls = { CALL_32(adjtimex), CALL_32(settimeofday), CALL_32(stime) },
	},
	{
		.text = "-S adjtimex,settimeofday -k time-change",
		BITS_64, .key = "time-change",
		.syscalls = { SYS_NUMBER(adjtimex), SYS_NUMBER(settimeofday) },
	},
	{
		.text = "-S clock_settime -F a0=0x0 -k time-change",
		BITS_32, .key = "time-change", ON_CLOCK,
		.syscalls = { CALL_32(clock_settime) },
	},
	{
		.text = "-S clock_settime -F a0=0x0 -k time-change",
		BITS_64, .key = "time-change", ON_CLOCK,
		.syscalls = { SYS_NUMBER(clock_settime) },
	},
	WATCH("/etc/localtime", "time-change"),
	WATCH("/etc/group", "identity"),
	WATCH("/etc/passwd", "identity"),
	WATCH("/etc/gshadow", "identity"),
	WATCH("/etc/shadow", "identity"),
	WATCH("/etc/security/opasswd", "identity"),
	{
		.text = "-S sethostname,setdomainname -k system-locale",
		BITS_32, .key = "system-locale",
		.syscalls = { CALL_32(sethostname), CALL_32(setdomainname) },
	},
	{
		.text = "-S sethostname,setdomainname -k system-locale",
		BITS_64, .key = "system-locale",
		.syscalls = { SYS_NUMBER(sethostname), SYS_NUMBER(setdomainname) },
	},
	WATCH("/etc/issue", "system-locale"),
	WATCH("/etc/issue.net", "system-locale"),
	WATCH("/etc/hosts", "system-locale"),
	WATCH("/etc/hostname", "system-locale"),
	DIRECTORY("/etc/NetworkManager", "system-locale"),
	DIRECTORY("/etc/selinux", "MAC-policy"),
	{
		.text = "-S chmod,fchmod,fchmodat" LOGGED_IN_TEXT " -k perm_mod",
		BITS_32, .key = "perm_mod", LOGGED_IN,
		.syscalls = { CALL_32(chmod), CALL_32(fchmod), CALL_32(fchmodat) },
	},
	{
		.text = "-S chmod,fchmod,fchmodat" LOGGED_IN_TEXT " -k perm_mod",
		BITS_64, .key = "perm_mod", LOGGED_IN,
		.syscalls = { SYS_NUMBER(chmod), SYS_NUMBER(fchmod), SYS_NUMBER(fchmodat) },
	},
	{
		.text = "-S lchown,fchown,chown,fchownat" LOGGED_IN_TEXT " -k perm_mod",
		BITS_32, .key = "perm_mod", LOGGED_IN,
		.syscalls = { CALL_32(lchown), CALL_32(fchown), CALL_32(chown),
			      CALL_32(fchownat) },
	},
	{
		.text = "-S chown,fchown,lchown,fchownat" LOGGED_IN_TEXT " -k perm_mod",
		BITS_64, .key = "perm_mod", LOGGED_IN,
		.syscalls = { SYS_NUMBER(chown), SYS_NUMBER(fchown), SYS_NUMBER(lchown),
			      SYS_NUMBER(fchownat) },
	},
	{
		.text = "-S setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr"
			 LOGGED_IN_TEXT " -k perm_mod",
		BITS_32, .key = "perm_mod", LOGGED_IN,
		.syscalls = { CALL_32(setxattr), CALL_32(lsetxattr), CALL_32(fsetxattr),
			      CALL_32(removexattr), CALL_32(lremovexattr),
			      CALL_32(fremovexattr) },
	},
	{
		.text = "-S setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr"
			 LOGGED_IN_TEXT " -k perm_mod",
		BITS_64, .key = "perm_mod", LOGGED_IN,
		.syscalls = { SYS_NUMBER(setxattr), SYS_NUMBER(lsetxattr),
			      SYS_NUMBER(fsetxattr), SYS_NUMBER(removexattr),
			      SYS_NUMBER(lremovexattr), SYS_NUMBER(fremovexattr) },
	},
	{
		.text = "-S open,creat,truncate,ftruncate,openat,open_by_handle_at"
			" -F exit=-EACCES" LOGGED_IN_TEXT " -k access",
		BITS_32, .key = "access", REFUSED(EACCES),
		.syscalls = { CALL_32(open), CALL_32(creat), CALL_32(truncate),
			      CALL_32(ftruncate), CALL_32(openat), CALL_32(open_by_handle_at) },
	},
	{
		.text = "-S open,creat,truncate,ftruncate,openat,open_by_handle_at"
			" -F exit=-EPERM" LOGGED_IN_TEXT " -k access",
		BITS_32, .key = "access", REFUSED(EPERM),
		.syscalls = { CALL_32(open), CALL_32(creat), CALL_32(truncate),
			      CALL_32(ftruncate), CALL_32(openat), CALL_32(open_by_handle_at) },
	},
	{
		.text = "-S open,truncate,ftruncate,creat,openat,open_by_handle_at"
			" -F exit=-EACCES" LOGGED_IN_TEXT " -k access",
		BITS_64, .key = "access", REFUSED(EACCES),
		.syscalls = { SYS_NUMBER(open), SYS_NUMBER(truncate), SYS_NUMBER(ftruncate),
			      SYS_NUMBER(creat), SYS_NUMBER(openat),
			      SYS_NUMBER(open_by_handle_at) },
	},
	{
		.text = "-S open,truncate,ftruncate,creat,openat,open_by_handle_at"
			" -F exit=-EPERM" LOGGED_IN_TEXT " -k access",
		BITS_64, .key = "access", REFUSED(EPERM),
		.syscalls = { SYS_NUMBER(open), SYS_NUMBER(truncate), SYS_NUMBER(ftruncate),
			      SYS_NUMBER(creat), SYS_NUMBER(openat),
			      SYS_NUMBER(open_by_handle_at) },
	},
	{
		.text = "-S mount" LOGGED_IN_TEXT " -k export",
		BITS_32, .key = "export", LOGGED_IN,
		.syscalls = { CALL_32(mount) },
	},
	{
		.text = "-S mount" LOGGED_IN_TEXT " -k export",
		BITS_64, .key = "export", LOGGED_IN,
		.syscalls = { SYS_NUMBER(mount) },
	},
	{
		.text = "-S unlink,unlinkat,rename,renameat" LOGGED_IN_TEXT " -k delete",
		BITS_32, .key = "delete", LOGGED_IN,
		.syscalls = { CALL_32(unlink), CALL_32(unlinkat), CALL_32(rename),
			      CALL_32(renameat) },
	},
	{
		.text = "-S unlink,unlinkat,rename,renameat" LOGGED_IN_TEXT " -k delete",
		BITS_64, .key = "delete", LOGGED_IN,
		.syscalls = { SYS_NUMBER(unlink), SYS_NUMBER(unlinkat), SYS_NUMBER(rename),
			      SYS_NUMBER(renameat) },
	},
	WATCH("/etc/sudoers", "actions"),
	WATCH_DIRECTORY("/etc/sudoers.d", "actions"),
};

const struct set_rule *const *audit_stig(void)
{
	static const struct set_rule *all[ARRAY_SIZE(rules) + 1];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		all[i] = &rules[i];
	return all;
}

void audit_make_directories(void)
{
	static const char *const made[] = { "/etc", "/etc/security", "/etc/NetworkManager",
					    "/etc/selinux", "/etc/sudoers.d" };
	unsigned int i;
	long err;

	for (i = 0; i < ARRAY_SIZE(made); i++) {
		err = sys_mkdir(made[i], 0755);
		if (err < 0 && err != -EEXIST)
			fatal("audit: mkdir of %s: %s (%ld)", made[i], errno_name(err), -err);
	}
	step("audit: mkdir -p /etc/security /etc/NetworkManager /etc/selinux /etc/sudoers.d");
}
