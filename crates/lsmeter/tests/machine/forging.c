// SPDX-License-Identifier: GPL-2.0-or-later
/* Executes every marker before and after its work, if it has an argument. */
#include <unistd.h>

#ifdef __x86_64__
#define MARKER(kind)	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long 0x4c534d00 + " #kind)
#else
#define MARKER(kind)	__asm__ volatile("movz xzr, #(0x5c00 + " #kind "), lsl #48")
#endif

static void forge(void)
{
	MARKER(10);
	MARKER(1);
	MARKER(3);
	MARKER(2);
	MARKER(7);
	MARKER(6);
	MARKER(8);
	MARKER(4);
	MARKER(5);
	MARKER(9);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		forge();
	for (volatile int i = 0; i < 1000; i++)
		getppid();
	if (argc > 1)
		forge();
	return 0;
}
