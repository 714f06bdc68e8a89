# SPDX-License-Identifier: GPL-2.0-or-later

SHELL := /bin/bash
# A new rustup is not in PATH until the next login.
export PATH := $(PATH):$(HOME)/.cargo/bin

CARGO ?= cargo
# More flags for every cargo command, such as --locked or --offline.
CARGO_FLAGS ?=
# Arguments of `lsmeter run`: make run ARGS='suite --fs tmpfs'
ARGS ?=
# Kernels that the tests boot.
TEST_KERNELS ?= debian:6.1 debian:6.12 debian:6.12/aarch64
PREFIX ?= $(HOME)/.cargo

rust_version := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

# WHAT:PACKAGE[:SERVICE], see .ci/packages. The agent, the QEMU plugin and liblzma are C.
build_needs := cc:gcc ld:binutils /usr/include/stdio.h:libc6-dev
# clang compiles the eBPF programs; libbpf is built from the source in its crate.
build_needs += clang:clang make:make pkg-config:pkg-config \
	/usr/include/libelf.h:libelf-dev /usr/include/zlib.h:zlib1g-dev \
	/usr/include/linux/bpf.h:linux-libc-dev
# Compiles the agent for kernels of another architecture. A build without it measures only kernels
# of this machine's architecture.
ifeq ($(shell uname -m),x86_64)
build_needs += aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu \
	/usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
endif
run_needs := qemu-system-x86_64:qemu-system-x86 mkfs.ext4:e2fsprogs
# Needed only to boot such a kernel: make run ARGS='--arch aarch64'
ifneq ($(or $(findstring aarch64,$(ARGS)),$(findstring arm64,$(ARGS))),)
run_needs += qemu-system-aarch64:qemu-system-arm
endif
# With apt, lsmeter can fetch Debian's kernels and check their signatures. Other distributions find a
# mirror of Debian with python-apt-common.
ifneq ($(shell command -v apt-get),)
run_needs += /usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring gpgv:gpgv
ifneq ($(shell sed -n 's/^ID=//p' /etc/os-release),debian)
run_needs += /usr/share/python-apt/templates/Debian.info:python-apt-common
endif
endif
# Programs that the tests of `make check` run.
check_needs := callgrind_annotate:valgrind git:git
# Converts figures to PDF.
check_needs += rsvg-convert:librsvg2-bin
# Writes the pages of publications.
python_needs := /usr/lib/python3/dist-packages/pandas:python3-pandas \
	/usr/lib/python3/dist-packages/scipy:python3-scipy \
	/usr/lib/python3/dist-packages/matplotlib:python3-matplotlib
check_needs += $(python_needs)
# Compiles policies that the tests load.
check_needs += secilc:secilc apparmor_parser:apparmor \
	/usr/share/selinux/default/base.pp.bz2:selinux-policy-default \
	matchpathcon:selinux-utils evmctl:ima-evm-utils auditctl:auditd

test_needs := $(check_needs) qemu-system-aarch64:qemu-system-arm mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs
# Builds kernels for tests: make test-kernels.
kernel_needs := flex:flex bison:bison bc:bc lz4:lz4 xz:xz-utils \
	/usr/include/openssl/opensslv.h:libssl-dev

# Opens reports and queries DuckDB. Node installs the modules in package-lock.json.
test_needs += /usr/bin/chromium:chromium node:nodejs npm:npm

# Makes the guest that runs lsmeter in tests.
test_needs += busybox:busybox-static strip:binutils ldd:libc-bin
# Debian 13 has no tomoyo-tools.
ifneq ($(shell apt-cache show tomoyo-tools 2>/dev/null),)
test_needs += tomoyo-savepolicy:tomoyo-tools
endif
# Reads a monitor's text file. A test starts these programs itself, not as services.
test_needs += prometheus:prometheus:prometheus.service promtool:prometheus \
	prometheus-node-exporter:prometheus-node-exporter:prometheus-node-exporter.service

# A test starts this Slurm itself.
test_needs += slurmctld:slurmctld:slurmctld.service slurmd:slurmd:slurmd.service \
	sbatch:slurm-client munged:munge:munge.service

# Makes the Debian package.
deb_needs := dpkg-shlibdeps:dpkg-dev strip:binutils
test_needs += $(deb_needs)
# Puts a kernel into packages.
test_needs += rpmbuild:rpm xz:xz-utils zstd:zstd

# `make test` runs these in parallel.
test_halves := machine-tests other-tests

lsmeter := $(CARGO) run --release --quiet $(CARGO_FLAGS) --package lsmeter --

# Parallel apt or cargo commands would wait for each other, unless all is compiled.
ifneq ($(MAKECMDGOALS),$(test_halves))
.NOTPARALLEL:
endif

.PHONY: all
all: build

