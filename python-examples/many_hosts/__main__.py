# SPDX-License-Identifier: BSD-3-Clause
"""An engine over several hosts: jobs of mixed sizes, with retries, and a time limit for each attempt.

usage: python3 -m many_hosts JOBS SLOTS-A-HOST COMMAND HOST... -- PROGRAM...

COMMAND starts a program on host %h, such as "ssh %h". The program of job N gets N and the attempt as further arguments.
"""
import asyncio
import sys

import plenum

ATTEMPTS = 3
LIMIT = 60_000  # milliseconds


async def attempts(runtime: plenum.AsyncRuntime, number: int, ranks: int, program: list[str]) -> tuple[int, int]:
    """Runs a job until it succeeds: the exit code and the attempts."""
    code = 0
    for attempt in range(1, ATTEMPTS + 1):
        job = runtime.job()
        job.add([*program, str(number), str(attempt)], ranks=ranks)
        job.set(plenum.JobOption.TIME_LIMIT, LIMIT)
        code = (await runtime.run(job)).code
        if code == 0:
            break
    return code, attempt


async def main(jobs: int, slots: int, command: str, hosts: list[str], program: list[str]) -> int:
    async with plenum.AsyncRuntime(watch_hosts=lambda event: print(event.message)) as runtime:
        runtime.set(plenum.RuntimeOption.POLICY, plenum.Policy.BACKFILL)
        for host in hosts:
            runtime.add_host(host, slots, command)
        sizes = [1 + number % (slots * len(hosts)) for number in range(jobs)]
        runs = [attempts(runtime, number, ranks, program) for number, ranks in enumerate(sizes)]
        ends = await asyncio.gather(*runs)
    failed = sum(code != 0 for code, _ in ends)
    print(f"{jobs - failed} of {jobs} jobs succeeded, {sum(tried > 1 for _, tried in ends)} after another attempt")
    return 1 if failed else 0


if __name__ == "__main__":
    split = sys.argv.index("--")
    sys.exit(asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:split], sys.argv[split + 1:])))
