#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The end of a process while a communicator is made from a group that it belongs to: of the coordinator and of others,
# before it has joined and while it waits. Argument: the build directory.
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
"$build/bin/mpicc" -D_GNU_SOURCE -pthread "$(dirname "$0")/meet/death.c" -o "$scratch/death" || exit 1

# transport, and what the program is told
try() {
    transport=$1
    shift
    output=$(PLENUM_TRANSPORT=$transport "$build/bin/mpiexec" --keep-going -n 4 "$scratch/death" "$@" 2>&1)
    if [ "$(echo "$output" | grep -c '^good ')" != 3 ]; then
        echo "$transport, $*:"
        echo "$output"
        failed=1
    fi
}

for when in before inside; do
    try auto 0 $when
    try auto 1 $when
    try auto 3 $when
    try auto 0 $when inter
    try auto 3 $when inter
done
try ucx 0 inside
try ucx 3 inside
exit $failed
