// SPDX-License-Identifier: GPL-2.0-or-later
/* The host's directives: measurements and their settings. */
#include "delays.h"

struct experiment experiment;

/* Cuts the next blank-separated word off *rest; NULL at the end. */
static char *next_word(char **rest)
{
	char *p = *rest, *word;

	while (*p == ' ')
		p++;
	if (!*p)
		return NULL;
	word = p;
	while (*p && *p != ' ')
		p++;
	if (*p)
		*p++ = '\0';
	*rest = p;
	return word;
}

static int copy_text(char *dst, size_t size, const char *src)
{
	size_t len = src ? strlen(src) : 0;

	if (!len || len >= size)
		return -EINVAL;
	memcpy(dst, src, len + 1);
	return 0;
}

static void parse_clock(const char *text)
{
	u32 processor;

	if (text && !strcmp(text, "-1"))
		experiment.processor = -1;
	else if (text && !parse_u32(text, 8191, &processor))
		experiment.processor = processor;
	else
		fatal("experiment: clock wants a processor from -1 to 8191");
}

static const struct {
	const char *name;
	size_t offset;
	u32 least;
	u32 most;
} keys[] = {
	{ "warmup", offsetof(struct cell_spec, warmup), 0, 10000000 },
	{ "samples", offsetof(struct cell_spec, samples), 1, 1000000 },
	{ "ms", offsetof(struct cell_spec, ms), 1, 3600000 },
	{ "share", offsetof(struct cell_spec, share), 1, 1000 },
	{ "cold", offsetof(struct cell_spec, cold), 0, 1 },
	{ "transfers", offsetof(struct cell_spec, transfers), 1, 1 },
	{ "apart", offsetof(struct cell_spec, apart), 0, SHARE_DIRECTORY },
	{ "ask", offsetof(struct cell_spec, ask), 0, 1 },
};

static void parse_key(struct cell_spec *spec, char *word)
{
	unsigned int i;
	u32 value;
	char *eq;

	for (eq = word; *eq && *eq != '='; eq++)
		;
	if (!*eq)
		fatal("experiment: cell %u: not KEY=VALUE: %s", spec->id, word);
	*eq = '\0';
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].name, word))
			continue;
		if (parse_u32(eq + 1, keys[i].most, &value) || value < keys[i].least)
			fatal("experiment: cell %u: %s must be from %u to %u",
			      spec->id, word, keys[i].least, keys[i].most);
		memcpy((char *)spec + keys[i].offset, &value, sizeof(value));
		return;
	}
	fatal("experiment: cell %u: unknown key: %s", spec->id, word);
}

static void parse_metric(struct cell_spec *spec, const char *word)
{
	if (!strcmp(word, "instructions"))
		spec->metric = METRIC_INSTRUCTIONS;
	else if (!strcmp(word, "time"))
		spec->metric = METRIC_TIME;
	else if (!strcmp(word, "throughput"))
		spec->metric = METRIC_THROUGHPUT;
	else if (!strcmp(word, "memory"))
		spec->metric = METRIC_MEMORY;
	else
		fatal("experiment: cell %u: unknown metric: %s", spec->id, word);
}

#ifdef ARCH_MAY_LACK_BENCHMARKS
static int say_it_lacks(struct cell *c)
{
	return unsupported(c, "this kernel was built without the benchmark", 0);
}

static const struct benchmark lacking = { .measures = ~0u, .setup = say_it_lacks };
static const struct variant lacking_variant = { .name = "" };

static void find(struct cell_spec *spec, const char *name, const char *variant)
{
	spec->benchmark = find_benchmark(name);
	spec->variant = spec->benchmark ? find_variant(spec->benchmark, variant) : NULL;
	if (!spec->variant) {
		spec->benchmark = &lacking;
		spec->variant = &lacking_variant;
	}
}
#else
static void find(struct cell_spec *spec, const char *name, const char *variant)
{
	spec->benchmark = find_benchmark(name);
	if (!spec->benchmark)
		fatal("experiment: cell %u: unknown benchmark: %s", spec->id, name);
	spec->variant = find_variant(spec->benchmark, variant);
	if (!spec->variant)
		fatal("experiment: cell %u: %s has no variant %s",
		      spec->id, name, variant);
}
#endif

