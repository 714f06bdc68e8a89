// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lsmeter's QEMU TCG plugin: exact counts of guest kernel instructions between markers. Until the
 * first ARM marker it only looks for markers, so that booting is not slower. Then it has all
 * blocks translated again.
 *
 * Arguments: records=PATH (required), serve=DIRECTORY (see serve.h), symbols=PATH, trace=on (see
 * trace.h), events=on (see events.h), transfers=MEBIBYTES (see transfers.h; of guest memory)
 * or tasks=PATH (see tasks.h; the file has the address ranges of functions).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "block.h"
#include "events.h"
#include "functions.h"
#include "markers.h"
#include "objects.h"
#include "qemu_api.h"
#include "records.h"
#include "serve.h"
#include "symbols.h"
#include "tasks.h"
#include "trace.h"
#include "transfers.h"
#include "window.h"

PLUGIN_EXPORT int qemu_plugin_version = 1;

/* Declared only to detect whether this QEMU has them. */
PLUGIN_IMPORT void *qemu_plugin_scoreboard_new(size_t element_size);
PLUGIN_IMPORT bool qemu_plugin_read_memory_vaddr(uint64_t, void *, size_t);
PLUGIN_IMPORT bool qemu_plugin_write_memory_vaddr(uint64_t, void *);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_discon_cb(uint64_t, int, void *);

static uint64_t plugin_id;
static int api;
static bool armed, arming;
static char token;		/* our address as callback data, from API 7 on */

/*
 * QEMU reads qemu_plugin_version after it has loaded the plugin and before it calls it, and
 * accepts only a range of versions. lsmeter passes the version in the environment; otherwise
 * exported symbols identify it.
 */
__attribute__((constructor)) static void choose_version(void)
{
	const char *told = getenv("LSMETER_PLUGIN_API");

	if (told && atoi(told) > 0)
		qemu_plugin_version = atoi(told);
	else if (qemu_plugin_register_vcpu_discon_cb)
		qemu_plugin_version = 7;
	else if (qemu_plugin_write_memory_vaddr)
		qemu_plugin_version = 5;
	else if (qemu_plugin_read_memory_vaddr)
		qemu_plugin_version = 4;
	else if (qemu_plugin_scoreboard_new)
		qemu_plugin_version = 2;
}

static void arm(void);
static void disarm(void);

static void on_marker(unsigned int vcpu, void *data)
{
	uint32_t marker = (uint32_t)(uintptr_t)data;

	/* The measured program may execute the agent itself. */
	if (tasks_enabled() && tasks_measured())
		return;
	if (marker == MARKER_ARM)
		arm();
	else if (marker == MARKER_DISARM)
		disarm();
	else if (marker == MARKER_END)
		serve_end();
	else
		window_marker(vcpu, marker, armed);
}

/* The access that counts as one iteration: see struct insn. */
static const struct rep {
	bool store;
	unsigned int accesses_per_iteration;
} rep_store = { true, 1 }, rep_load = { false, 1 }, rep_two_loads = { false, 2 };

static const struct rep *rep_of(const struct insn *insn)
{
	if (insn->iteration_access == PLUGIN_MEM_WRITE)
		return &rep_store;
	return insn->accesses_per_iteration == 2 ? &rep_two_loads : &rep_load;
}

static void on_block(unsigned int vcpu, void *data)
{
	if (vcpu == window_processor)
		window_block(data);
}

/* QEMU 7.2 reports both accesses of movs, regardless of which was requested. */
static void on_rep_access(unsigned int vcpu, uint32_t info, uint64_t vaddr, void *data)
{
	const struct rep *rep = data;

	(void)vaddr;
	if (vcpu == window_processor && qemu_plugin_mem_is_store(info) == rep->store)
		window_rep_access(rep->accesses_per_iteration);
}

static void on_user_block(unsigned int vcpu, void *data)
{
	(void)vcpu;
	tasks_user_block(data);
}

static void on_kernel_block(unsigned int vcpu, void *data)
{
	(void)vcpu;
	tasks_kernel_block(data);
}

static void on_simple_block(unsigned int vcpu, void *data)
{
	(void)vcpu;
	tasks_simple_block(data);
}

/* Callback for a block of whole programs. */
static block_cb_t task_block(const struct block *block)
{
	if (!block->kernel)
		return on_user_block;
	return block->simple ? on_simple_block : on_kernel_block;
}

