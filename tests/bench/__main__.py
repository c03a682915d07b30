"""`python -m tests.bench`: every figure of the docs, as ratios of pairs run side by side. Prints; asserts nothing."""

from tests.bench.bytes_written import main as bytes_written
from tests.bench.launcher import main as launcher
from tests.bench.run_overhead import main as run_overhead
from tests.bench.slots import main as slots
from tests.bench.steps import main as steps
from tests.bench.task_list import main as task_list
from tests.bench.verify import main as verify

BENCHES = [bytes_written, task_list, launcher, steps, run_overhead, slots, verify]


def main() -> None:
    """Run each bench in turn."""
    for bench in BENCHES:
        bench()


if __name__ == "__main__":
    main()
