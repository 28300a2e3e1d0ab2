"""The Hugging Face Hub: listing a model, reading its headers, downloading it with progress, cancel and resume.

Every request goes through huggingface_hub, so its token and HF_ENDPOINT count. Downloads are kept, whole or in part,
in the user's cache folder until the import is done: one that was cancelled or cut off goes on where it stopped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import platformdirs
from filelock import FileLock, Timeout

from core.errors import Cancelled, UserError, explain
from core.models import tensors
from core.models.tensors import TensorInfo
from core.run import Run

_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
HEADER_GUESS = 100_000  # bytes asked for first; most headers are shorter
CHUNK = 1 << 20  # bytes between two looks at a cancel; huggingface_hub's own ten times that take long on a slow line


@dataclass(frozen=True, slots=True)
class Listing:
    """A model on the Hub at one commit: {file name: bytes}."""

    repo: str
    commit: str
    files: dict[str, int]


def is_id(source: str) -> bool:
    """Whether a string may be a Hub id: 'name' or 'org/name', and nothing like a path."""
    return bool(_ID.fullmatch(source)) and ".." not in source and not source.endswith((".gguf", ".safetensors"))


def endpoint() -> str:
    """Where the Hub is: HF_ENDPOINT, or huggingface.co."""
    from huggingface_hub import constants

    return (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")


def listing(repo: str) -> Listing:
    """The model's files. Raises UserError: no such model, gated, switched off, no network."""
    from huggingface_hub import HfApi

    with _told(repo):
        info = HfApi(endpoint=endpoint()).model_info(repo, files_metadata=True)
    return Listing(repo, info.sha or "main", {s.rfilename: int(s.size or 0) for s in info.siblings or ()})


def no_model(repo: str, names: set[str]) -> UserError:
    """Why a repository without config.json can't be opened."""
    gguf = sorted(n for n in names if n.lower().endswith(".gguf"))
    if gguf:
        return UserError(
            "{repo} holds GGUF files rather than a transformers model.",
            hint="Download one of them ({file}, say) and open that file.",
            kind="model",
            repo=repo,
            file=gguf[0],
        )
    return UserError(
        "{repo} isn't a transformers model: it has no config.json.", hint="Choose another repository.", kind="model", repo=repo
    )


def needed_files(found: Listing) -> list[str]:
    """The names of the files that loading the model needs, weights last. Raises UserError where there are no safetensors weights."""
    from core.models import inspect

    top = [n for n in found.files if "/" not in n]
    small = [n for n in top if inspect.needed(n) and not n.endswith(".safetensors") and n != "model.safetensors.index.json"]
    if "model.safetensors" in found.files:
        return [*small, "model.safetensors"]
    if "model.safetensors.index.json" in found.files:
        names = sorted(set((read_json(found, "model.safetensors.index.json").get("weight_map") or {}).values()))
        missing = [n for n in names if n not in found.files]
        if missing or not names:
            raise UserError(
                "{repo} isn't complete: its index lists {file}, which isn't there.",
                hint="Choose another repository.",
                kind="model",
                repo=found.repo,
                file=missing[0] if missing else "no file at all",
            )
        return [*small, "model.safetensors.index.json", *names]
    pickled = sorted(n for n in top if n.endswith((".bin", ".pt", ".pth")))
    if pickled:
        raise UserError(
            "{repo} has its weights pickled only ({file}); Spokeshave doesn't read pickles, because opening one runs code from it.",
            hint="Look for a safetensors copy of the model.",
            kind="model",
            repo=found.repo,
            file=pickled[0],
        )
    raise UserError("{repo} has no weights in safetensors.", hint="Choose another repository.", kind="model", repo=found.repo)


def read_json(found: Listing, name: str) -> dict[str, Any]:
    """A small JSON file of the model. Raises UserError as `listing` does, and where it isn't a JSON object."""
    try:
        data = json.loads(_get(found, name))
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise UserError("{file} of {repo} isn't valid JSON.", hint="Choose another repository.", kind="model", file=name, repo=found.repo)
    return data