static void on_copy_access(unsigned int vcpu, uint32_t info, uint64_t vaddr, void *data)
{
	(void)vcpu;
	(void)data;
	if (qemu_plugin_mem_is_store(info))
		tasks_copy(vaddr);
}

static void on_switch_access(unsigned int vcpu, uint32_t info, uint64_t vaddr, void *data)
{
	(void)data;
	if (tasks_enabled())
		tasks_switch_access(qemu_plugin_mem_is_store(info), vaddr);
	else if (vcpu == window_processor)
		window_switch_access(qemu_plugin_mem_is_store(info), vaddr);
}

static void on_memory(unsigned int vcpu, uint32_t info, uint64_t vaddr, void *data)
{
	(void)vcpu;
	window_memory(data, qemu_plugin_mem_is_store(info), vaddr);
}

/* data: the instruction's address */
static void on_shared_memory(unsigned int vcpu, uint32_t info, uint64_t vaddr, void *data)
{
	const struct qemu_plugin_hwaddr *at = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t address = (uintptr_t)data, physical;
	struct transfers transfers;

	if (!at || qemu_plugin_hwaddr_is_io(at))
		return;
	physical = qemu_plugin_hwaddr_phys_addr(at);
	objects_place(vaddr, physical);
	transfers = transfers_access(vcpu, address, qemu_plugin_mem_is_store(info), physical,
				     1ull << qemu_plugin_mem_size_shift(info));
	if ((transfers.words || transfers.lines) && vcpu == window_processor)
		window_transfers(&transfers, address, vaddr, physical);
}

/* Copies an instruction, at most INSN_MAX bytes; returns the number. */
static size_t read_bytes(const struct qemu_plugin_insn *handle, uint8_t *copy)
{
	size_t length = qemu_plugin_insn_size(handle);

	if (length > INSN_MAX)
		length = INSN_MAX;
	if (api >= 3)
		qemu_plugin_insn_data(handle, copy, length);
	else
		memcpy(copy, qemu_plugin_insn_data(handle, NULL, 0), length);
	return length;
}

static struct insn read_insn(const struct qemu_plugin_insn *handle, uint8_t *size)
{
	uint8_t copy[INSN_MAX] = { 0 };
	size_t length = read_bytes(handle, copy);

	*size = (uint8_t)length;
	return guest->decode(copy, length, qemu_plugin_insn_vaddr(handle));
}

/* The block of a translation callback: see translate_cb_t. */
static struct qemu_plugin_tb *block_of(void *first, void *second)
{
	return second == &token ? first : second;
}

/* Size of the agent's page that has all its markers. */
#define AGENT_PAGE	4096u

/*
 * The number of that page in host memory, once MARKER_AGENT was executed, or else 0. Other
 * programs' code is in other pages, whatever its guest addresses are.
 */
static uintptr_t agent_page;

static void on_agent(unsigned int vcpu, void *data)
{
	(void)vcpu;
	if (!agent_page)
		agent_page = (uintptr_t)data;
}

static void on_ready(unsigned int vcpu, void *data)
{
	(void)vcpu;
	serve(data);
}

static void watch_marker(struct qemu_plugin_insn *handle, const struct insn *insn)
{
	block_cb_t callback = on_marker;
	uintptr_t page, data;

	if (insn->kind != INSN_MARKER)
		return;
	data = (uintptr_t)qemu_plugin_insn_haddr(handle);
	page = data / AGENT_PAGE;
	if (agent_page && page != agent_page)
		return;
	if (insn->marker == MARKER_READY) {
		callback = on_ready;
	} else if (insn->marker == MARKER_AGENT) {
		callback = on_agent;
		data = page;
	} else {
		data = insn->marker;
	}
	qemu_plugin_register_vcpu_insn_exec_cb(handle, callback, PLUGIN_CB_NO_REGS, (void *)data);
}

/* Replaces the pause in the idle loop when it is translated. */
static void keep_idling(struct qemu_plugin_insn *handle)
{
	uint8_t copy[INSN_MAX] = { 0 };

	if (read_bytes(handle, copy) == guest->pause_size &&
	    !memcmp(copy, guest->pause, guest->pause_size))
		memcpy(qemu_plugin_insn_haddr(handle), guest->no_pause, guest->pause_size);
}

