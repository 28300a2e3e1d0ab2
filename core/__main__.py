"""`python -m core`: the command line."""

import multiprocessing
import sys


def main() -> None:
    multiprocessing.freeze_support()
    from core.cli import main as run

    run()


if __name__ == "__main__":
    sys.exit(main())
