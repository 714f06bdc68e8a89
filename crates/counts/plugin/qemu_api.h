/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations of QEMU's plugin interface. Distributions do not package its header, and one plugin
 * must load into QEMU 7.2 (API 1) up to 11.1 (API 7). Differences between versions:
 *
 *	API 2  (9.0)   inline operations work on scoreboards; not used here
 *	API 3  (9.1)   insn_data() copies into a buffer instead of returning one
 *	API 4 to 6     additions only
 *	API 7  (11.1)  callbacks lose the plugin id and gain a pointer
 *
 * Extra arguments are harmless in the calling conventions of 64-bit hosts, so functions are always
 * called with the longest list.
 */
#ifndef LSMETER_QEMU_API_H
#define LSMETER_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))
#define PLUGIN_IMPORT __attribute__((visibility("default"), weak))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

struct qemu_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
};

enum { PLUGIN_CB_NO_REGS = 0 };
enum { PLUGIN_MEM_READ = 1, PLUGIN_MEM_WRITE = 2 };

typedef void (*block_cb_t)(unsigned int vcpu, void *data);
typedef void (*memory_cb_t)(unsigned int vcpu, uint32_t info, uint64_t vaddr,
			    void *data);
/* (id, tb) before API 7, (tb, data) from then on */
typedef void (*translate_cb_t)(void *first, void *second);
/* (id[, data]) before, (data) from then on: both ignored */
typedef void (*event_cb_t)(void *first, void *second);

PLUGIN_IMPORT void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translate_cb_t cb,
							 void *data);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
							block_cb_t cb, int flags,
							void *data);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
							  block_cb_t cb, int flags,
							  void *data);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
						    memory_cb_t cb, int flags, int rw,
						    void *data);
PLUGIN_IMPORT bool qemu_plugin_mem_is_store(uint32_t info);
PLUGIN_IMPORT unsigned int qemu_plugin_mem_size_shift(uint32_t info);
PLUGIN_IMPORT struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t info, uint64_t vaddr);
PLUGIN_IMPORT bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *address);
PLUGIN_IMPORT uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *address);
PLUGIN_IMPORT void qemu_plugin_register_atexit_cb(uint64_t id, event_cb_t cb, void *data);
PLUGIN_IMPORT void qemu_plugin_reset(uint64_t id, event_cb_t cb, void *data);
PLUGIN_IMPORT size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
PLUGIN_IMPORT struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
PLUGIN_IMPORT uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
/* Host address of the instruction, unique per guest address; valid during translation */
PLUGIN_IMPORT void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
PLUGIN_IMPORT size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
/* API 1 and 2: returns the bytes; from 3: copies up to len, returns the count */
PLUGIN_IMPORT const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn,
						void *dest, size_t len);

#endif
