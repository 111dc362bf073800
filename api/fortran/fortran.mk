# SPDX-License-Identifier: BSD-3-Clause
# The Fortran interfaces: libmpifort_abi, the modules mpi and mpi_f08, mpif.h, and those of the extensions (mpi-ext.h).
# Included by the Makefile; built if there is a Fortran compiler.

FFLAGS ?=
ALL_FFLAGS := $(OPT.$(MODE)) -fPIC $(FFLAGS)
HAVE_FC := $(shell command -v $(FC) 2>/dev/null)

FORT     := $(B)/fortran
LIBFORT  := $(B)/lib/libmpifort_abi.so.1
FORT_C   := $(wildcard api/fortran/*.c)
FORT_GEN := $(FORT)/mpif.h $(FORT)/mpi_constants.f90 $(FORT)/mpi_f08_types.f90 $(FORT)/mpi.f90 $(FORT)/mpi_f08.f90 \
            $(FORT)/mpif-ext.h $(FORT)/mpi_ext.f90 $(FORT)/mpi_f08_ext.f90 $(foreach n,0 1 2 3,$(FORT)/procedures_$(n).c)
FORT_HEADERS := $(foreach f,mpif.h mpif-ext.h mpi_ext.mod mpi_f08_ext.mod mpi.mod mpi_f08.mod mpi_constants.mod mpi_f08_types.mod mpi_callbacks.mod mpi_f08_callbacks.mod,$(B)/include/$(f))
FORT_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(FORT_C)) $(foreach n,0 1 2 3,$(FORT)/procedures_$(n).o) \
            $(foreach m,values mpi_constants mpi_f08_types mpi_callbacks mpi_f08_callbacks mpi mpi_f08 mpi_ext mpi_f08_ext,$(FORT)/$(m).o)

# The descriptors of gfortran are described beside its own headers, which another C compiler does not search.
FORT_CPP := $(addprefix -idirafter ,$(filter /%,$(dir $(shell $(FC) -print-file-name=include/ISO_Fortran_binding.h 2>/dev/null))))
$(B)/obj/api/fortran/%.o: EXTRA = $(FORT_CPP)

.PHONY: fortran
ifneq ($(HAVE_FC),)
fortran: $(LIBFORT) $(B)/lib/libmpifort_abi.so $(B)/include/mpif.h $(B)/include/mpif-ext.h
else
fortran:
	@echo 'Without a Fortran compiler ($(FC)) there are no mpif.h and no modules mpi and mpi_f08: apt-get install gfortran'
endif

# One run writes all; it leaves files that do not change alone, so a stamp stands for them.
FORT_PY := $(addprefix api/fortran/,generate.py table.py declarations.py bodies.py)
$(FORT)/generated: $(FORT_PY) api/fortran/procedures.txt api/mpi.h api/fortran/extensions.txt api/mpi-ext.h
	$(call say,GEN,$(FORT))
	$(Q)python3 -B api/fortran/generate.py $(filter-out %.py,$^) $(FORT) && touch $@
$(FORT_GEN): $(FORT)/generated ;

$(FORT)/procedures_%.o: PROTECT = $(PROTECT_FAST)
$(FORT)/%.o: $(FORT)/%.c $(B)/flags
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(FORT_CPP) $(HARDEN) $(PROTECT) $(ALL_CFLAGS) -fno-plt -MMD -MP -c $< -o $@

define fort_module
	$(call say,FC,$<)
	$(Q)mkdir -p $(B)/include && $(FC) $(ALL_FFLAGS) -J$(B)/include -c $< -o $@
endef
$(FORT)/%.o: $(FORT)/%.f90 $(B)/flags
	$(fort_module)
$(FORT)/%.o: api/fortran/%.f90 $(B)/flags | $(FORT)/generated
	$(fort_module)
$(FORT)/mpi_f08_types.o: $(FORT)/mpi_constants.o
$(FORT)/mpi_callbacks.o: $(FORT)/mpi_constants.o
$(FORT)/mpi_f08_callbacks.o: $(FORT)/mpi_f08_types.o
$(FORT)/mpi.o: $(FORT)/mpi_f08_types.o $(FORT)/mpi_callbacks.o
$(FORT)/mpi_f08.o: $(FORT)/mpi_f08_callbacks.o
$(FORT)/mpi_f08_ext.o: $(FORT)/mpi_f08_types.o

$(LIBFORT): $(FORT_OBJ) $(LIBMPI) | $(B)/lib/libmpi_abi.so
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libmpifort_abi.so.1 -Wl,-z,defs $(HARDEN_LD) -o $@ $(FORT_OBJ) -L$(B)/lib -lmpi_abi -Wl,-rpath,'$$ORIGIN' $(ALL_LDFLAGS)
# For tests: the library as it is above an ABI library that has nothing of mpi-ext.h.
FORT_ALONE := $(FORT)/alone/libmpifort_abi.so.1
$(FORT)/alone/%.o: api/fortran/%.c $(B)/flags
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(FORT_CPP) -DPLF_STANDARD_ALONE $(PROTECT) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
$(FORT_ALONE): $(foreach f,attribute callbacks convert raise failed,$(FORT)/alone/$(f).o) $(LIBFORT)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libmpifort_abi.so.1 -Wl,-z,defs -o $@ $(filter %.o,$^) \
	  $(filter-out %/attribute.o %/callbacks.o %/convert.o %/raise.o %/failed.o,$(FORT_OBJ)) -L$(B)/lib -lmpi_abi -Wl,-rpath,'$$ORIGIN/../../lib' $(ALL_LDFLAGS)
$(B)/lib/libmpifort_abi.so: | $(LIBFORT)
	$(Q)ln -sf libmpifort_abi.so.1 $@
$(B)/include/mpif.h $(B)/include/mpif-ext.h: $(B)/include/%: $(FORT)/%
	$(Q)mkdir -p $(@D) && cp $< $@

-include $(patsubst %.o,%.d,$(filter $(FORT)/procedures% $(B)/obj/%,$(FORT_OBJ))) $(wildcard $(FORT)/alone/*.d)