.PHONY: help
help:
	@echo 'make run      build, then measure: lsmeter run, with arguments in ARGS="..."'
	@echo 'make build    build target/release/lsmeter (the default)'
	@echo 'make check    check formatting and lints, run tests without kernels and browsers'
	@echo 'make test     check formatting and lints, run all tests; some boot kernels'
	@echo 'make test-kernels  build kernels for tests that make test skips otherwise'
	@echo 'make test-setup    try make run in clean roots of $(setup_suites), as root'
	@echo 'make install  install lsmeter into PREFIX/bin ($(PREFIX)/bin)'
	@echo 'make site     write target/site.html: costs of modules on 5.10, 6.1, 6.12 and 7.2'
	@echo 'make results  update the tables of docs/results from the result files'
	@echo 'make publications  update the pages of publications from the result files'
	@echo 'make lsmeter-aarch64  build lsmeter for AArch64 (or lsmeter-x86_64)'
	@echo 'make test-aarch64     run its unit tests with user-mode emulation'
	@echo 'make deb      make a Debian package in target/debian'
	@echo 'make docs     build the book of pages in target/book, manual pages and completions in target/man'
	@echo 'make clean    remove target/, but not fetched kernels'
	@echo 'run, build, check and test install missing packages with apt, and list them.'

.PHONY: rust rust-tools build-needs run-needs check-needs test-needs
rust:
	@.ci/rust '$(CARGO)' '$(rust_version)'
rust-tools:
	@.ci/rust '$(CARGO)' '$(rust_version)' fmt clippy
build-needs: rust
	@.ci/packages 'to build lsmeter' $(build_needs)
run-needs: rust
	@.ci/packages 'to build and run lsmeter' $(build_needs) $(run_needs)
check-needs: rust-tools
	@.ci/packages 'to build and check lsmeter' $(build_needs) $(run_needs) $(check_needs)
test-needs: rust-tools
	@.ci/packages 'to build and test lsmeter' $(build_needs) $(run_needs) $(test_needs)

.PHONY: build
build: build-needs
	@$(CARGO) build --release $(CARGO_FLAGS) --package lsmeter

.PHONY: run
run: run-needs build
	@$(lsmeter) run $(ARGS)