static void translate_unarmed(void *first, void *second)
{
	struct qemu_plugin_tb *tb = block_of(first, second);
	size_t n = qemu_plugin_tb_n_insns(tb);
	/* Of several processors, one that only waits must end its turn. */
	bool idle = n && !transfers_enabled() &&
		    symbols_kind(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0))) ==
			    SYMBOL_IDLE;

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *handle = qemu_plugin_tb_get_insn(tb, i);
		struct insn insn;
		uint8_t size;

		if (idle)
			keep_idling(handle);
		if (qemu_plugin_insn_size(handle) != guest->marker_size)
			continue;
		insn = read_insn(handle, &size);
		watch_marker(handle, &insn);
	}
}

static void find_function(struct block *block)
{
	struct function function = functions_at(block->first);

	block->function = function.number;
	block->entry = function.entry;
	block->thunk = function.thunk;
	block->syscall = function.syscall && function.entry;
	block->forks = function.forks;
	block->sigreturn = function.sigreturn;
	block->copies_stack = function.copies_stack;
}

static void watch_events(struct block *block, uint32_t position,
			 struct qemu_plugin_insn *handle, const struct insn *insn)
{
	uint8_t copy[INSN_MAX] = { 0 };
	struct effects effects = guest->effects(copy, read_bytes(handle, copy));

	events_note(block, position, &effects);
	qemu_plugin_register_vcpu_mem_cb(handle, on_memory, PLUGIN_CB_NO_REGS,
					 PLUGIN_MEM_READ | PLUGIN_MEM_WRITE,
					 (void *)events_access(&effects, insn));
}

static void translate_armed(void *first, void *second)
{
	struct qemu_plugin_tb *tb = block_of(first, second);
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct block *block;

	if (!n || n > 4096)
		return;
	block = block_new(n);
	block->insns = (uint32_t)n;
	block->first = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	block->kernel = block->first >> 63;
	if (block->kernel) {
		enum symbol_kind kind = symbols_kind(block->first);

		block->interrupt_entry = kind == SYMBOL_INTERRUPT;
		block->exception_entry = kind == SYMBOL_EXCEPTION;
		block->context_switch = kind == SYMBOL_SWITCH;
	}
	if (tasks_enabled() && block->kernel)
		find_function(block);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *handle = qemu_plugin_tb_get_insn(tb, i);
		struct insn insn = read_insn(handle, &block->sizes[i]);

		if (!block->kernel)
			watch_marker(handle, &insn);
		else if (insn.kind == INSN_REP && !tasks_enabled())
			qemu_plugin_register_vcpu_mem_cb(
				handle, on_rep_access, PLUGIN_CB_NO_REGS, insn.iteration_access,
				(void *)rep_of(&insn));
		else if (block->copies_stack)
			qemu_plugin_register_vcpu_mem_cb(handle, on_copy_access, PLUGIN_CB_NO_REGS,
							 PLUGIN_MEM_WRITE, NULL);
		else if (block->context_switch && (trace_enabled() || tasks_enabled()))
			qemu_plugin_register_vcpu_mem_cb(handle, on_switch_access, PLUGIN_CB_NO_REGS,
							 PLUGIN_MEM_READ | PLUGIN_MEM_WRITE, NULL);
		if (block->kernel && transfers_enabled()) {
			objects_place_host(qemu_plugin_insn_vaddr(handle),
					   qemu_plugin_insn_haddr(handle));
			qemu_plugin_register_vcpu_mem_cb(
				handle, on_shared_memory, PLUGIN_CB_NO_REGS,
				PLUGIN_MEM_READ | PLUGIN_MEM_WRITE,
				(void *)(uintptr_t)qemu_plugin_insn_vaddr(handle));
		}
		if (block->kernel && events_enabled())
			watch_events(block, (uint32_t)i, handle, &insn);
		if (i == n - 1) {
			block->last = qemu_plugin_insn_vaddr(handle);
			block->next = block->last + block->sizes[i];
			block->last_is_rep = insn.kind == INSN_REP;
			block->last_kind = insn.kind;
			block->target = insn.target;
			block->indirect = insn.indirect;
		}
	}
	block->ordinary = block->kernel && !block->interrupt_entry && !block->exception_entry &&
			  !block->context_switch && block->last_kind != INSN_IRET;
	block->simple = block->ordinary && !block->copies_stack && block->last_kind != INSN_SYSRET;
	block->left = block_left_by(block->last_kind);
	if (tasks_enabled())
		qemu_plugin_register_vcpu_tb_exec_cb(tb, task_block(block), PLUGIN_CB_NO_REGS,
						     block);
	else if (block->kernel || block->last_kind == INSN_SYSCALL)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, PLUGIN_CB_NO_REGS, block);
}

