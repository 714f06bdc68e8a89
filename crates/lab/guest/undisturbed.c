// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Detects whether others use part of this processor's core, possibly its other hardware thread. A
 * virtual machine cannot see this, and an operation takes up to twice as long. Others come and go
 * within milliseconds, so a probe runs next to each sample. Dependent additions take a time set by
 * the processor's frequency. Independent additions take longer as soon as others use part of the
 * core. So the ratio reveals other users of the core at any frequency. Only probes select samples;
 * the samples' own times never do.
 */
#include "agent.h"

#ifdef ARCH_WAIT_MS

#define STEPS		1000	/* of eight independent additions */
#define CHAINED_STEPS	250	/* of eight dependent ones; 0.7 us, like the others on four units */
#define NS_PER_MS	1000000ull
#define BOOT_WAIT_MS	1000	/* plus ARCH_WAIT_MS for each measurement */
#define CELL_WAIT_MS	500	/* at most, to leave time for later measurements */
#define WINDOW_MS	10	/* of calibration */
#define WINDOWS		100	/* without an earlier boot's value: longer than a disturbance */
#define LONGEST_NS	1000000000ull	/* limit for samples whose pace is corrected */
#define PER_MILLE	1000
#define RATIO_MOST	4000	/* per mille */
#define TOLERATED	60	/* per mille above the ratio of an undisturbed processor */
#define LEAST_PROBES	50	/* per mille of probes at or below that ratio */
#define KNOWN_RATIO	"lsmeter.undisturbed="
#define KNOWN_PACE	"lsmeter.pace_ns="

u32 undisturbed_ratio = RATIO_MOST;
u32 pace_ns;
static u32 reference_ns;	/* the pace for reported times; 0: the clock stands still */
static u64 left_ns;		/* total remaining waiting time */
static u64 cell_left_ns;	/* this measurement's part of it */
static u64 cell_pace_ns, cell_probes;

/* Keeps the compiler from vectorising. */
#define ADD(a)	do { (a)++; __asm__ volatile("" : "+r"(a)); } while (0)

/* Dependent: measures the frequency. */
static __attribute__((noinline, aligned(64))) u64 chained_ns(void)
{
	u64 a = 0, begin = now_ns();
	unsigned int i;

	for (i = 0; i < CHAINED_STEPS; i++) {
		ADD(a); ADD(a); ADD(a); ADD(a);
		ADD(a); ADD(a); ADD(a); ADD(a);
	}
	return now_ns() - begin;
}

/* Independent: as many at a time as the core can do. */
static __attribute__((noinline, aligned(64))) u64 parallel_ns(void)
{
	u64 a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
	u64 begin = now_ns();
	unsigned int i;

	for (i = 0; i < STEPS; i++) {
		a++;
		b++;
		c++;
		d++;
		e++;
		f++;
		g++;
		h++;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d),
				      "+r"(e), "+r"(f), "+r"(g), "+r"(h));
	}
	return now_ns() - begin;
}

/* The ratio in per mille; useless if the clock stands still. */
static u32 probe(u64 *chained)
{
	u64 ratio;

	*chained = chained_ns();
	if (!*chained)
		return RATIO_MOST;
	ratio = parallel_ns() * PER_MILLE / *chained;
	return ratio < RATIO_MOST ? ratio : RATIO_MOST;
}

int undisturbed(void)
{
	u64 chained;

	if (probe(&chained) > undisturbed_ratio + TOLERATED)
		return 0;
	/* An interrupt hit the dependent additions. */
	if (chained * 4 > pace_ns * 5ull)
		return 0;
	cell_pace_ns += chained;
	cell_probes++;
	return 1;
}

/* The value at the given per mille rank. */
static u32 quantile(const u32 *counts, u32 all, u32 per_mille)
{
	u64 below = 0;
	u32 i;

	for (i = 0; i < RATIO_MOST; i++) {
		below += counts[i];
		if (below * PER_MILLE >= (u64)all * per_mille)
			break;
	}
	return i;
}

/* A value from earlier boots, because a boot may be disturbed from start to end. */
static u32 known(const char *text, const char *word)
{
	size_t len = strlen(word);
	u32 value = 0;

	while (*text && strncmp(text, word, len))
		text++;
	if (!*text)
		return 0;
	for (text += len; *text >= '0' && *text <= '9' && value < 1000000; text++)
		value = value * 10 + (*text - '0');
	return value;
}

static void calibrate(void)
{
	static u32 ratios[RATIO_MOST + 1], paces[RATIO_MOST + 1];
	u64 begin = now_ns(), chained;
	u32 all = 0, ratio;

	memset(ratios, 0, sizeof(ratios));
	memset(paces, 0, sizeof(paces));
	while (now_ns() - begin < WINDOW_MS * NS_PER_MS) {
		ratios[probe(&chained)]++;
		paces[chained < RATIO_MOST ? chained : RATIO_MOST]++;
		all++;
	}
	ratio = quantile(ratios, all, LEAST_PROBES);
	if (ratio < undisturbed_ratio)
		undisturbed_ratio = ratio;
	pace_ns = quantile(paces, all, PER_MILLE / 2);
}

void undisturbed_start(void)
{
	static char text[4096];
	u32 ratio;
	int i;

	read_text("/proc/cmdline", text, sizeof(text));
	ratio = known(text, KNOWN_RATIO);
	if (ratio)
		undisturbed_ratio = ratio;
	reference_ns = known(text, KNOWN_PACE);
	for (i = 0; i < (ratio ? 1 : WINDOWS); i++)
		calibrate();
	/* Use the same reference as in later boots. */
	if (!reference_ns)
		reference_ns = pace_ns;
}

void undisturbed_next_cell(void)
{
	static int begun;

	if (!begun)
		left_ns = (BOOT_WAIT_MS + ARCH_WAIT_MS * experiment.cells) * NS_PER_MS;
	begun = 1;
	cell_left_ns = CELL_WAIT_MS * NS_PER_MS;
	if (cell_left_ns > left_ns)
		cell_left_ns = left_ns;
	cell_pace_ns = 0;
	cell_probes = 0;
}

int undisturbed_lost(u64 ns)
{
	if (ns > cell_left_ns)
		ns = cell_left_ns;
	cell_left_ns -= ns;
	left_ns -= ns;
	return cell_left_ns != 0;
}

int undisturbed_wait(void)
{
	u64 begin = now_ns(), waited;

	while (cell_left_ns) {
		if (undisturbed())
			return 1;
		waited = now_ns() - begin;
		begin += waited;
		undisturbed_lost(waited);
	}
	return undisturbed();
}

u64 at_pace(u64 ns)
{
	if (!reference_ns || !cell_pace_ns || ns > LONGEST_NS)
		return ns;
	return ns * reference_ns * cell_probes / cell_pace_ns;
}

#endif
