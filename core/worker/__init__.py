"""The worker: what runs in the child process. A loop, a pipe, and one function per kind of job.

Floor 4: it may use everything below; nothing above floor 1 imports it (core.jobs starts it by name).
"""

from core.worker.loop import main

__all__ = ["main"]
