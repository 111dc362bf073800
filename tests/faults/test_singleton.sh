#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A program that was not launched is an MPI of one process. Programs of the suite that make sense with one rank pass
# when they are started directly, without a server or a launcher's environment variables.
#
# usage: test_singleton.sh BUILD-DIRECTORY
build=${1:?usage: test_singleton.sh BUILD-DIRECTORY}
top=$(dirname "$0")/../..
programs='pt2pt/modes pt2pt/self pt2pt/bsend pt2pt/cancel_send pt2pt/proc_null request/generalized request/in_status
    comm/dup comm/split comm/create_group comm/cycles world/before_and_after world/self_attributes world/clean_exit
    session/cycles session/beside_world session/psets session/only threads/waiting threads/own_sessions'
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
for name in $(env | sed -n 's/^\(PLENUM_[A-Z_]*\|PMIX_[A-Z_0-9]*\|SLURM_[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done

failed=0
for program in $programs; do
    binary=$scratch/$(echo "$program" | tr / -)
    "$build/bin/mpicc" -D_GNU_SOURCE -O1 -g -pthread -I"$top/tests/mpi" "$top/tests/mpi/$program.c" -o "$binary" || exit 1
    if ! "$binary" >"$scratch/out" 2>&1; then
        failed=1
        echo "$program, started directly, fails:"
        tail -n 20 "$scratch/out"
    fi
done
exit $failed
