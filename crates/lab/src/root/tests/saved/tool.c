// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The only program of an image of some KB. With an argument it changes files, for the second layer
 * of the image. Without, it is the image's program, and exits with 0 if its settings are applied.
 */
#include <sys/syscall.h>

static long call(long nr, const void *a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

static int same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static int change(void)
{
	return call(SYS_unlink, "/data/gone", 0, 0) || call(SYS_unlink, "/old/file", 0, 0) ||
	       call(SYS_rmdir, "/old", 0, 0) || call(SYS_chmod, "/data/kept", 0600, 0) ||
	       call(SYS_link, "/data/kept", (long)"/data/link", 0) ||
	       call(SYS_chown, "/data", 1234, 4321);
}

static int check(char **envp)
{
	char directory[64];

	if (call(SYS_getuid, 0, 0, 0) != 1234 || call(SYS_getgid, 0, 0, 0) != 4321)
		return 2;
	if (call(SYS_getcwd, directory, sizeof(directory), 0) < 0 || !same(directory, "/data"))
		return 3;
	if (call(SYS_access, "/data/gone", 0, 0) == 0 || call(SYS_access, "/old", 0, 0) == 0 ||
	    call(SYS_access, "/data/link", 0, 0) != 0)
		return 4;
	for (; *envp; envp++)
		if (same(*envp, "GREETING=hello world"))
			return 0;
	return 5;
}

__attribute__((noreturn, used)) void start(long *stack)
{
	char **envp = (char **)(stack + 1 + stack[0] + 1);
	int status = stack[0] > 1 ? change() : check(envp);

	for (;;)
		call(SYS_exit_group, (void *)(long)status, 0, 0);
}

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n");
