# SPDX-License-Identifier: BSD-3-Clause
# The tests, the demo and the benchmark; included by the Makefile.
#
# tests/unit/test_<file>.c     libcheck programs, linked with the static library and the runtime's objects
# tests/mpi/<chapter>/*.c      MPI programs, compiled by the build's mpicc and run by its mpiexec
# tests/fortran/*.f90, *.f     the same in Fortran, if there is a compiler
# tests/abi/check_*            scripts that compare headers and libraries with the standard
# tests/house/check_*          programs that compare the source with its own rules: rooms, names, English, format
# tests/instructions/          what the fast paths cost, counted by valgrind
# tests/faults/test_*          scripts, run with the build directory as argument: bad input, deaths, stale files
# tests/hosts/test_*           the same, with several hosts or other launchers
# tests/fuzz/<parser>.c        programs of libFuzzer that feed one parser (tests/fuzz/fuzz.h)
# tests/hard/*                 attacks with a number of rounds and a seed: tests/hard/attack.py and hard.h
#
# A part runs alone with `make check-PART`; ONLY=text restricts it to the tests whose path contains the text.

ONLY  ?=
RANKS ?= 1,2,3,4,7,16
JOBS  ?= 2
NP    ?= 4
SLOW  ?= 1
PART   = $(patsubst check-%,%,$@)
# Variables on make's command line reach the make of a test through the environment; -j does not.
RUN    = MAKEFLAGS= tests/run --build $(B) --name $(or $(RUN_NAME),$(PART)) --jobs $(JOBS) --slow $(SLOW)
MPIRUN = $(RUN) --mpiexec $(B)/bin/mpiexec --ranks $(RANKS)

