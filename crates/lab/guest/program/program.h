/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an experiment's directives say of whole programs, and where they are kept. */
#ifndef LSMETER_PROGRAM_H
#define LSMETER_PROGRAM_H

#include "tasks.h"

#define COMMANDS_MAX	64
#define RUNS_MAX	256	/* of all commands, preparations included */
#define WORDS_MAX	8192	/* of all of them */
#define TEXT_MAX	(1u << 20)

/* One program and what it is started with. */
struct run {
	char **argv;		/* ends with NULL */
	char **envp;
	const char *directory;
	const char *input;
	const char *output;
	u32 user, group;
	int once;		/* it runs the first time only */
	struct run *next;	/* what prepares comes first, what is measured last */
};

struct command {
	const char *name;
	int started;		/* what runs once has */
	struct run *first;
};

/* What a child tells its parent. */
struct told {
	u64 ticks;		/* of the clock when the window was opened */
	long error;		/* why it could not run the program, or 0 */
	char what[512];
};

/*
 * In memory that only experiments with programs have, since fork copies the agent's page
 * tables and its benchmark would pay for more of them. It is shared with children.
 */
struct programs {
	struct variant variants[COMMANDS_MAX + 1];
	struct command commands[COMMANDS_MAX];
	struct run runs[RUNS_MAX];
	char *words[WORDS_MAX];
	char text[TEXT_MAX];
	unsigned int command_count, run_count, word_count, text_used;
	struct told told;
	struct tasks tasks;
};

#endif
