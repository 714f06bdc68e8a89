// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the modules in the initramfs, and reports the addresses of their code. */
#include "agent.h"
#include "getdents.h"

#define MODULES_MAX	64
#define MODULE_NAME_MAX	96
#define SECTION_NAME_MAX	64

static char names[MODULES_MAX][MODULE_NAME_MAX];	/* files in /modules */
static unsigned int modules;

static int is_module(const char *name)
{
	size_t len = strlen(name);

	return len > 6 && len < MODULE_NAME_MAX &&
	       name[0] >= '0' && name[0] <= '9' &&
	       name[1] >= '0' && name[1] <= '9' && name[2] == '-' &&
	       !strcmp(name + len - 3, ".ko");
}

static void load_module(const char *name)
{
	char path[MODULE_NAME_MAX + 32], args[512];
	size_t len;
	long fd, err;

	len = format(path, sizeof(path), "/modules/%s", name);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	or_fatal(fd, "opening %s", path);
	memcpy(path + len - 3, ".args", sizeof(".args"));
	err = read_text(path, args, sizeof(args));
	while (err > 0 && (u8)args[err - 1] <= ' ')
		args[--err] = '\0';
	err = SYS(finit_module, fd, args, 0);
	if (err < 0 && err != -EEXIST)
		fatal("loading the module %s: %s (%ld)", name, errno_name(err), -err);
	sys_close(fd);
}

void load_modules(void)
{
	char buf[2048] __attribute__((aligned(8)));
	const struct dirent64 *entry;
	char taken[MODULE_NAME_MAX];
	unsigned int i, k;
	long fd, n, pos;

	fd = sys_open("/modules", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	while ((n = SYS(getdents64, fd, buf, sizeof(buf))) > 0) {
		for (pos = 0; (entry = dirent_at(buf, n, pos)); pos += entry->d_reclen) {
			if (!is_module(entry->d_name))
				continue;
			if (modules == MODULES_MAX)
				fatal("more than %u modules", MODULES_MAX);
			memcpy(names[modules++], entry->d_name, strlen(entry->d_name) + 1);
		}
	}
	sys_close(fd);
	for (i = 1; i < modules; i++) {
		memcpy(taken, names[i], sizeof(taken));
		for (k = i; k && strcmp(names[k - 1], taken) > 0; k--)
			memcpy(names[k], names[k - 1], sizeof(taken));
		memcpy(names[k], taken, sizeof(taken));
	}
	for (i = 0; i < modules; i++)
		load_module(names[i]);
}

/*
 * Recognises code sections by name, because sysfs does not report their flags: .text and its
 * parts, and .fixup, which kernels before 5.17 have.
 */
static int is_code(const char *section)
{
	const char *p;

	if (!strcmp(section, ".fixup"))
		return 1;
	for (p = section; *p; p++)
		if (!strncmp(p, "text", 4))
			return 1;
	return 0;
}

/* Whether a name fits into a line of words. */
static int is_word(const char *name)
{
	for (; *name; name++)
		if ((u8)*name <= ' ' || (u8)*name >= 127)
			return 0;
	return 1;
}

/* Appends the module's code sections to the text; returns its new length. */
static size_t list_sections(const char *name, char *text, size_t len)
{
	char dir[MODULE_NAME_MAX + 32], path[sizeof(dir) + SECTION_NAME_MAX];
	char line[sizeof(path) + 32], address[32];
	char buf[2048] __attribute__((aligned(8)));
	const struct dirent64 *entry;
	long fd, n, pos;
	size_t more;

	format(dir, sizeof(dir), "/sys/module/%s/sections", name);
	fd = sys_open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)	/* built in, or a kernel without KALLSYMS */
		return len;
	while ((n = SYS(getdents64, fd, buf, sizeof(buf))) > 0) {
		for (pos = 0; (entry = dirent_at(buf, n, pos)); pos += entry->d_reclen) {
			if (strlen(entry->d_name) >= SECTION_NAME_MAX ||
			    !is_code(entry->d_name) || !is_word(entry->d_name))
				continue;
			format(path, sizeof(path), "%s/%s", dir, entry->d_name);
			/* One line with its newline. */
			if (read_text(path, address, sizeof(address)) <= 0)
				continue;
			more = format(line, sizeof(line), "%s %s %s", name,
				      entry->d_name, address);
			if (line[more - 1] != '\n' || len + more > FRAME_PAYLOAD_MAX)
				continue;
			memcpy(text + len, line, more);
			len += more;
		}
	}
	sys_close(fd);
	return len;
}

void send_modules(void)
{
	char name[MODULE_NAME_MAX], *p;
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < modules; i++) {
		/* Converts NN-name.ko to the kernel's module name. */
		memcpy(name, names[i] + 3, sizeof(name) - 3);
		name[strlen(name) - 3] = '\0';
		for (p = name; *p; p++)
			if (*p == '-')
				*p = '_';
		if (is_word(name))
			len = list_sections(name, scratch, len);
	}
	if (len)
		send_frame(FRAME_MODULES, scratch, len);
}