only        = $(if $(ONLY),$(foreach t,$(1),$(if $(findstring $(ONLY),$(t)),$(t))),$(1))
UNIT_SRC   := $(filter-out $(if $(UCX),,tests/unit/test_ucx%.c),$(call only,$(wildcard tests/unit/test_*.c)))
UNIT_HELP  := $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c))
MPI_TESTS  := $(call only,$(wildcard tests/mpi/*/*.c))
FAULT_SRC  := $(wildcard tests/faults/*.c tests/hosts/*.c)
HARD_SRC   := $(call only,$(wildcard tests/hard/*.c))
# Scripts only: no sources, and nothing that is not executable.
scripts     = $(call only,$(shell for t in $(sort $(wildcard $(1))); do [ -f $$t ] && [ -x $$t ] && echo $$t; done))
programs    = $(patsubst %.c,$(B)/%,$(1))

.PHONY: deps-tests deps-peers
deps-tests: | deps-check
	@UCX=$(UCX) sh tests/deps.sh tests
deps-peers: | deps-check
	@UCX=$(UCX) sh tests/deps.sh peers || echo 'Going on without those that are missing.'

# --- how test programs are built -------------------------------------------------------------------------------
RUNTIME_OBJS := $(call objs,$(RUNTIME_SRC))
UNIT_LIBS = $(if $(RUNTIME_OBJS),$(B)/tests/libruntime.a) $(B)/tests/libplugin.a $(B)/lib/libmpi_abi.a

# The parts of a plugin that unit tests call.
$(B)/tests/libplugin.a: $(call objs,$(patsubst %,plugins/ucx/%.c,devices fds filter mac))
	@mkdir -p $(@D)
	$(Q)rm -f $@; ar rcs $@ $^

$(B)/tests/libruntime.a: $(RUNTIME_OBJS)
	@mkdir -p $(@D)
	$(Q)rm -f $@; ar rcs $@ $^

$(B)/tests/unit/%: tests/unit/%.c $(UNIT_HELP) $(UNIT_LIBS) tests/tests.mk
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit $(call PKG,--cflags,check) $(ALL_CFLAGS) -MMD -MP -MF $@.d -MT $@ $< $(UNIT_HELP) -o $@ \
	  $(ALL_LDFLAGS) $(UNIT_LIBS) $(call PKG,--libs,check) -Wl,--as-needed $(call PKG,--libs,pmix jansson hwloc) -ldl -lm

# What the compiler calls for each load and store is in the test itself: the linker sees no sanitizer. One of the build's
# own would take its place.
COUNTED := $(if $(SAN.$(MODE)),,-fsanitize=thread -DLINES_COUNTED)
$(B)/tests/unit/test_area_lines.o: tests/unit/test_area_lines.c $(UNIT_LIBS) tests/tests.mk
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit $(call PKG,--cflags,check) $(ALL_CFLAGS) $(COUNTED) -MMD -MP -c $< -o $@
$(B)/tests/unit/test_area_lines: $(B)/tests/unit/test_area_lines.o $(UNIT_HELP) $(UNIT_LIBS)
	$(Q)$(CC) $(ALL_CFLAGS) $< $(UNIT_HELP) -o $@ \
	  $(ALL_LDFLAGS) $(UNIT_LIBS) $(call PKG,--libs,check) -Wl,--as-needed $(call PKG,--libs,pmix jansson hwloc) -ldl -lm

# They let some of their allocations fail, so they are linked like unit tests.
FAILING := $(B)/tests/hard/allocations/work $(B)/tests/hard/members/meet $(B)/tests/hard/together/call
$(B)/tests/hard/allocations/work: $(wildcard tests/hard/allocations/*.[ch])
$(B)/tests/hard/members/meet: $(wildcard tests/hard/members/*.[ch])
$(B)/tests/hard/together/call: $(wildcard tests/hard/together/*.[ch])
$(FAILING): $(B)/lib/libmpi_abi.a tests/tests.mk
	@mkdir -p $(@D)
	$(call say,TEST,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -D_GNU_SOURCE $(filter %.c,$^) -o $@ \
	  $(ALL_LDFLAGS) $(B)/lib/libmpi_abi.a -Wl,--as-needed $(call PKG,--libs,jansson) -ldl -lm

# Attacks in C see what unit tests see.
$(B)/tests/hard/%: tests/hard/%.c $(UNIT_LIBS) tests/tests.mk
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit $(call PKG,--cflags,check) $(ALL_CFLAGS) -MMD -MP -MF $@.d -MT $@ $< -o $@ \
	  $(ALL_LDFLAGS) $(UNIT_LIBS) $(call PKG,--libs,check) -Wl,--as-needed $(call PKG,--libs,pmix jansson hwloc) -ldl -lm

# MPI programs see what a user's program sees: mpicc and the installed headers.
MPI_BUILT = $(B)/bin/mpicc $(LIBMPI) $(B)/lib/libmpi_abi.so $(HEADERS)
$(B)/tests/mpi/%: tests/mpi/%.c $(MPI_BUILT) tests/tests.mk
	@mkdir -p $(@D)
	$(call say,MPICC,$<)
	$(Q)$(B)/bin/mpicc $(CSTD) $(WARN) $(OPT.$(MODE)) -UNDEBUG -D_GNU_SOURCE -Itests/mpi -pthread -MMD -MP -MF $@.d -MT $@ $< -o $@ $(CFLAGS) -lm

define launched_program
	@mkdir -p $(@D)
	$(call say,MPICC,$(@:$(B)/%=%.c))
	$(Q)$(B)/bin/mpicc $(CSTD) $(WARN) $(OPT.$(MODE)) -UNDEBUG -D_GNU_SOURCE -pthread -MMD -MP -MF $@.d -MT $@ $(@:$(B)/%=%.c) -o $@ $(CFLAGS) -lm
endef
$(B)/tests/faults/%: tests/tests.mk $(MPI_BUILT)
	$(launched_program)
$(B)/tests/hosts/%: tests/tests.mk $(MPI_BUILT)
	$(launched_program)

$(call programs,$(FAULT_SRC)): $(B)/%: %.c

# A Fortran test NAME may have parts: NAME_*.f90, NAME_*.f and NAME_*.c, linked with it.
FORT_TESTS := $(call only,$(filter-out $(foreach t,$(wildcard tests/fortran/*.f90),$(wildcard $(t:.f90=_part*))),$(wildcard tests/fortran/*.f90 tests/fortran/*.f)))
FORT_BUILT  = $(LIBFORT) $(B)/lib/libmpifort_abi.so $(B)/include/mpif.h tests/fortran/expect.inc
# Warnings have names of their own with each compiler.
GFORTRAN  := $(if $(HAVE_FC),$(findstring GNU,$(shell $(FC) --version 2>/dev/null)))
FORT_WARN := $(if $(GFORTRAN),-Wall -Wno-unused-dummy-argument)
define fort_test
	@mkdir -p $(@D)
	$(call say,FC,$<)
	$(Q)for c in $(filter %.c,$^); do $(B)/bin/mpicc $(CSTD) $(WARN) -g -c $$c -o $(@D)/$$(basename $$c).o || exit 1; done
	$(Q)$(B)/bin/mpifort -g -O1 $(FORT_WARN) $(FORT_STD) -Itests/fortran -I$(@D) -J$(@D) $(filter %_part.f90,$^) $(filter %_part.f,$^) $< \
	  $(addprefix $(@D)/,$(addsuffix .o,$(notdir $(filter %.c,$^)))) -o $@
endef
$(B)/tests/fortran/%: tests/fortran/%.f90 $(MPI_BUILT) $(FORT_BUILT) tests/tests.mk
	$(fort_test)
$(B)/tests/fortran/%: tests/fortran/%.f $(MPI_BUILT) $(FORT_BUILT) tests/tests.mk
	$(fort_test)
$(B)/tests/fortran/handles: $(wildcard tests/fortran/handles_part*)
$(B)/tests/fortran/languages: $(wildcard tests/fortran/languages_part*)
$(B)/tests/fortran/attributes: $(wildcard tests/fortran/attributes_part*)
$(B)/tests/fortran/compiler: $(wildcard tests/fortran/compiler_part*)
$(B)/tests/fortran/expressions: $(wildcard tests/fortran/expressions_part*)
$(B)/tests/fortran/memory: $(wildcard tests/fortran/memory_part*)
$(B)/tests/fortran/reused: $(wildcard tests/fortran/reused_part*)
$(B)/tests/fortran/standard: $(wildcard tests/fortran/standard_part*)
$(B)/tests/fortran/steps: $(wildcard tests/fortran/steps_part*)
$(B)/tests/fortran/objects: $(wildcard tests/fortran/objects_part*)
$(B)/tests/fortran/modules: $(wildcard tests/fortran/modules_part*)
$(B)/tests/fortran/profiling: $(wildcard tests/fortran/profiling_part*)
$(B)/tests/fortran/standard: FORT_STD := -std=f2018
$(B)/tests/fortran/profiling: FORT_STD := $(if $(GFORTRAN),-Wno-c-binding-type)
$(B)/tests/fortran/threads: FORT_STD := -fopenmp
$(B)/tests/fortran/movement: FORT_STD := -O3
$(B)/tests/fortran/actuals: FORT_STD := $(if $(GFORTRAN),-Wno-maybe-uninitialized)
$(addprefix $(B)/tests/fortran/,sections_all sections_large absent): %: %.inc
$(B)/tests/fortran/absent.inc: tests/fortran/absent.py api/fortran/procedures.txt api/fortran/table.py
	@mkdir -p $(@D)
	$(Q)python3 -B $(wordlist 1,2,$^) $@
$(B)/tests/fortran/sections_%.inc: tests/fortran/sections_all.py api/fortran/procedures.txt
	@mkdir -p $(@D)
	$(Q)python3 $^ $@ $*

# Dependency files are made beside their programs; the rule above would take them for programs.
$(B)/tests/faults/%.d $(B)/tests/hosts/%.d $(B)/tests/hard/%.d $(B)/tests/fuzz/%.d: ;
-include $(wildcard $(B)/tests/*/*.d $(B)/tests/*/*/*.d)

# --- the parts -------------------------------------------------------------------------------------------------
.PHONY: check-warnings check-headers check-abi check-symbols check-status
check-warnings: deps-tests
	$(Q)CC='$(CC)' $(RUN) --jobs 1 'tests/abi/check_warnings - $(B)' 'tests/abi/check_warnings clang'
check-headers: deps-tests
	$(Q)CC='$(CC)' CXX='$(CXX)' $(RUN) tests/abi/check_headers tests/abi/check_sentinels tests/abi/check_config tests/abi/check_docs
check-abi: deps-tests all
	$(Q)CC='$(CC)' $(RUN) tests/abi/check_abi $(wildcard tests/abi/check_pmpi tests/abi/check_interposition) 'tests/abi/check_fortran $(B)'
check-symbols: deps-tests all
	$(Q)$(RUN) 'tests/abi/check_symbols $(LIBMPI)' tests/abi/check_hardening
check-status: deps-tests
	$(Q)$(RUN) $(wildcard tests/abi/status_check)

# The rules of the source itself. rooms.txt: which room may use which others; limits.txt: the bound of each figure.
.PHONY: check-house check-layers check-names check-english check-format check-allocations
check-house: check-layers check-names check-english check-format check-allocations
check-allocations: deps-tests
	$(Q)$(RUN) tests/house/check_allocations
check-layers: deps-tests all
	$(Q)$(RUN) 'tests/house/check_layers $(B) .'
check-names check-english check-format: check-%: deps-tests
	$(Q)$(RUN) 'tests/house/check_$* .'

.PHONY: check-unit check-mpi check-ucx check-valgrind check-fortran check-fortran-alone
check-fortran: deps-tests all fortran $(if $(HAVE_FC),$(patsubst %.f,$(B)/%,$(patsubst %.f90,$(B)/%,$(FORT_TESTS))))
	$(Q)$(if $(HAVE_FC),$(MPIRUN) $(FORT_TESTS),echo 'fortran: 0 passed, 0 failed, 1 skipped')
# The same as above an ABI library that has nothing of mpi-ext.h.
check-fortran-alone: deps-tests all fortran $(if $(HAVE_FC),$(FORT_ALONE) $(patsubst %.f,$(B)/%,$(patsubst %.f90,$(B)/%,$(FORT_TESTS))))
	$(Q)$(if $(HAVE_FC),LD_LIBRARY_PATH=$(abspath $(FORT)/alone) $(MPIRUN) $(FORT_TESTS),echo 'fortran-alone: 0 passed, 0 failed, 1 skipped')
check-unit: deps-tests all $(call programs,$(UNIT_SRC))
	$(Q)$(RUN) $(UNIT_SRC)
check-mpi: deps-tests all $(call programs,$(MPI_TESTS))
	$(Q)$(MPIRUN) $(MPI_TESTS)
check-ucx: RANKS = 1,2,3,7,16
check-ucx: deps-tests all $(call programs,$(MPI_TESTS))
	$(Q)PLENUM_TRANSPORT=ucx $(MPIRUN) $(MPI_TESTS)
# Models of many cores and many ranks: one thread after the other, each for minutes under valgrind or ThreadSanitizer.
# AddressSanitizer runs those that count no loads and stores.
MODELS := $(patsubst %,tests/unit/test_%.c,area_lines area_tree collectives hierarchy hierarchy_model hierarchy_pairs)
# Without UCX, which does not free some memory before the process ends.
check-valgrind: deps-tests all $(call programs,$(UNIT_SRC))
	$(Q)$(RUN) --slow 10 --wrap 'valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite' \
	  $(filter-out tests/unit/test_ucx%.c $(MODELS),$(UNIT_SRC))

# The code for any processor, on this one.
.PHONY: check-portable
check-portable: deps-tests
	$(Q)$(MAKE) MODE=portable B=$(B)-portable RUN_NAME=portable check-unit

# The sanitizers: a build for each, the unit tests, the MPI programs with few ranks, and pools of processes that attach.
# asan: the sanitizer of undefined behavior is in the same build.
.PHONY: check-asan check-tsan check-sanitized
check-asan check-tsan: check-%: deps-tests
	$(Q)$(MAKE) MODE=$* B=$(B)-$* RUN_NAME=$* RANKS=3 SLOW=4 check-sanitized
export TSAN_OPTIONS  ?= suppressions=$(CURDIR)/tests/tsan.supp
export LSAN_OPTIONS  ?= suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0
# The slow unwinder attributes leaks to the code that lost them, also through libraries without frame pointers.
export ASAN_OPTIONS  ?= detect_stack_use_after_return=1:fast_unwind_on_malloc=0
export UBSAN_OPTIONS ?= print_stacktrace=1
# The mmap() that UCX patches into processes crashes the thread sanitizer.
# The shared memory of PMIx 5 wants addresses that are the thread sanitizer's. UCX 1.18 has a thread that opens descriptors
# and is not joined, for a file system of its figures.
# The embedder's threads, and what it closes and forks meanwhile.
SANITIZED_PARTS := threads close fork close_waited stop stop_polled close_job storm forked
SANITIZED_UNIT = $(filter-out $(if $(filter tsan,$(MODE)),$(MODELS)),$(UNIT_SRC))
.PHONY: built-asan built-tsan built-sanitized
built-asan built-tsan: built-%:
	$(Q)$(MAKE) MODE=$* B=$(B)-$* built-sanitized
built-sanitized: all $(call programs,$(SANITIZED_UNIT) $(MPI_TESTS) tests/hosts/attach.c)
check-sanitized: built-sanitized
	$(Q)failed=0; $(if $(filter tsan,$(MODE)),export PMIX_MCA_gds=hash UCX_VFS_ENABLE=n; )\
	$(RUN) $(SANITIZED_UNIT) || failed=1; \
	$(MPIRUN) $(MPI_TESTS) || failed=1; \
	HOST_CFLAGS='$(SAN.$(MODE))' PARTS='$(SANITIZED_PARTS)' \
	  $(RUN) $(call only,tests/faults/test_runtime tests/faults/test_runtime_null) || failed=1; \
	HOST_CFLAGS='$(SAN.$(MODE))' CYCLES=10 UCX_MEM_MMAP_HOOK_MODE=none \
	  $(RUN) $(call only,tests/faults/test_attach tests/hosts/test_attach_hosts) || failed=1; \
	exit $$failed

# Everything works with and without each fast path: each is forced on, and forced off. A comma joins the settings of a
# pair; PATHS="A=1 B=2,C=3" chooses others. (A few tests rely on eager short messages: SHM_EAGER=0 would block them.)
PATHS       ?= COLL_SHM=0,SHM_RNDV=cma COLL_SHM=0,SHM_EAGER=64,SHM_RING=4096,SHM_RNDV=copy SHM_EAGER=1048576,SHM_RING=4194304 \
               TRANSPORT=ucx,UCX_EAGER=64 PROGRESS=thread TRANSPORT=ucx,UCX_RMA=1,PROGRESS=thread
# The long counts of huge.c run here on the one path for long data that is not a default.
PATHS_ALL   := $(call only,$(wildcard $(patsubst %,tests/mpi/%/*.c,pt2pt coll datatype partitioned request rma)))
PATHS_HUGE  := $(filter %/huge.c,$(PATHS_ALL))
PATHS_TESTS := $(filter-out $(PATHS_HUGE),$(PATHS_ALL))
.PHONY: check-paths
check-paths: deps-tests all $(call programs,$(PATHS_ALL))
	$(Q)failed=0; \
	PLENUM_SHM_RNDV=copy $(RUN) --name SHM_RNDV=copy --mpiexec $(B)/bin/mpiexec --ranks 3 $(PATHS_HUGE) || failed=1; \
	for path in $(PATHS); do \
	  env $$(echo PLENUM_$$path | sed 's/,/ PLENUM_/g') $(RUN) --name $$path --mpiexec $(B)/bin/mpiexec --ranks 3 $(PATHS_TESTS) || failed=1; \
	done; exit $$failed

# No collective and no window depends on buffering: every message needs its receive posted. tests/unit/test_coll_inter.c and
# test_collectives.c check the same without running processes.
.PHONY: check-rendezvous
RNDV_TESTS := $(call only,$(wildcard tests/mpi/coll/*.c tests/mpi/rma/*.c))
check-rendezvous: deps-tests all $(call programs,$(RNDV_TESTS))
	$(Q)failed=0; for path in 'SHM_EAGER=0 PLENUM_COLL_SHM=0' 'TRANSPORT=ucx PLENUM_UCX_EAGER=0 PLENUM_COLL_SHM=0'; do \
	  env PLENUM_$$path $(RUN) --name rendezvous --mpiexec $(B)/bin/mpiexec --ranks 2,5,9 $(RNDV_TESTS) || failed=1; \
	done; exit $$failed

# Collectives along the tree of the ranks' places, which are given: with few ranks, and with more than can meet each other.
.PHONY: check-places
check-places: deps-tests all $(call programs,$(wildcard tests/mpi/coll/*.c))
	$(Q)failed=0; export PLENUM_COLL_PLACES; for PLENUM_COLL_PLACES in 2x2 3x1; do \
	  $(RUN) --name places --mpiexec $(B)/bin/mpiexec --ranks 3,7,16 $(call only,$(wildcard tests/mpi/coll/*.c)) || failed=1; \
	done; for PLENUM_COLL_PLACES in auto 2x3; do \
	  $(RUN) --name places --jobs 1 --mpiexec $(B)/bin/mpiexec --ranks 70 tests/mpi/coll/places.c || failed=1; \
	done; exit $$failed

# What a short message and a short collective cost, in instructions, not in time.
.PHONY: check-instructions instructions-show instructions-write
check-instructions: deps-tests all $(B)/tests/instructions/steps
	$(Q)$(RUN) tests/instructions/check_instructions
instructions-show instructions-write: instructions-%: deps-tests all $(B)/tests/instructions/steps
	$(Q)tests/instructions/check_instructions $(B) --$*
$(B)/tests/instructions/steps: tests/instructions/steps.c $(MPI_BUILT)
	@mkdir -p $(@D)
	$(call say,MPICC,$<)
	$(Q)$(B)/bin/mpicc $(CSTD) $(WARN) -O2 -g -D_GNU_SOURCE $< -o $@
# What a call takes in Fortran beyond C; no program without a Fortran compiler.
.PHONY: check-interfaces interfaces-write
INTERFACES := $(if $(HAVE_FC),$(B)/tests/instructions/interfaces)
check-interfaces: deps-tests all fortran $(INTERFACES)
	$(Q)$(RUN) tests/instructions/check_interfaces
interfaces-write: deps-tests all fortran $(INTERFACES)
	$(Q)tests/instructions/check_interfaces $(B) --write
$(B)/tests/instructions/interfaces: tests/instructions/interfaces.c tests/instructions/interfaces.f90 $(MPI_BUILT) $(FORT_BUILT)
	@mkdir -p $(@D)
	$(call say,FC,$@)
	$(Q)$(B)/bin/mpicc $(CSTD) $(WARN) -O2 -g -c $< -o $@.o
	$(Q)$(B)/bin/mpifort -O2 -g -J$(@D) tests/instructions/interfaces.f90 $@.o -o $@

.PHONY: check-faults check-hosts check-install check-private check-demo check-examples
check-faults: deps-tests all $(call programs,$(filter tests/faults/%,$(FAULT_SRC)))
	$(Q)$(RUN) $(call scripts,tests/faults/test_*)
HOSTS_COLL = $(patsubst %,tests/mpi/coll/%.c,nodes late late_started short long overlapping persistent threads errors varied unequal unequal_pairs)
HOSTS_ASK  = tests/mpi/session/pset_publish.c tests/mpi/session/pset_threads.c tests/mpi/dynamic/spawn.c
check-hosts: deps-tests all $(call programs,$(filter tests/hosts/%,$(FAULT_SRC)) tests/faults/missed.c tests/mpi/topology/cart.c $(wildcard tests/mpi/rma/*.c tests/mpi/files/*.c) $(HOSTS_COLL) $(HOSTS_ASK))
	$(Q)$(RUN) --jobs 1 $(call scripts,tests/hosts/test_*)
check-install: deps-tests all
	$(Q)$(RUN) $(call scripts,tests/install/test_*)
# Libraries with an MPI of their own; CYCLES=1000 for the long form, with ROWS=cycles without all the rest.
check-private: deps-tests all
	$(Q)CYCLES=$(or $(CYCLES),50) ROWS=$(ROWS) $(RUN) --jobs 1 --slow $(if $(CYCLES),20,$(SLOW)) $(call scripts,tests/private/test_*)
check-demo: deps-tests all demo-programs
	$(Q)$(RUN) $(call scripts,tests/demo/test_*)
check-examples: deps-tests all
	$(Q)$(RUN) $(call scripts,python-examples/test_*)

# The attacks: the sample of `make check`, always the same, and the long form, other in each run unless SEED says which.
# HARD=rounds overrides the numbers of rounds that the attacks name.
HARD ?=
SEED ?=
.PHONY: check-hard check-hard-sample
check-hard: deps-tests all $(call programs,$(HARD_SRC) tests/hosts/ring.c tests/hosts/questions.c) $(FAILING)
	$(Q)$(RUN) --rounds $(or $(HARD),long) --seed $(or $(SEED),$(shell date +%s)) $(call scripts,tests/hard/*) $(HARD_SRC)
check-hard-sample: deps-tests all $(call programs,$(HARD_SRC) tests/hosts/ring.c tests/hosts/questions.c) $(FAILING)
	$(Q)$(RUN) --rounds $(or $(HARD),sample) --seed $(or $(SEED),1) $(call scripts,tests/hard/*) $(HARD_SRC)

# Fuzzing: a build by clang with libFuzzer and the sanitizers. The sample gives each parser the same inputs every time;
# `make fuzz` goes on from what earlier runs have found, in $(B)-fuzz/corpus. Both print how many inputs there were.
FUZZ_CC  ?= $(or $(shell command -v clang),$(shell command -v clang-14),clang)
FUZZ_NOT  = $(if $(call PKG,--libs,libdw),,tests/fuzz/symbolizer.c)
FUZZ_SRC  = $(call only,$(filter-out tests/fuzz/fuzz%.c $(FUZZ_NOT),$(wildcard tests/fuzz/*.c)))
SECONDS  ?= 60
SAMPLE_INPUTS ?= 1000
.PHONY: fuzz check-fuzz fuzz-built
fuzz: deps-tests
	$(Q)tests/fuzz/run --can '$(FUZZ_CC)' || exit 0; \
	  $(MAKE) MODE=fuzz CC='$(FUZZ_CC)' B=$(B)-fuzz fuzz-built && \
	  tests/fuzz/run --build $(B)-fuzz --jobs $(JOBS) --seconds $(SECONDS) --seed $(or $(SEED),$(shell date +%s)) --keep $(FUZZ_SRC)
check-fuzz: deps-tests
	$(Q)tests/fuzz/run --can '$(FUZZ_CC)' || exit 0; \
	  $(MAKE) MODE=fuzz CC='$(FUZZ_CC)' B=$(B)-fuzz fuzz-built && \
	  tests/fuzz/run --build $(B)-fuzz --jobs $(JOBS) --inputs $(SAMPLE_INPUTS) --seed $(or $(SEED),1) $(FUZZ_SRC)
fuzz-built: $(call programs,$(FUZZ_SRC))
$(B)/tests/fuzz/%: tests/fuzz/%.c $(UNIT_LIBS) tests/tests.mk
	@mkdir -p $(@D)
	$(call say,FUZZ,$<)
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit $(call PKG,--cflags,check pmix ucx jansson libdw) $(ALL_CFLAGS) -MMD -MP -MF $@.d -MT $@ $< -o $@ \
	  -fsanitize=fuzzer,address,undefined -pthread $(UNIT_LIBS) $(call PKG,--libs,check) -Wl,--as-needed $(call PKG,--libs,pmix jansson hwloc ucx libdw) -ldl -lm

# --- everything ------------------------------------------------------------------------------------------------
# The builds with sanitizers go on beside parts that run one test at a time.
CHECK_PARTS = $(addprefix check-,warnings headers house abi symbols status unit portable mpi ucx fortran fortran-alone paths rendezvous places instructions interfaces demo install examples faults) \
  +built-asan +built-tsan $(addprefix check-,private hosts hard-sample fuzz asan tsan valgrind)
.PHONY: check
check: deps-tests
	$(Q)MAKEFLAGS= tests/run_all $(MAKE) $(CHECK_PARTS)

# --- the demo --------------------------------------------------------------------------------------------------
MATRIX ?=
DEMO_SRC := $(wildcard tests/demo/*.c)

.PHONY: demo demo-programs
demo: all demo-programs $(if $(MATRIX),,$(B)/demo/sample.mtx)
	$(Q)$(B)/bin/mpiexec -n $(NP) $(B)/demo/solve $(or $(MATRIX),$(B)/demo/sample.mtx)
demo-programs: $(if $(DEMO_SRC),$(B)/demo/solve $(B)/demo/sample)

$(B)/demo/solve: $(filter-out tests/demo/sample.c,$(DEMO_SRC)) $(wildcard tests/demo/*.h) $(MPI_BUILT)
	@mkdir -p $(@D)
	$(call say,MPICC,$@)
	$(Q)$(B)/bin/mpicc $(CSTD) $(WARN) $(OPT.$(MODE)) $(filter %.c,$^) -o $@ -lm
$(B)/demo/sample: tests/demo/sample.c | deps-check
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CSTD) $(WARN) $(OPT.$(MODE)) $< -o $@ -lm
$(B)/demo/sample.mtx: $(B)/demo/sample
	$(Q)$< $@

# --- side by side with other MPIs ------------------------------------------------------------------------------
BENCH ?=
.PHONY: bench bench-docs
bench: deps-tests all
	$(Q)python3 -B tests/bench/run.py --plenum $(B)/bin --work $(B)/bench --json $(B)/bench/figures.json --svg $(B)/bench $(BENCH)
# What the Fortran interfaces cost beside C.
# The same over emulated hosts: pairs and collectives.
.PHONY: bench-network
bench-network: deps-tests all
	$(Q)mkdir -p $(B)/bench && python3 -B tests/bench/network.py --plenum $(B)/bin --work $(B)/bench --json $(B)/bench/network.json $(BENCH)

.PHONY: bench-fortran
bench-fortran: all
	$(Q)mkdir -p $(B)/bench && $(B)/bin/mpicc -O2 $(FORT_CPP) -c tests/bench/interfaces.c -o $(B)/bench/interfaces.o
	$(Q)$(B)/bin/mpifort -O2 -J$(B)/bench tests/bench/interfaces.f90 $(B)/bench/interfaces.o -o $(B)/bench/interfaces
	$(Q)$(B)/bin/mpiexec -n 2 --bind-to core $(B)/bench/interfaces
	$(Q)$(B)/bin/mpiexec -n 1 --bind-to core $(B)/bench/interfaces

# The table and the plots of docs/PERFORMANCE.md, from the last `make bench`.
bench-docs:
	$(Q)python3 -B tests/bench/run.py --from $(B)/bench/figures.json --svg docs/plots --document docs/PERFORMANCE.md

# Sessions in threads beside sessions in processes: docs/sessions.md.
.PHONY: bench-isolation
bench-isolation: all
	$(Q)mkdir -p $(B)/bench && $(B)/bin/mpicc -O2 -pthread tests/bench/isolation.c -o $(B)/bench/isolation
	$(Q)$(B)/bin/mpiexec -n 1 $(B)/bench/isolation 2
	$(Q)$(B)/bin/mpiexec -n 2 $(B)/bench/isolation 1
	$(Q)$(B)/bin/mpiexec -n 1 $(B)/bench/isolation 1 multiple
	$(Q)$(B)/bin/mpiexec -n 1 $(B)/bench/isolation 1 multiple blocked

# The node transport by itself beside what the machine can do: docs/SHM.md.
.PHONY: bench-shm
bench-shm: $(B)/tests/bench/bench_shm
	$(Q)$<
	$(Q)$< 10 one
# How many jobs a second the runtime launches: docs/RUNTIME.md.
.PHONY: bench-launch
bench-launch: all $(B)/tests/bench/launch $(B)/tests/bench/start
	$(Q)$(B)/tests/bench/launch $(B)/tests/bench/start
# The same over four emulated hosts; SOAK=jobs launches as many instead, and shows descriptors and memory.
SOAK ?=
.PHONY: bench-hosts
bench-hosts: all $(B)/tests/bench/launch_hosts $(B)/tests/bench/start
	$(Q)tests/bench/over_hosts $(B) $(if $(SOAK),soak $(SOAK))
$(B)/tests/bench/launch $(B)/tests/bench/launch_hosts: $(B)/tests/bench/%: tests/bench/%.c $(LIBRT) $(B)/lib/libplenum.so
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $< -o $@ -L$(B)/lib -lplenum -Wl,-rpath,$(abspath $(B)/lib) $(ALL_LDFLAGS)
$(B)/tests/bench/start: tests/bench/start.c $(MPI_BUILT)
	@mkdir -p $(@D)
	$(call say,MPICC,$<)
	$(Q)$(B)/bin/mpicc $(CSTD) $(WARN) $(OPT.$(MODE)) $< -o $@
$(B)/tests/bench/bench_shm: tests/bench/bench_shm.c $(B)/lib/libmpi_abi.a
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $^ -o $@ $(ALL_LDFLAGS) $(call PKG,--libs,jansson) -ldl -lm
