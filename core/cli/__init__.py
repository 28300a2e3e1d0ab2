"""The command line: `spokeshave-cli`. The same jobs, in the same workers, as the window's.

Standard output carries the answer (with --json one document and nothing else); progress and logs go to standard error.
Exit status: 0 done, 1 failed with one sentence, 2 wrong use, 130 cancelled by Ctrl-C.
"""

from core.cli import heads  # noqa: F401  its command is registered by importing it
from core.cli.commands import main

__all__ = ["main"]