def headers(found: Listing) -> dict[str, TensorInfo]:
    """The tensors that the model's weight files declare, by range requests."""
    out: dict[str, TensorInfo] = {}
    for name in needed_files(found):
        if not name.endswith(".safetensors"):
            continue
        first = _get(found, name, 0, HEADER_GUESS)
        length = int.from_bytes(first[:8], "little")
        if len(first) < 8 or length > tensors.HEADER_LIMIT:
            raise tensors.corrupt(Path(name), "it isn't a safetensors file", f"header length {length}")
        raw = first[8 : 8 + length] if length <= len(first) - 8 else _get(found, name, 8, length)
        out |= tensors.parse_header(raw, Path(name), found.files[name] - 8 - length)
    return out


def _url(found: Listing, name: str) -> str:
    from huggingface_hub import hf_hub_url

    return hf_hub_url(found.repo, name, revision=found.commit, endpoint=endpoint())


def _get(found: Listing, name: str, start: int | None = None, count: int = 0) -> bytes:
    """The bytes of a small file, or `count` bytes from `start` of a large one."""
    from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

    asked = build_hf_headers()
    if start is not None:
        asked["Range"] = f"bytes={start}-{start + count - 1}"
    with _told(found.repo):
        answer = get_session().get(_url(found, name), headers=asked, timeout=15, follow_redirects=True)
        hf_raise_for_status(answer)
        content = answer.content
    if start is not None and answer.status_code == 200:  # a server that doesn't know ranges sends all of it
        content = content[start : start + count]
    return content


# ---- downloading --------------------------------------------------------------------------------------------------


def cache_folder(found: Listing) -> Path:
    """Where the downloads of this commit are kept until the import is done."""
    return Path(platformdirs.user_cache_dir("spokeshave")) / "downloads" / f"{found.repo.replace('/', '--')}--{found.commit[:12]}"


def download(found: Listing, names: list[str], to: Path, run: Run) -> None:
    """Brings the named files into the folder `to`; what was cancelled or cut off before goes on where it stopped.

    Raises UserError as `listing` does, or where the disk is full; Cancelled, keeping what has come so far.
    """
    home = cache_folder(found)
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = FileLock(home.with_name(f"{home.name}.lock"))
        with lock.acquire(timeout=0):
            _download(found, names, home, to, run)
            shutil.rmtree(home, ignore_errors=True)
        os.unlink(lock.lock_file)
    except Timeout:
        raise UserError(
            "{repo} is being downloaded already, by another window or command.",
            hint="Wait until that's done, then import it again: it'll be quick.",
            kind="network",
            repo=found.repo,
        ) from None
    except OSError as error:
        raise explain(error) from error


def _download(found: Listing, names: list[str], home: Path, to: Path, run: Run) -> None:
    meter = _Meter(run, sum(found.files[n] for n in names))
    for name in names:
        whole, part = home / name, home / f"{name}.part"
        if whole.exists() and whole.stat().st_size == found.files[name]:
            meter.add(found.files[name])
            continue
        _fetch(found, name, part, meter)
        os.replace(part, whole)
    for name in names:
        run.check_cancelled()
        shutil.move(home / name, to / name)


class _Meter:
    """Bytes so far, as progress with the time left, which also notices a cancel."""

    def __init__(self, run: Run, total: int):
        self.run, self.total, self.done, self.fresh, self.begun = run, total, 0, 0, time.monotonic()

    def add(self, count: int, fresh: bool = False) -> None:
        self.run.check_cancelled()
        self.done += count
        self.fresh += count if fresh else 0
        spent = time.monotonic() - self.begun
        left = spent / self.fresh * max(0, self.total - self.done) if self.fresh > 0 and spent > 1 else None
        self.run.progress(
            "Downloading", self.done, self.total, left, note=f"{self.done / 1e6:.0f} of {self.total / 1e6:.0f} MB", force=False
        )


