"""`python -m core`: the command line."""

import multiprocessing
import sys


def main() -> None:
    multiprocessing.freeze_support()
    try:
        from core.cli import main as run

        run()
    except KeyboardInterrupt:  # while the libraries were coming in; a command that runs tells it itself
        sys.stderr.write("Cancelled; nothing was left behind.\n")
        sys.exit(130)


if __name__ == "__main__":
    sys.exit(main())
