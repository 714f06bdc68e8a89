// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the directives for programs: docs/protocol.md. */
#include "program.h"

const struct variant *program_variants(const struct benchmark *b)
{
	return programs && !strcmp(b->name, PROGRAM) ? programs->variants : b->variants;
}

int is_program(const struct cell_spec *spec)
{
	return !strcmp(spec->benchmark->name, PROGRAM);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Copies a text; %XX becomes a byte that directives cannot contain. */
static char *keep(const char *text)
{
	struct programs *p = programs;
	char *kept = p->text + p->text_used, *end = p->text + TEXT_MAX, *at = kept;

	while (*text) {
		int high = *text == '%' ? hex_digit(text[1]) : -1;
		int low = high >= 0 ? hex_digit(text[2]) : -1;

		if (at + 1 >= end)
			fatal("experiment: more than %u bytes of commands", TEXT_MAX);
		if (low >= 0)
			*at++ = high << 4 | low;
		else
			*at++ = *text;
		text += low >= 0 ? 3 : 1;
	}
	if (at == end)
		fatal("experiment: more than %u bytes of commands", TEXT_MAX);
	*at++ = '\0';
	p->text_used = at - p->text;
	return kept;
}

/* Appends to a list that ends with NULL; lists only grow at the end of words[]. */
static char **add_word(char **list, char *word)
{
	struct programs *p = programs;
	unsigned int n = 0;
	char **copy;

	while (list && list[n])
		n++;
	if (p->word_count + n + 2 > WORDS_MAX)
		fatal("experiment: more than %u words of commands", WORDS_MAX);
	if (list && list + n + 1 == p->words + p->word_count) {
		copy = list;
		p->word_count++;
	} else {
		copy = p->words + p->word_count;
		p->word_count += n + 2;
		memcpy(copy, list, n * sizeof(*copy));
	}
	copy[n] = word;
	copy[n + 1] = NULL;
	return copy;
}

static struct run *add_run(void)
{
	struct programs *p = programs;
	struct command *c = &p->commands[p->command_count - 1];
	struct run *run, **last;

	if (p->run_count == RUNS_MAX)
		fatal("experiment: more than %u programs", RUNS_MAX);
	run = &p->runs[p->run_count++];
	for (last = &c->first; *last; last = &(*last)->next)
		;
	*last = run;
	run->directory = "/";
	run->input = run->output = "/dev/null";
	return run;
}

static void add_command(const char *name)
{
	struct programs *p = programs;

	if (p->command_count == COMMANDS_MAX)
		fatal("experiment: more than %u commands", COMMANDS_MAX);
	p->commands[p->command_count].name = name;
	p->variants[p->command_count].name = name;
	p->variants[p->command_count].arg = p->command_count;
	p->command_count++;
	add_run();
}

int parse_program(const char *word, char *rest)
{
	struct run *run;
	char *text;

	if (!strcmp(word, "programs") || (!strcmp(word, "command") && !programs))
		programs = map_shared(sizeof(*programs));
	if (!programs || !strcmp(word, "programs"))
		return programs != NULL;
	run = programs->run_count ? &programs->runs[programs->run_count - 1] : NULL;
	text = keep(rest);
	if (!strcmp(word, "command"))
		add_command(text);
	else if (!strcmp(word, "then"))
		add_run();
	else if (!strcmp(word, "once"))
		run->once = 1;
	else if (!strcmp(word, "argument"))
		run->argv = add_word(run->argv, text);
	else if (!strcmp(word, "environment"))
		run->envp = add_word(run->envp, text);
	else if (!strcmp(word, "directory"))
		run->directory = text;
	else if (!strcmp(word, "input"))
		run->input = text;
	else if (!strcmp(word, "output"))
		run->output = text;
	else if (!strcmp(word, "user") && !parse_u32(text, ~0u, &run->user))
		;
	else if (!strcmp(word, "group") && !parse_u32(text, ~0u, &run->group))
		;
	else
		return 0;
	return 1;
}
