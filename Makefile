# SPDX-License-Identifier: BSD-3-Clause
# Plenum: the one build file. `make help` lists what it can do.

B       ?= build
CC      ?= cc
CXX     ?= c++
OBJCOPY ?= objcopy
ifeq ($(origin FC),default)
FC      := gfortran
endif
PREFIX  ?= /usr/local
V       ?= 0
MODE    ?= release

VERSION  := $(shell sed -n 's/^.define PL_VERSION "\(.*\)"/\1/p' core/base/version.h)
CSTD     := -std=gnu11
WARN     := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla
OPT.release := -O3 -g -DNDEBUG
OPT.debug   := -O1 -g
# What other processors get: no code for x86-64 alone, and char without a sign.
OPT.portable := $(OPT.release) -DPL_PORTABLE -funsigned-char
OPT.asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPT.fuzz    := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPT.tsan    := -O1 -g -fsanitize=thread
CFLAGS   ?=
LDFLAGS  ?=
CPPFLAGS += -I. -Iapi -D_GNU_SOURCE
ALL_CFLAGS := $(CSTD) $(WARN) $(OPT.$(MODE)) -fPIC -fvisibility=hidden -pthread $(CFLAGS)
SAN.asan := -fsanitize=address,undefined
SAN.tsan := -fsanitize=thread
ALL_LDFLAGS := $(SAN.$(MODE)) -pthread $(LDFLAGS)

# What is built is hardened; tests are not. The rooms of the counted fast paths have canaries only in functions with arrays
# of characters, which adds no instruction to those paths (make check-instructions); all others where an address is taken.
# CET: Linux has shadow stacks for programs (=return), but no check of indirect branches, which would cost instructions.
# The compiler is asked once, and not before it is installed.
HARDEN.release = $(eval HARDEN.release := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 \
  $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),-fcf-protection=return))$(HARDEN.release)
HARDEN.debug   = $(HARDEN.release)
HARDEN.portable = $(HARDEN.release)
HARDEN     = $(HARDEN.$(MODE))
PROTECT    := -fstack-protector-strong
PROTECT_FAST := -fstack-protector --param=ssp-buffer-size=1
HARDEN_LD  := -Wl,-z,relro,-z,now,-z,noexecstack

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(Q),@printf '  %-6s %s\n' '$(1)' '$(2)')

