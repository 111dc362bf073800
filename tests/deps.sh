#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs missing packages that Plenum needs; quiet and quick if none is missing.
#
#   tests/deps.sh          what the build needs
#   tests/deps.sh tests    that, and what `make check` needs
#   tests/deps.sh peers    that, and other MPIs and launchers to compare with and to start under
set -u

wanted=${1:-build}
missing=

# need PACKAGE COMMAND...: the package is missing unless the command succeeds.
need()
{
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

# compiles_with COMPILER HEADER: the compiler finds the header.
compiles_with()
{
    printf '#include <%s>\n' "$2" | "$1" -E -x c - -o /dev/null
}

need gcc             command -v cc
need make            command -v make
need pkg-config      command -v pkg-config
need libc6-dev       compiles_with cc stdio.h
need libpmix-dev     pkg-config --exists pmix
[ -z "${UCX-ucx}" ] || # the Makefile: UCX does not exist for this kind of machine
    need libucx-dev  pkg-config --exists ucx
need libjansson-dev  pkg-config --exists jansson
need libhwloc-dev    pkg-config --exists hwloc
need libdw-dev       pkg-config --exists libdw
need check           pkg-config --exists check

case $wanted in
build) ;;
tests | peers)
    need g++         command -v c++
    need gfortran    command -v gfortran
    need valgrind    command -v valgrind
    need libc6-dbg   test -d /usr/lib/debug/.build-id
    need python3     command -v python3
    need iproute2    command -v ip
    need util-linux  command -v unshare
    need procps      command -v ps
    need gdb         command -v gdb
    need doxygen     command -v doxygen
    ;;
*)
    echo "deps.sh: unknown set '$wanted' (build, tests or peers)" >&2
    exit 2
    ;;
esac

if [ "$wanted" = peers ]; then
    need mpich           command -v mpiexec.hydra
    need libmpich-dev    compiles_with mpicc.mpich mpi.h
    need libopenmpi-dev  compiles_with mpicc.openmpi mpi.h
    need openmpi-bin     command -v mpirun.openmpi
    need slurm-client    command -v srun
    need slurmctld       test -x /usr/sbin/slurmctld
    need slurmd          test -x /usr/sbin/slurmd
    need munge           test -x /usr/sbin/munged
fi

[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "Plenum needs packages that this system calls something like:$missing. Please install them." >&2
    exit 1
fi

sudo=
if [ "$(id -u)" -ne 0 ]; then
    sudo=sudo
    if ! command -v sudo >/dev/null 2>&1; then
        echo "Plenum needs packages. Please run as root: apt-get install$missing" >&2
        exit 1
    fi
fi

echo "Installing with ${sudo:+$sudo }apt-get:$missing"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
apt()
{
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" </dev/null >"$log" 2>&1
}

# shellcheck disable=SC2086  # a list of words
if apt -y --no-install-recommends install $missing || { apt update && apt -y --no-install-recommends install $missing; }
then
    exit 0
fi
cat "$log" >&2
echo "Could not install:$missing" >&2
exit 1