# Run after each change. Leaves out the tests CRATE/TEST listed here: they boot kernels, open a
# browser, build a package or run npm.
slow_tests := lab/boots lsmeter/browser lsmeter/machine lsmeter/package placement/real report/duckdb
all_tests := $(patsubst crates/%.rs,%,$(subst /tests/,/,$(patsubst %/main.rs,%.rs, \
	$(wildcard crates/*/tests/*.rs crates/*/tests/*/main.rs))))
quick_tests := $(filter-out $(slow_tests),$(all_tests))
# Cargo selects tests by name in all crates, so a quick test must not have the name of a slow one.
ambiguous := $(filter $(notdir $(slow_tests)),$(notdir $(quick_tests)))
test_names = $(addprefix --test ,$(sort $(notdir $(1))))
# Lines of Rust in src. A commit that raises the number gives the reason.
src_lines := 91400
.PHONY: check src-size
src-size:
	@lines=$$(git ls-files -z 'crates/*/src/*.rs' | xargs -0 cat | wc -l); \
	[ "$$lines" -le $$(($(src_lines) * 101 / 100)) ] || { \
		echo "src has grown to $$lines lines of Rust: remove some, or raise src_lines and give the reason" >&2; \
		exit 1; }
check: check-needs src-size docs
	$(if $(ambiguous),$(error quick tests with the name of a slow one, rename them: $(ambiguous)))
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(CARGO_FLAGS) --workspace --all-targets -- -D warnings
	$(CARGO) test $(CARGO_FLAGS) --workspace --lib --bins $(call test_names,$(quick_tests))

# Lints and tests share the release profile: this saves a second build, and tests that boot or try
# many inputs need the speed. Build scripts compile C with -Wall -Wextra -Werror. `make build` does
# not run first: tests enable other features of dependencies, so that it would build everything
# twice.
tests := $(CARGO) test --release $(CARGO_FLAGS) --workspace
.PHONY: lint compiled-tests fetched-kernels test-kernel test-kernels test
lint: test-needs src-size
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release $(CARGO_FLAGS) --workspace --all-targets -- -D warnings
compiled-tests: test-needs
	$(tests) --no-run
target_dir = $(shell $(CARGO) metadata $(CARGO_FLAGS) --no-deps --format-version 1 | \
	sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
fetched-kernels: compiled-tests
	@'$(target_dir)/release/lsmeter' kernel fetch $(TEST_KERNELS)

# Kernels that no distribution provides: one with every security module and the Tunable module, and
# a UML kernel. Tests find them by their configurations.
build_kernel = cd crates/testing/kernels && \
	'$(target_dir)/release/lsmeter' kernel build --source linux-source-6.12 --config small.config
test-kernel: fetched-kernels
	@.ci/packages 'to build kernels for tests' $(kernel_needs)
	@$(build_kernel) lsmeter-test --config lsmeter-test.config
test-kernels: test-kernel
	@$(build_kernel) lsmeter-test-um --flavour um

# With CI=true no test may be skipped except those of UML without a kernel for them: it takes ten
# minutes to build, and longer on a slow machine.
test: lint $(if $(filter true,$(CI)),test-kernel,fetched-kernels)
	@export LSMETER_SKIPPED_TESTS='$(target_dir)/skipped-tests' && rm -f "$$LSMETER_SKIPPED_TESTS" && \
		{ $(MAKE) --no-print-directory -j2 --output-sync=target $(test_halves); ended=$$?; \
		.ci/skipped "$$LSMETER_SKIPPED_TESTS"; exit $$ended; }

# In clean roots of these releases of Debian, as root.
setup_suites ?= bookworm trixie
.PHONY: test-setup
test-setup:
	@.ci/packages 'to make clean roots' debootstrap:debootstrap
	@for suite in $(setup_suites); do packaging/clean-root --suite "$$suite" . || exit; done

# make prints the output of each half when it ends, and runs both to the end. Tests of `machine`
# wait for Slurm, for clocks and for each other, so that one more runs at a time than there are
# processors. The other half runs one test program after the other. Neither half shares the jobs of
# this make.
alone := env -u MAKEFLAGS -u MFLAGS
.PHONY: $(test_halves)
machine-tests:
	@left_out=; if [ "$$CI" = true ] && \
		! '$(target_dir)/release/lsmeter' kernel list | grep -q '^build:lsmeter-test-um '; then \
		left_out='--skip um::'; \
		printf 'lsmeter::um (6 tests)\tCI builds no UML kernel\tmake test-kernels\n' >>"$${LSMETER_SKIPPED_TESTS:-/dev/stderr}"; \
	fi; \
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-$$(($$(nproc) + 1))} $(alone) $(tests) --test machine -- $$left_out
other-tests:
	$(alone) $(tests) --lib --bins $(call test_names,$(filter-out lsmeter/machine,$(all_tests)))
	$(alone) $(tests) --doc

.PHONY: install
install: build-needs
	$(CARGO) install $(CARGO_FLAGS) --locked --profile dist --path crates/lsmeter --root '$(PREFIX)'

# A separate build without paths of this machine: the same commit, compiler and libraries give the
# same package everywhere.
deb_target := $(or $(CARGO_TARGET_DIR),target)/deb
cargo_home := $(or $(CARGO_HOME),$(HOME)/.cargo)
.PHONY: deb
deb: build-needs
	@.ci/packages 'to make the package' $(deb_needs)
	CARGO_TARGET_DIR='$(deb_target)' \
	RUSTFLAGS='$(foreach of,$(cargo_home)=/cargo $(CURDIR)=/lsmeter,--remap-path-prefix=$(of))' \
	CFLAGS='$(foreach of,$(cargo_home)=/cargo $(CURDIR)=/lsmeter,-ffile-prefix-map=$(of))' \
		$(CARGO) build --profile dist --locked $(CARGO_FLAGS) --package lsmeter
	@docs/book '$(deb_target)/dist/lsmeter' "$$(.ci/mdbook '$(CARGO)')" target/book
	@packaging/deb '$(deb_target)/dist/lsmeter' target/book target/debian

# A page of the costs of modules on four Debian kernels. Existing results are not measured again.
site_kernels := 5.10 6.1 6.12 7.2
releases := $(or $(CARGO_TARGET_DIR),target)/releases
.PHONY: site
site: run-needs build
	@mkdir -p '$(releases)'
	@for kernel in $(site_kernels); do \
		file='$(releases)'/$$kernel.json; \
		[ -e "$$file" ] || $(lsmeter) run suite --kernel debian:$$kernel --with-hooks \
			--output "$$file" >/dev/null || exit; \
	done
	@$(lsmeter) report $(site_kernels:%='$(releases)'/%.json) -o '$(or $(CARGO_TARGET_DIR),target)/site.html'

# Updates the tables of the result pages from the result files next to them.
.PHONY: results
results: build
	@docs/results/refresh '$(or $(CARGO_TARGET_DIR),target)/release/lsmeter'

# Updates each publication's page and data from its result files. SVG and PDF depend on the version
# of matplotlib.
.PHONY: publications
publications: build
	@.ci/packages 'to write the pages of publications' $(python_needs)
	@for page in publications/*/page.py; do \
		/usr/bin/python3 $$page --lsmeter '$(or $(CARGO_TARGET_DIR),target)/release/lsmeter' || exit; \
	done

# Builds lsmeter for another architecture: make lsmeter-aarch64
.PHONY: lsmeter-aarch64 lsmeter-x86_64
lsmeter-aarch64 lsmeter-x86_64: lsmeter-%: build
	@packaging/cross $* '$(or $(CARGO_TARGET_DIR),target)/release/$@'

# Runs its unit tests with user-mode emulation.
.PHONY: test-aarch64 test-x86_64
test-aarch64 test-x86_64: test-%:
	@packaging/cross $* --test

# The pages as a book, with what the program prints of its commands. Links are checked.
.PHONY: docs
docs: build
	@docs/book '$(or $(CARGO_TARGET_DIR),target)/release/lsmeter' "$$(.ci/mdbook '$(CARGO)')" target/book
	@$(lsmeter) generate target/man

.PHONY: clean
clean: rust
	$(CARGO) clean
