# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of one to four ranks on blocks that come and go: python3 -m engine_executor"""
import tempfile

from .executor import BlockExecutor
from .tasks import integral, unsteady


def main() -> None:
    with BlockExecutor(slots_per_block=2, max_blocks=3, retries=2) as executor:
        print("blocks:", *executor.status())
        futures = [executor.submit(integral, {"num_ranks": ranks}, 10000) for ranks in (1, 2, 4, 1, 3)]
        print("blocks for tasks of up to 4 ranks:", *executor.status())
        for future in futures:
            ranks, pi = future.result()
            print(f"pi on {ranks}: {pi:.6f}")
        with tempfile.TemporaryDirectory() as directory:
            attempt = executor.submit(unsteady, {}, directory, 1).result()
        print(f"an unsteady task: done at attempt {attempt}")
        print("scaled in:", *executor.scale_in(1))


if __name__ == "__main__":
    main()