static void at_exit(void *first, void *second)
{
	(void)first;
	(void)second;
	records_flush();
}

static void instrument(void)
{
	qemu_plugin_register_vcpu_tb_trans_cb(
		plugin_id, armed ? translate_armed : translate_unarmed, &token);
	qemu_plugin_register_atexit_cb(plugin_id, at_exit, &token);
}

static void on_reset(void *first, void *second)
{
	(void)first;
	(void)second;
	armed = arming;
	instrument();
}

static void arm(void)
{
	static unsigned int asked;

	/*
	 * The agent first arms and disarms the plugin for the idle loop. QEMU 7.2 aborts if memory
	 * callbacks are removed again.
	 */
	if (transfers_enabled() && !asked++)
		return;
	if (!arming) {
		arming = true;
		qemu_plugin_reset(plugin_id, on_reset, &token);
	}
}

static void disarm(void)
{
	if (arming && !transfers_enabled()) {
		arming = false;
		qemu_plugin_reset(plugin_id, on_reset, &token);
	}
}

PLUGIN_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
				      char **argv)
{
	static struct records_header header = { .version = RECORDS_VERSION };
	const char *records = NULL, *serving = NULL;
	int ret = 0;

	plugin_id = id;
	api = info->version.cur;
	header.api = (uint32_t)api;
	if (!arch_choose(info->target_name) || !info->system_emulation) {
		fprintf(stderr, "lsmeter plugin: needs %s\n", arch_programs());
		return -1;
	}
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "records=", 8)) {
			records = argv[i] + 8;
		} else if (!strncmp(argv[i], "symbols=", 8)) {
			ret = symbols_load(argv[i] + 8);
			if (ret < 0) {
				fprintf(stderr, "lsmeter plugin: %s: %s\n", argv[i] + 8,
					strerror(-ret));
				return -1;
			}
			header.has_symbols = ret > 0;
		} else if (!strcmp(argv[i], "trace=on")) {
			trace_enable();
		} else if (!strcmp(argv[i], "events=on")) {
			events_enable();
		} else if (!strncmp(argv[i], "transfers=", 10)) {
			objects_enable(strtoull(argv[i] + 10, NULL, 10) << 20);
			ret = qemu_plugin_hwaddr_phys_addr ? transfers_enable() : -ENOSYS;
			if (ret) {
				fprintf(stderr, "lsmeter plugin: transfers: %s\n", strerror(-ret));
				return -1;
			}
		} else if (!strncmp(argv[i], "serve=", 6)) {
			serving = argv[i] + 6;
		} else if (!strncmp(argv[i], "tasks=", 6)) {
			ret = functions_load(argv[i] + 6);
			if (ret) {
				fprintf(stderr, "lsmeter plugin: %s: %s\n", argv[i] + 6,
					strerror(-ret));
				return -1;
			}
			tasks_enable();
		} else {
			fprintf(stderr, "lsmeter plugin: unknown argument %s\n", argv[i]);
			return -1;
		}
	}
	if (!records) {
		fprintf(stderr, "lsmeter plugin: records=PATH is missing\n");
		return -1;
	}
	if (info->system.max_vcpus > (transfers_enabled() ? PROCESSORS_MAX : 1)) {
		fprintf(stderr, "lsmeter plugin: too many processors\n");
		return -1;
	}
	memcpy(header.magic, RECORDS_MAGIC, sizeof(header.magic));
	ret = records_open(records, &header);
	if (ret) {
		fprintf(stderr, "lsmeter plugin: %s: %s\n", records, strerror(-ret));
		return -1;
	}
	ret = serving ? serve_enable(serving, &header) : 0;
	if (ret) {
		fprintf(stderr, "lsmeter plugin: no copies of the machine: %s\n", strerror(-ret));
		return -1;
	}
	instrument();
	return 0;
}