def _fetch(found: Listing, name: str, part: Path, meter: _Meter) -> None:
    """Downloads a file into `part`, from where `part` ends."""
    from huggingface_hub import constants, get_hf_file_metadata
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    url, asked = _url(found, name), build_hf_headers()
    with _told(found.repo):
        remote = get_hf_file_metadata(url, token=None, endpoint=endpoint())
    size = remote.size if remote.size is not None else found.files[name]
    if urlparse(remote.location).netloc != urlparse(url).netloc:
        asked.pop("authorization", None)  # the token is the Hub's, not that of the server it sends us to
    have = part.stat().st_size if part.exists() else 0
    if have > size:
        part.unlink()
        have = 0
    free = shutil.disk_usage(part.parent).free
    if size - have > free:
        raise UserError(
            "The disk has {free} MB free, and {needed} MB of {file} are still to come.",
            hint="Free some space and import it again; what has been downloaded is kept.",
            kind="disk",
            free=free // 1_000_000,
            needed=-(-(size - have) // 1_000_000),
            file=name,
        )
    meter.add(have)
    with open(part, "ab") as handle, instead(constants, "DOWNLOAD_CHUNK_SIZE", CHUNK), _told(found.repo):
        http_get(
            remote.location,
            handle,
            resume_size=have,
            headers=asked,
            expected_size=size,
            displayed_filename=name,
            tqdm_class=_bar(lambda count: meter.add(count, fresh=True)),
        )


def _bar(add: Callable[[int], None]) -> type:
    """A progress bar class that draws nothing and tells `add` of every chunk."""
    from tqdm.auto import tqdm

    class Bar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any):
            kwargs.pop("name", None)
            super().__init__(*args, **{**kwargs, "disable": True})

        def update(self, n: float | None = 1) -> None:
            add(int(n or 0))

    return Bar


@contextmanager
def instead(module: Any, name: str, value: Any) -> Iterator[None]:
    """`module.name` is `value` for the length of the block: for libraries that offer no other seam."""
    original = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, original)


# ---- what went wrong ----------------------------------------------------------------------------------------------


@contextmanager
def _told(repo: str) -> Iterator[None]:
    """Turns what huggingface_hub raises into the sentence for it."""
    from huggingface_hub import errors

    try:
        yield
    except (Cancelled, UserError):
        raise
    except errors.OfflineModeIsEnabled as error:
        raise UserError(
            "{repo} can't be fetched, because downloads are switched off (HF_HUB_OFFLINE is set).",
            hint="Unset HF_HUB_OFFLINE, or open a folder instead.",
            kind="network",
            repo=repo,
            detail=repr(error),
        ) from error
    except errors.GatedRepoError as error:
        raise UserError(
            "{repo} is gated: its authors give access to those who ask for it.",
            hint="Ask for access at {page}, then log in with 'hf auth login'.",
            kind="network",
            repo=repo,
            page=f"{endpoint()}/{repo}",
            detail=str(error),
        ) from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise _no_such(repo, error) from error
    except (errors.EntryNotFoundError, errors.RevisionNotFoundError) as error:
        raise UserError(
            "{repo} doesn't have a file that its list names.",
            hint="It may have changed just now; try again.",
            kind="network",
            repo=repo,
            detail=str(error),
        ) from error
    except errors.HfHubHTTPError as error:
        status = getattr(getattr(error, "response", None), "status_code", "?")
        if status == 401:
            raise _no_such(repo, error) from error
        raise UserError(
            "The Hub refused to send {repo} (status {status}).",
            hint="Try again later; what has been downloaded is kept.",
            kind="network",
            repo=repo,
            status=status,
            detail=str(error),
        ) from error
    except Exception as error:
        if isinstance(error, OSError) and "Consistency check failed" in str(error):
            raise _cut_off(repo, error) from error
        if isinstance(error, ConnectionError) or type(error).__module__.partition(".")[0].startswith(("httpx", "httpcore", "requests")):
            if type(error).__name__ in ("RemoteProtocolError", "ReadError", "ReadTimeout"):
                raise _cut_off(repo, error) from error
            raise UserError(
                "The Hub at {place} can't be reached.",
                hint="Check the network connection, or open a folder or a .gguf file instead.",
                kind="network",
                place=endpoint(),
                detail=repr(error),
            ) from error
        raise


def _cut_off(repo: str, error: BaseException) -> UserError:
    return UserError(
        "The connection broke off while {repo} was being downloaded.",
        hint="Import it again: it goes on where it stopped.",
        kind="network",
        repo=repo,
        detail=repr(error),
    )


def _no_such(repo: str, error: BaseException) -> UserError:
    return UserError(
        "There is no model {repo} on the Hub, or it's private.",
        hint="Check the id (org/name); for a private model, log in with 'hf auth login'. To open a folder, check its path.",
        kind="network",
        repo=repo,
        detail=str(error),
    )
