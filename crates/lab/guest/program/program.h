/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directives of an experiment about whole programs. */
#ifndef LSMETER_PROGRAM_H
#define LSMETER_PROGRAM_H

#include "tasks.h"

#define COMMANDS_MAX	64
#define RUNS_MAX	256	/* of all commands, including preparations */
#define WORDS_MAX	8192	/* of all of them */
#define TEXT_MAX	(1u << 20)

/* One program and its arguments. */
struct run {
	char **argv;		/* ends with NULL */
	char **envp;
	const char *directory;
	const char *input;
	const char *output;
	u32 user, group;
	int once;		/* runs only the first time */
	struct run *next;	/* preparations first, the measured command last */
};

struct command {
	const char *name;
	int started;		/* one-time programs have run */
	struct run *first;
};

/* A child's report to its parent. */
struct told {
	u64 ticks;		/* clock at the start of the region */
	long error;		/* why the program could not be run, or 0 */
	char what[512];
};

/*
 * In memory that exists only if there are programs, because fork copies the agent's page tables,
 * and the fork benchmark would become more expensive. It is shared with children.
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
