"""Print the table of speed: ``python -m tests.benchmarks``, or some of its groups by name."""

import sys

from tests.benchmarks.table import main

if __name__ == "__main__":
    main(sys.argv[1:])