# --- what is built ---------------------------------------------------------------------------------------------
MPI_SRC     := $(wildcard api/*.c core/*.c core/*/*.c core/*/*/*.c sessions/*.c sessions/*/*.c world/*.c plugins/self/*.c plugins/shm/*.c \
                          plugins/inherited/*.c plugins/attached/*.c plugins/pmi/*.c plugins/singleton/*.c plugins/psets/*.c plugins/errhandlers/*.c)
RUNTIME_SRC := $(wildcard world/runtime/*.c world/runtime/*/*.c)
# UCX does not exist for s390x: a job is on one host there.
UCX         := $(if $(filter s390x%,$(or $(shell $(CC) -dumpmachine 2>/dev/null),$(shell uname -m))),,ucx)
PLUGINS     := $(UCX) pmix hwloc
PLUGIN_SRC  := plugins/memory.c $(foreach p,$(PLUGINS),$(wildcard plugins/$(p)/*.c))
MPIEXEC_SRC := $(wildcard api/mpiexec/*.c)
INFO_SRC    := $(wildcard api/plenum-info/*.c)
AGENT_SRC   := $(wildcard api/plenum-agent/*.c)
ALL_SRC     := $(MPI_SRC) $(RUNTIME_SRC) $(PLUGIN_SRC) $(MPIEXEC_SRC) $(INFO_SRC) $(AGENT_SRC)
objs = $(patsubst %.c,$(B)/obj/%.o,$(1))

BUILT_PLUGINS := $(foreach p,$(PLUGINS),$(if $(wildcard plugins/$(p)/*.c),$(B)/lib/plenum/$(p).so))
SYMBOLIZER := $(B)/lib/plenum/symbolizer
AGENT := $(B)/lib/plenum/plenum-agent
TOOLS   := $(if $(MPIEXEC_SRC),$(B)/bin/mpiexec $(B)/bin/mpirun) $(if $(INFO_SRC),$(B)/bin/plenum-info)
WRAPPERS := $(addprefix $(B)/bin/,mpicc mpicc_abi mpicxx mpicxx_abi mpic++ mpiCC mpifort mpifort_abi mpif90 mpif77)
PKGCONFIG_MADE := $(patsubst %,$(B)/lib/pkgconfig/%.pc,plenum plenum-mpi $(if $(shell command -v $(FC) 2>/dev/null),plenum-fortran)) \
                  $(patsubst %,$(B)/lib/plenum/pkgconfig/%.pc,ompi-c ompi-cxx ompi-fort mpich)
PKGCONFIG := $(PKGCONFIG_MADE) $(B)/lib/pkgconfig/plenum-private.pc $(B)/lib/cmake/Plenum/PlenumConfig.cmake
HEADERS := $(patsubst api/%,$(B)/include/%,$(wildcard api/mpi.h api/mpi-ext.h api/mpi-removed.h api/plenum.h api/plenum-errhandler.h api/plenum-pset.h)) $(B)/include/mpi-private.h

LIBMPI  := $(B)/lib/libmpi_abi.so.1
PRIVATE := $(B)/obj/private
PRIVATE_LIBS := $(addprefix $(B)/lib/libplenum_private.,so.1 so a)
LIBRT   := $(if $(RUNTIME_SRC),$(B)/lib/libplenum.so.1)

PKG = $(shell pkg-config $(1) $(2) 2>/dev/null)

.PHONY: all
all: deps-check $(LIBMPI) $(B)/lib/libmpi_abi.so $(B)/lib/libmpi.so $(B)/lib/libmpi_abi.a $(PRIVATE_LIBS) $(LIBRT) $(if $(LIBRT),$(B)/lib/libplenum.so) $(BUILT_PLUGINS) $(SYMBOLIZER) $(AGENT) $(TOOLS) $(WRAPPERS) $(HEADERS) $(PKGCONFIG) fortran man

.DELETE_ON_ERROR:
.SECONDARY:

# In the library MPI_Aint is as long as MPI_Count, an atomic word as long as an address, and rings and windows take more
# addresses than 32 bits have.
MACHINE_CHECK = { [ "$$($(CC) $(ALL_CFLAGS) -dM -E -x c /dev/null | grep -c ' __SIZEOF_POINTER__ [1-7]$$')" = 0 ] || \
  { echo 'Plenum needs a 64-bit machine, and $(CC) compiles for one of 32 bits' >&2; false; }; }

# A change of flags rebuilds everything, except of one that changes no object.
FLAGS_NOW = $(CC) $(filter-out -Werror,$(ALL_CFLAGS)) $(HARDEN) $(PROTECT) $(PROTECT_FAST) $(CPPFLAGS) $(HARDEN_LD) $(ALL_LDFLAGS)
$(B)/flags: FORCE | deps-check
	@mkdir -p $(@D); echo '$(FLAGS_NOW)' | cmp -s - $@ || { $(MACHINE_CHECK) && echo '$(FLAGS_NOW)' >$@; }
.PHONY: FORCE
FORCE:

$(B)/obj/world/runtime/%.o $(B)/obj/plugins/pmix/%.o: EXTRA = $(call PKG,--cflags,pmix jansson)
$(B)/obj/api/plenum-info/main.o: EXTRA = -DPL_BUILD='"$(MODE), $(shell $(CC) --version | head -1), \
  $(shell $(CC) -dumpmachine), $(strip $(subst ",,$(OPT.$(MODE)) $(filter-out -Werror,$(CFLAGS)))); $(foreach p,$(PLUGINS) jansson,$(p) $(call PKG,--modversion,$(p))) libdw $(or $(call PKG,--modversion,libdw),none)"'
$(B)/obj/plugins/ucx/%.o:   EXTRA = $(call PKG,--cflags,ucx)
$(B)/obj/plugins/hwloc/%.o: EXTRA = $(call PKG,--cflags,hwloc)

# A longer pattern takes precedence.
$(patsubst %,$(B)/obj/%/%.o,api core/engine core/coll plugins/self plugins/shm): PROTECT = $(PROTECT_FAST)
$(patsubst %,$(B)/obj/%/%.o,api/mpiexec api/plenum-info api/plenum-agent): PROTECT = -fstack-protector-strong

$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(EXTRA) $(HARDEN) $(PROTECT) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

link_mpi = $(CC) -shared -Wl,-soname,libmpi_abi.so.1 -Wl,-z,defs $(HARDEN_LD) -static-libgcc -o $@ $^ $(ALL_LDFLAGS) $(call PKG,--libs,jansson) -ldl -lm
$(LIBMPI): $(call objs,$(MPI_SRC))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_mpi)

$(B)/lib/libmpi_abi.a: $(call objs,$(MPI_SRC))
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@; ar rcs $@ $^

# The private library (docs/private.md): the same objects, under names that cannot meet those of another MPI. The archive
# has one object, in which the names are hidden: where symbols are merged, the most hidden one of them counts.
$(PRIVATE)/names: $(LIBMPI)
	@mkdir -p $(@D)
	$(Q)nm -D --defined-only $< | sed -n 's/.* [A-Z] //p' | sort >$@

$(PRIVATE)/renamed.o: $(call objs,$(MPI_SRC)) $(PRIVATE)/names
	$(call say,LD,$@)
	$(Q)sed 's/.*/& plenumx_&/' $(PRIVATE)/names >$(PRIVATE)/map
	$(Q)$(LD) -r -o $@ $(call objs,$(MPI_SRC)) && $(OBJCOPY) --redefine-syms=$(PRIVATE)/map --localize-hidden $@

$(PRIVATE)/hidden.o: $(PRIVATE)/names Makefile
	$(Q)sed 's/.*/__asm__(".globl plenumx_&\\n.hidden plenumx_&");/' $< >$(@:.o=.c) && $(CC) $(HARDEN) $(ALL_CFLAGS) -c $(@:.o=.c) -o $@

$(B)/lib/libplenum_private.so.1: $(PRIVATE)/renamed.o
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libplenum_private.so.1 -Wl,-z,defs $(HARDEN_LD) -static-libgcc -o $@ $^ $(ALL_LDFLAGS) $(call PKG,--libs,jansson) -ldl -lm

$(B)/lib/libplenum_private.so: | $(B)/lib/libplenum_private.so.1
	$(Q)ln -sf libplenum_private.so.1 $@

$(B)/lib/libplenum_private.a: $(PRIVATE)/renamed.o $(PRIVATE)/hidden.o
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(PRIVATE)/private.o $^ && rm -f $@ && ar rcs $@ $(PRIVATE)/private.o

$(B)/include/mpi-private.h: $(PRIVATE)/names
	@mkdir -p $(@D)
	$(Q)(echo '/* SPDX-License-Identifier: BSD-3-Clause */'; \
	  echo '/* The names of the functions of mpi.h in the private library: included there with -DPLENUM_PRIVATE. */'; \
	  sed 's/.*/#pragma redefine_extname & plenumx_&/' $<) >$@

# The second name is for link lines and configure scripts that say -lmpi; programs still need libmpi_abi.so.1.
$(B)/lib/libmpi_abi.so $(B)/lib/libmpi.so: | $(LIBMPI)
	$(Q)ln -sf libmpi_abi.so.1 $@

# Allocations that a test can make fail; a plugin asks the library (core/base/memory_plugin.h).
MEMORY_OBJS := $(call objs,core/base/memory.c core/base/memory_libc.c core/base/vec.c)
VISIBLE_OBJ := $(call objs,core/base/visible.c)
PROC_STAT_OBJ := $(call objs,core/base/proc_stat.c)
TABLE_OBJ := $(call objs,core/base/table.c)
PLUGIN_MEMORY := $(call objs,plugins/memory.c core/base/memory_libc.c core/base/vec.c)

RUNTIME_ALL_OBJS := $(call objs,$(RUNTIME_SRC)) $(B)/obj/core/job/segment.o $(B)/obj/core/job/sets.o $(B)/obj/core/base/pset_name.o $(B)/obj/core/base/table.o $(B)/obj/core/base/words.o $(B)/obj/core/base/bytes.o $(B)/obj/core/base/sysfs.o $(PROC_STAT_OBJ) $(VISIBLE_OBJ) $(MEMORY_OBJS) $(B)/obj/core/job/stale_files.o
link_runtime = $(CC) -shared -Wl,-soname,libplenum.so.1 -Wl,-z,defs $(HARDEN_LD) -o $@ $^ $(ALL_LDFLAGS) $(call PKG,--libs,pmix jansson) -ldl
$(LIBRT): $(RUNTIME_ALL_OBJS)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_runtime)

$(B)/lib/libplenum.so: | $(LIBRT)
	$(Q)ln -sf libplenum.so.1 $@

PLUGIN_TOO.hwloc := $(B)/obj/core/base/sysfs.o
PLUGIN_TOO.ucx := $(B)/obj/core/job/stale_files.o $(B)/obj/core/base/boot_id.o $(B)/obj/core/base/table.o
define plugin_rule
$(B)/lib/plenum/$(1).so: $(call objs,$(wildcard plugins/$(1)/*.c)) $(PLUGIN_TOO.$(1)) $(PLUGIN_MEMORY)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) -shared -Wl,-z,defs $$(HARDEN_LD) -o $$@ $$^ $$(ALL_LDFLAGS) $$(call PKG,--libs,$(1)) -ldl
endef
$(foreach p,$(PLUGINS),$(eval $(call plugin_rule,$(p))))

# libdw is optional: without it reports name neither functions nor source lines, and say so.
$(SYMBOLIZER): plugins/symbolizer/symbolizer.c core/base/compiler.h $(B)/flags
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)if pkg-config --exists libdw; then \
	  mkdir -p $(B)/obj/$(<D) && \
	  $(CC) $(CPPFLAGS) $(call PKG,--cflags,libdw) $(HARDEN) $(PROTECT) $(ALL_CFLAGS) -c $< -o $(B)/obj/$(<:.c=.o) && \
	  $(CC) -pie $(HARDEN_LD) -o $@ $(B)/obj/$(<:.c=.o) $(ALL_LDFLAGS) $(call PKG,--libs,libdw); \
	else echo 'Without libdw-dev: reports will not name functions and source lines.'; fi

$(B)/bin/mpiexec: $(call objs,$(MPIEXEC_SRC)) $(VISIBLE_OBJ) $(PROC_STAT_OBJ) $(TABLE_OBJ) $(MEMORY_OBJS) $(LIBRT) | $(B)/lib/libplenum.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pie $(HARDEN_LD) -o $@ $(call objs,$(MPIEXEC_SRC)) $(VISIBLE_OBJ) $(PROC_STAT_OBJ) $(TABLE_OBJ) $(MEMORY_OBJS) -L$(B)/lib -lplenum -Wl,-rpath,'$$ORIGIN/../lib' -Wl,--export-dynamic-symbol='MPIR_*' $(ALL_LDFLAGS)

$(AGENT): $(call objs,$(AGENT_SRC)) $(LIBRT) | $(B)/lib/libplenum.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pie $(HARDEN_LD) -o $@ $(call objs,$(AGENT_SRC)) -L$(B)/lib -lplenum -Wl,-rpath,'$$ORIGIN/..' $(ALL_LDFLAGS)

link_info = $(CC) -pie $(HARDEN_LD) -o $@ $^ $(ALL_LDFLAGS) $(call PKG,--libs,jansson) -ldl -lm
$(B)/bin/plenum-info: $(call objs,$(INFO_SRC)) $(B)/lib/libmpi_abi.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_info)

$(B)/bin/mpirun: | $(B)/bin/mpiexec
	$(Q)ln -sf mpiexec $@

$(WRAPPERS): api/wrappers/mpicc.in core/base/version.h Makefile
	@mkdir -p $(@D)
	$(Q)rm -f $@; sed -e 's|@CC@|$(CC)|g' -e 's|@CXX@|$(CXX)|g' -e 's|@FC@|$(FC)|g' -e 's|@VERSION@|$(VERSION)|g' $< >$@ && chmod +x $@

$(B)/include/%: api/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(B)/lib/pkgconfig/plenum-private.pc: Makefile core/base/version.h
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$${pcfiledir}/../..' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' \
	  'Name: Plenum, private' 'Description: MPI 5.0 for a library, beside any MPI of the program' 'Version: $(VERSION)' \
	  'Requires: jansson' 'Cflags: -DPLENUM_PRIVATE -I$${includedir}' \
	  'Libs: -L$${libdir} -Wl,-rpath,$${libdir} -l:libplenum_private.a -pthread -ldl -lm' >$@

$(B)/lib/cmake/Plenum/PlenumConfig.cmake: api/wrappers/PlenumConfig.cmake
	@mkdir -p $(@D)
	$(Q)cp $< $@

# `plenum` is the runtime, libplenum, and `plenum-mpi` is MPI. Build systems that ask pkg-config for MPI ask for other
# MPIs' names: the files with these names are in a directory of their own, for PKG_CONFIG_PATH.
PKGCONFIG_MPI = 'Name: Plenum MPI' 'Description: MPI 5.0, standard ABI' 'Libs: -L$${libdir} -Wl,-rpath,$${libdir} $(if $(findstring fort,$(@F)),-lmpifort_abi )-lmpi_abi' \
  'Requires.private: jansson' 'Libs.private: -pthread -ldl -lm'
PKGCONFIG_RUNTIME = 'Name: Plenum' 'Description: launches MPI jobs from inside any process (plenum.h)' \
  'Libs: -L$${libdir} -Wl,-rpath,$${libdir} -lplenum'
$(PKGCONFIG_MADE): Makefile core/base/version.h
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$${pcfiledir}/../..$(if $(findstring /plenum/,$@),/..)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' \
	  'Version: $(VERSION)' 'Cflags: -I$${includedir}' $(if $(findstring /plenum.pc,$@),$(PKGCONFIG_RUNTIME),$(PKGCONFIG_MPI)) >$@

# Made from the documents, from what programs say to --help, and from the comments of the public headers.
MAN := $(B)/share/man
.PHONY: man
ifneq ($(shell command -v python3 2>/dev/null),)
man: $(MAN)/made
else
man:
	@echo 'Without python3 there are no man pages: apt-get install python3'
endif
$(MAN)/made: $(wildcard docs/man/*.py) docs/mpiexec.md docs/configuration.md api/plenum.h api/mpi-ext.h $(B)/bin/plenum-info $(B)/bin/mpicc
	$(call say,MAN,$(@D))
	$(Q)rm -rf $(@D) && python3 -B docs/man/pages.py . $(B)/bin $(VERSION) $(@D) && touch $@

-include $(patsubst %.o,%.d,$(call objs,$(ALL_SRC)))
include api/fortran/fortran.mk
include tests/tests.mk

# --- set-up ----------------------------------------------------------------------------------------------------
.PHONY: deps deps-check
deps:
	$(Q)sh tests/deps.sh
deps-check:
	@pkg-config --exists pmix $(UCX) jansson hwloc check 2>/dev/null || UCX=$(UCX) sh tests/deps.sh

# --- installation ----------------------------------------------------------------------------------------------
.PHONY: install
install: all
	$(Q)mkdir -p $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/plenum $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include
	$(Q)cp -P $(TOOLS) $(WRAPPERS) $(DESTDIR)$(PREFIX)/bin/
	$(Q)cp -P $(B)/lib/lib* $(DESTDIR)$(PREFIX)/lib/
	$(Q)cp $(BUILT_PLUGINS) $(DESTDIR)$(PREFIX)/lib/plenum/
	$(Q)[ ! -e $(SYMBOLIZER) ] || cp $(SYMBOLIZER) $(DESTDIR)$(PREFIX)/lib/plenum/
	$(Q)cp $(AGENT) $(DESTDIR)$(PREFIX)/lib/plenum/
	$(Q)cp $(filter $(B)/lib/pkgconfig/%,$(PKGCONFIG)) $(DESTDIR)$(PREFIX)/lib/pkgconfig/
	$(Q)cp -r $(B)/lib/cmake $(DESTDIR)$(PREFIX)/lib/
	$(Q)cp -r $(B)/lib/plenum/pkgconfig $(DESTDIR)$(PREFIX)/lib/plenum/
	$(Q)[ ! -e $(MAN)/made ] || { mkdir -p $(DESTDIR)$(PREFIX)/share/man && cp -RP $(MAN)/man* $(DESTDIR)$(PREFIX)/share/man/; }
	$(Q)cp $(HEADERS) $(if $(HAVE_FC),$(FORT_HEADERS)) $(DESTDIR)$(PREFIX)/include/

# The module, for the python3 in PATH. PYTHONDIR= chooses the directory; without a python3 nothing is installed.
PYTHONDIR ?= $(shell python3 -c 'import os, sysconfig; print("$(PREFIX)/lib/python" + sysconfig.get_python_version() \
  + "/" + os.path.basename(sysconfig.get_path("purelib")))' 2>/dev/null)
.PHONY: install-python
install: install-python
install-python:
	$(Q)$(if $(PYTHONDIR),mkdir -p '$(DESTDIR)$(PYTHONDIR)/plenum' && \
	  cp python-examples/plenum/*.py python-examples/plenum/py.typed '$(DESTDIR)$(PYTHONDIR)/plenum/')

# --- the wheel -------------------------------------------------------------------------------------------------
# A tree as `make install` makes it, with the libraries that ours need and that not every system has. They are found by
# DT_RPATH, which holds for what they need in turn, too. UCX, PMIx's client and hwloc's plugin stay those of the system.
WHEEL_TREE ?= $(B)/wheel/tree
VENDOR_RPATH := -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/plenum/vendor'
$(B)/wheel/%: PKG = $(filter-out -Wl%,$(shell pkg-config $(1) $(2) 2>/dev/null)) # without run paths of this machine
.PHONY: wheel wheel-tree
wheel: wheel-tree
	$(Q)PLENUM_WHEEL_TREE=$(abspath $(WHEEL_TREE)) python3 -B python-examples/wheel_backend.py $(B)/wheel
wheel-tree: all $(B)/wheel/libmpi_abi.so.1 $(B)/wheel/libplenum.so.1 $(B)/wheel/plenum-info
	$(Q)rm -rf $(WHEEL_TREE)
	$(Q)$(MAKE) -s --no-print-directory install PREFIX=$(abspath $(WHEEL_TREE)) DESTDIR= PYTHONDIR=
	$(Q)rm $(WHEEL_TREE)/lib/libmpi_abi.a && mkdir -p $(WHEEL_TREE)/lib/plenum/vendor
	$(Q)cp $(B)/wheel/lib*.so.1 $(WHEEL_TREE)/lib/ && cp $(B)/wheel/plenum-info $(WHEEL_TREE)/bin/
	$(Q)strip -g $(WHEEL_TREE)/lib/*.so.1 $(WHEEL_TREE)/lib/plenum/*.so $(WHEEL_TREE)/bin/mpiexec $(WHEEL_TREE)/bin/plenum-info
	$(Q)ldd $(WHEEL_TREE)/lib/libplenum.so.1 $(WHEEL_TREE)/lib/libmpi_abi.so.1 | sed -n 's|.* => \(/[^ ]*\) .*|\1|p' | sort -u | \
	  grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} $(WHEEL_TREE)/lib/plenum/vendor/
$(B)/wheel/libmpi_abi.so.1: $(call objs,$(MPI_SRC))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_mpi) $(VENDOR_RPATH)
$(B)/wheel/libplenum.so.1: $(RUNTIME_ALL_OBJS)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_runtime) $(VENDOR_RPATH)
$(B)/wheel/plenum-info: $(call objs,$(INFO_SRC)) $(B)/lib/libmpi_abi.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_info) $(subst $$ORIGIN,$$ORIGIN/../lib,$(VENDOR_RPATH))

# --- conveniences ----------------------------------------------------------------------------------------------
.PHONY: clean format tags docs help
clean:
	$(Q)rm -rf build build-*
format:
	$(Q)clang-format -i $(shell git ls-files '*.c' '*.h')
tags:
	$(Q)ctags -R api core sessions world plugins
docs:
	@command -v doxygen >/dev/null || { echo 'make docs needs doxygen, which is not installed (apt-get install doxygen)' >&2; exit 1; }
	$(Q)mkdir -p $(B)/docs
	$(Q)PLENUM_DOCS=$(B)/docs doxygen docs/Doxyfile
	@echo 'The reference is $(B)/docs/html/index.html'
help:
	@echo 'make              build everything into $(B)/, usable in place'
	@echo 'make demo         the main job: a sparse solver on 4 ranks (MATRIX=file.mtx for your own)'
	@echo 'make check        all tests; make check-PART ONLY=text for those of a part whose path contains the text:'
	@echo '                  $(patsubst check-%,%,$(filter check-%,$(CHECK_PARTS)))' | { fmt -w 110 2>/dev/null || cat; }
	@echo 'make check-house  the rules of the source: check-layers, check-names, check-english, check-format for a part;'
	@echo '                  tests/house/check_... --list prints the figures, tests/house/limits.txt has their bounds'
	@echo 'make check-hard   the long form of all attacks: kills, damage and the like; HARD=rounds SEED=n ONLY=name'
	@echo 'make fuzz         libFuzzer on every parser of outside bytes; SECONDS=60 for each, ONLY=name'
	@echo 'make bench        side by side with the other MPIs on this machine; BENCH=--quick'
	@echo 'make install      PREFIX=$(PREFIX) DESTDIR= PYTHONDIR='
	@echo 'make wheel        the Python package with libraries, mpiexec, mpicc and headers, into $(B)/wheel'
	@echo 'make docs         the reference of the public headers, by doxygen, into $(B)/docs/html'
	@echo 'make format tags clean'
	@echo 'Settings: B=directory MODE=release|debug|portable|asan|tsan CC= V=1'
