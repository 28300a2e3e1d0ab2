"""Verifying a saved folder: a plain process reloads it, and its outputs are compared with those of the model in memory.

The plain process runs reload_probe.py, which knows torch and transformers only; it's started at once, so that its
imports overlap with the work. Both sides compute in float32 on the CPU with as many threads, on the same fixed
tokens; the expected difference is 0. `save` has already rounded the model in memory to what it stored.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import nn

from core.errors import UserError
from core.models import inspect
from core.models.diffusion import Denoiser
from core.models.packed import PackedLinear
from core.models.packed_embedding import PackedEmbedding
from core.run import Run
from core.workspace import read_json

TOKENS = 32
TOLERANCE = 1e-4  # of the largest output; kernels may add in another order, while a wrongly stored weight shows far above it
AUTOS = {"causal-lm": "AutoModelForCausalLM", "classifier": "AutoModelForSequenceClassification", "encoder": "AutoModel"}


class Verifier:
    """A context manager that owns the plain process; `check` may be called for several folders, one after the other."""

    def __init__(self) -> None:
        self.resident: int | None = None  # bytes that the last folder took in plain transformers, float32, after its first forward
        self._home = tempfile.TemporaryDirectory(prefix="spokeshave-verify-")
        self._errors = open(Path(self._home.name) / "stderr.txt", "w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._count = 0
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false"}
        try:
            self._process = subprocess.Popen(
                # -P: the script's own folder mustn't be searched for modules
                [sys.executable, "-P", str(Path(__file__).with_name("reload_probe.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                cwd=self._home.name,
                env=environment,
                text=True,
                encoding="utf-8",
            )
        except BaseException:
            self._errors.close()
            self._home.cleanup()
            raise

    def __enter__(self) -> Verifier:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process, whatever it's doing, and removes its files."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._errors.close()
        self._home.cleanup()

    def check(self, folder: Path, model: nn.Module, run: Run, *, remote_code: bool = False) -> float:
        """Largest absolute difference between the outputs of the reloaded `folder` and those of `model`.

        Raises UserError (kind 'check') where the folder doesn't reload, keys are missing or left over, or the outputs
        differ; Cancelled, after which the process is gone.
        """
        run.stage("Checking")
        if isinstance(model, Denoiser):
            return self._check_pipeline(folder, model, run)
        config = model.config.get_text_config()
        ids = probe_ids(config.vocab_size, getattr(config, "max_position_embeddings", None))
        self._count += 1
        to = Path(self._home.name) / f"out-{self._count}.safetensors"
        architecture = (read_json(folder / "config.json").get("architectures") or [""])[0]
        auto = AUTOS.get(inspect.task_of(architecture), "AutoModel")
        if architecture.endswith("ForMaskedLM"):
            auto = "AutoModelForMaskedLM"
        if config.is_encoder_decoder:
            auto = "AutoModelForSeq2SeqLM"
        task = {
            "folder": str(folder.absolute()),
            "auto": auto,
            "ids": ids.tolist(),
            "threads": torch.get_num_threads(),
            "to": str(to),
            "remote_code": remote_code,
        }
        self._ask(task)
        with in_float32_on_cpu(model), torch.no_grad():
            was_training = model.training
            model.eval()
            out = model(**probe_inputs(config, ids))
            model.train(was_training)
        mine = (out.logits if "logits" in out else out.last_hidden_state).float()
        return self._answered(mine, to, run)

    def _check_pipeline(self, folder: Path, model: Denoiser, run: Run) -> float:
        self._count += 1
        to = Path(self._home.name) / f"out-{self._count}.safetensors"
        self._ask({"pipeline": str(folder.absolute()), "threads": torch.get_num_threads(), "to": str(to)})
        with in_float32_on_cpu(model):
            mine = model.probe()
        return self._answered(mine, to, run)

    def _ask(self, task: dict[str, Any]) -> None:
        try:
            self._process.stdin.write(json.dumps(task) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._died() from None

    def _answered(self, mine: torch.Tensor, to: Path, run: Run) -> float:
        answer = self._wait(Path(f"{to}.json"), run)
        if "error" in answer:
            raise UserError(
                "The saved model doesn't reload in plain transformers: {reason}",
                hint="Nothing was kept. The detail has the trace; please report it.",
                kind="check",
                reason=answer["error"].splitlines()[0][:200],
                detail=answer["trace"],
            )
        if answer["keys"]:
            raise UserError(
                "The saved model reloads, but not all of its weights fit.",
                hint="Nothing was kept. The detail names them; please report it.",
                kind="check",
                detail=json.dumps(answer["keys"], indent=1),
            )
        self.resident = answer["resident"]
        theirs = load_file(to)["out"]
        to.unlink()
        return _compare(mine, theirs)

    def _wait(self, answer: Path, run: Run) -> dict[str, Any]:
        while True:
            try:
                run.check_cancelled()
            except BaseException:
                self._process.kill()
                raise
            if answer.exists():
                return json.loads(answer.read_text(encoding="utf-8"))
            if self._process.poll() is not None:
                raise self._died()
            time.sleep(0.02)

    def _died(self) -> UserError:
        self._process.wait()
        self._errors.flush()
        self._errors.seek(0)
        return UserError(
            "The process that reloads the saved model ended early (exit code {code}).",
            hint="There may not be enough memory to hold the model twice; close other programs and try again.",
            kind="check",
            code=self._process.returncode,
            detail=self._errors.read()[-4000:],
        )


def probe_inputs(config: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
    """What a model with that config is called with: one with an encoder and a decoder gets the same text for both."""
    return {"input_ids": ids} | ({"decoder_input_ids": ids} if config.is_encoder_decoder else {})


def probe_ids(vocabulary: int, context: int | None, seed: int = 7) -> torch.Tensor:
    """Fixed tokens, (1, n): the same in every process and on every machine."""
    length = min(TOKENS, context or TOKENS)
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, vocabulary, (1, length), generator=generator)


def _compare(mine: torch.Tensor, theirs: torch.Tensor) -> float:
    if mine.shape != theirs.shape:
        raise UserError(
            "The saved model gives outputs of shape {theirs}, the one in memory {mine}.",
            hint="Nothing was kept. Please report it.",
            kind="check",
            theirs=tuple(theirs.shape),
            mine=tuple(mine.shape),
        )
    difference, scale = (mine - theirs).abs().max().item(), mine.abs().max().item()
    if not difference <= TOLERANCE * max(1.0, scale):  # NaN fails too
        raise UserError(
            "The saved model gives other numbers than the one in memory (largest difference {difference:.3g}, outputs up to {scale:.3g}).",
            hint="Nothing was kept. Please report it.",
            kind="check",
            difference=difference,
            scale=scale,
        )
    return difference


@contextlib.contextmanager
def in_float32_on_cpu(model: nn.Module) -> Iterator[nn.Module]:
    """The model, for the length of the block, on the CPU with float32 weights; the originals come back afterwards.

    Buffers that aren't saved (rotary frequencies) keep their dtype, as they do when the model is loaded in float32.
    """
    undo: list[tuple[nn.Module, str, torch.Tensor]] = []
    params: list[tuple[nn.Parameter, torch.Tensor]] = []
    try:
        for parameter in model.parameters():
            params.append((parameter, parameter.data))
            parameter.data = parameter.data.to("cpu", torch.float32)
        for module in model.modules():
            for name, buffer in list(module._buffers.items()):
                if buffer is None:
                    continue
                scales = isinstance(module, (PackedLinear, PackedEmbedding)) and name != "_like"
                cast = buffer.is_floating_point() and not scales and (name not in module._non_persistent_buffers_set or name == "_like")
                undo.append((module, name, buffer))
                module._buffers[name] = buffer.to("cpu", torch.float32) if cast else buffer.to("cpu")
        yield model
    finally:
        for parameter, data in params:
            parameter.data = data
        for module, name, buffer in undo:
            module._buffers[name] = buffer
