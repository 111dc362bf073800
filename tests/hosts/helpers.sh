# SPDX-License-Identifier: BSD-3-Clause
# What the tests of this folder share. They set `work`, the directory of the lab, `all_hosts`, `failed`,
# and `patience`, in units of 50 ms.
# shellcheck shell=sh disable=SC2154

fail()
{
    failed=$((failed + 1))
    echo "FAILED: $*"
    tail -n 20 "$work/output" | sed 's/^/  | /'
}

# The processes of the jobs, on all hosts, and those that start and keep them. A zombie is left by another process.
left()
{
    ps -eo pid=,stat=,comm= | awk '$2 !~ /Z/ && $3 ~ /^(plenum-agent|plenum-keeper|mpiexec|srun)$/'
    grep -lz '^PLENUM_RANK=' /proc/[0-9]*/environ 2>/dev/null || true
}

# Nothing is left, now or very soon; and no file in the shared memory of the hosts.
expect_nothing_left()
{
    for try in $(seq "$patience"); do
        [ -n "$(left)" ] || break
        sleep 0.05
    done
    left >"$work/output"
    [ ! -s "$work/output" ] || fail "processes are left: $*"
    for place in $all_hosts; do
        "$work/on" $place ls -A /dev/shm >"$work/output" 2>/dev/null || continue
        [ ! -s "$work/output" ] || fail "files are left on $place: $*"
    done
    return 0
}

# The pids, as the lab sees them, of processes with a name on a host.
pids()
{
    ps -eo pid=,utsns=,stat=,comm= | awk -v host="$(ps -o utsns= -p "$(cat "$work/$1.pid")")" -v name="$2" \
        '$2 == host + 0 && $3 !~ /Z/ && $4 == name { print $1 }'
}