static void parse_cell(char *rest)
{
	struct cell_spec *spec;
	char *id, *name, *variant, *metric, *word;

	if (experiment.cells == CELLS_MAX)
		fatal("experiment: more than %u cells", CELLS_MAX);
	spec = &experiment.cell[experiment.cells];
	*spec = (struct cell_spec){
		.warmup = 64, .samples = 300, .ms = 1000, .share = 10,
	};
	id = next_word(&rest);
	name = next_word(&rest);
	variant = next_word(&rest);
	metric = next_word(&rest);
	if (!metric)
		fatal("experiment: cell wants ID BENCHMARK VARIANT METRIC");
	if (parse_u32(id, ~0u, &spec->id))
		fatal("experiment: not a cell's number: %s", id);
	find(spec, name, variant);
	parse_metric(spec, metric);
	while ((word = next_word(&rest)))
		parse_key(spec, word);
	if (spec->metric != METRIC_INSTRUCTIONS && spec->samples > SAMPLES_MAX)
		fatal("experiment: cell %u: at most %u samples are kept",
		      spec->id, SAMPLES_MAX);
	experiment.cells++;
}

static struct cell_spec *last_cell(void)
{
	return experiment.cells ? &experiment.cell[experiment.cells - 1] : NULL;
}

static void parse_line(char *line)
{
	char *rest = line, *word;

	word = next_word(&rest);
	if (!word)
		return;
	if (!strcmp(word, "cell")) {
		parse_cell(rest);
	} else if (!strcmp(word, "dir")) {
		while (*rest == ' ')
			rest++;
		if (copy_text(experiment.dir, sizeof(experiment.dir), rest))
			fatal("experiment: dir wants a path of 1 to 1023 bytes");
	} else if (!strcmp(word, "fs")) {
		if (copy_text(experiment.fs, sizeof(experiment.fs), next_word(&rest)))
			fatal("experiment: fs wants a name of 1 to 15 bytes");
	} else if (!strcmp(word, "memory")) {
		experiment.of_memory = 1;
	} else if (!strcmp(word, "processors")) {
		word = next_word(&rest);
		if (!word || parse_u32(word, PROCESSORS_MAX, &experiment.processors) ||
		    !experiment.processors)
			fatal("experiment: processors wants 1 to %u", PROCESSORS_MAX);
	} else if (!strcmp(word, "policy")) {
		char *module = next_word(&rest), *state = next_word(&rest);

		parse_policy(module, state, next_word, &rest);
	} else if (!strcmp(word, "delays")) {
		char *module = next_word(&rest);
		char *which = next_word(&rest);

		parse_delays(module, which, next_word(&rest));
	} else if (!strcmp(word, "hook")) {
		char *name = next_word(&rest);

		parse_delay_hook(name, next_word(&rest));
	} else if (!strcmp(word, "point")) {
		char *hook = next_word(&rest);

		parse_delay_point(last_cell(), hook, next_word(&rest));
	} else if (!strcmp(word, "clock")) {
		parse_clock(next_word(&rest));
	} else if (!parse_program(word, rest)) {
		fatal("experiment: unknown directive: %s", word);
	}
}

void parse_directives(char *text, size_t len)
{
	char *line = text;
	size_t i;

	for (i = 0; i < len; i++) {
		if (text[i] == '\n') {
			text[i] = '\0';
			parse_line(line);
			line = text + i + 1;
		} else if ((u8)text[i] < ' ' || (u8)text[i] == 0x7f) {
			fatal("experiment: control character 0x%02x", (u8)text[i]);
		}
	}
	parse_line(line);
}

/*
 * In a VM the directives may be in the initramfs, because the time at which the host writes to the
 * port is random, and the deterministic clock allows no randomness.
 */
static int read_file(char *text, size_t size)
{
	long fd = sys_open("/experiment", O_RDONLY, 0);
	size_t len = 0, whole;
	char kept;
	long n;

	if (fd < 0)
		return 0;
	while ((n = sys_read(fd, text + len, size - 1 - len)) > 0) {
		len += n;
		for (whole = len; whole && text[whole - 1] != '\n'; whole--)
			;
		if (!whole && len == size - 1)
			fatal("/experiment: a line of more than %lu bytes", len);
		if (!whole)
			continue;
		kept = text[whole];
		text[whole] = '\0';
		parse_directives(text, whole);
		text[whole] = kept;
		len -= whole;
		memmove(text, text + whole, len);
	}
	or_fatal(n, "/experiment");
	sys_close(fd);
	text[len] = '\0';
	parse_directives(text, len);
	return 1;
}

void read_experiment(int in_vm)
{
	static char payload[FRAME_PAYLOAD_MAX + 1];
	u32 len;

	if (in_vm && read_file(payload, sizeof(payload)))
		return;

	while (read_frame(payload, &len) == FRAME_EXPERIMENT)
		parse_directives(payload, len);
	if (len)
		fatal("run frame: its payload must be empty");
}
