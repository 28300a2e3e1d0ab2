"""Shared fixtures: pico models made on the spot, and a check that no test leaves a thread or a process behind."""

import contextlib
import json
import multiprocessing
import os
import threading
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from pathlib import Path

import psutil
import pytest

from tests import warm

PROSE = (
    "the quick brown fox jumps over the lazy dog and the old sailor told a long story of the sea "
    "where the wind was cold and the night was dark but the crew sang of home and of the harbour light "
) * 40


def pytest_collection_modifyitems(items):
    """Shelf and GPU tests skip with a word where what they need isn't there."""
    shelf = Path(os.environ.get("SHELF", "~/.cache/shelf")).expanduser()
    for item in items:
        if "shelf" in item.keywords and not (shelf / "smollm2-135m.gguf").exists():
            item.add_marker(pytest.mark.skip(reason=f"the shelf of real models isn't at {shelf}"))
        if "gpu" in item.keywords and not _gpu():
            item.add_marker(pytest.mark.skip(reason="no GPU that torch can use"))


def _gpu() -> bool:
    import torch

    return torch.cuda.is_available()


@pytest.fixture(scope="session")
def shelf() -> Path:
    return Path(os.environ.get("SHELF", "~/.cache/shelf")).expanduser()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """What core starts in this test, and in the fixtures that it's the first to ask for, starts warm, unless it's marked `cold`."""
    if "cold" in item.keywords or not warm.supported():
        return (yield)
    with contextlib.contextmanager(warm.install)():
        return (yield)


def pytest_unconfigure():
    warm.close()


@pytest.fixture(autouse=True)
def no_leaks(request):
    """A thread or child process that outlives its test fails it."""
    threads = set(threading.enumerate())
    children = {p.pid for p in psutil.Process().children(recursive=True)}
    yield
    deadline = time.monotonic() + 5
    while True:
        left = [t for t in threading.enumerate() if t not in threads and t.is_alive() and not _harmless(t)]
        multiprocessing.active_children()
        children |= warm.pids()
        born = [p for p in psutil.Process().children(recursive=True) if p.pid not in children and not _helper(p)]
        if not left and not born:
            return
        if time.monotonic() > deadline:
            pytest.fail(f"left behind: threads {left}, processes {[(p.pid, p.cmdline()[:6]) for p in born]}")
        time.sleep(0.05)


def _harmless(thread: threading.Thread) -> bool:
    return thread.name.startswith(("tqdm", "pytest_timeout", "asyncio_")) or "TMonitor" in type(thread).__name__


def _helper(process: psutil.Process) -> bool:
    """multiprocessing's own resource tracker lives as long as the test run."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE or "resource_tracker" in " ".join(process.cmdline())
    except psutil.Error:
        return True


def make_tokenizer(folder: Path, size: int = 300):
    """A byte-level BPE tokenizer learnt from PROSE; token 0 is '<|end|>'."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tok.train_from_iterator(
        [PROSE], trainers.BpeTrainer(vocab_size=size, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False)
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, eos_token="<|end|>", clean_up_tokenization_spaces=False)
    fast.save_pretrained(folder)
    return fast


def make_pico(
    folder: Path, *, layers: int = 2, hidden: int = 32, seed: int = 0, tied: bool = True, dtype: str = "float32", **changes
) -> Path:
    """A Llama with grouped-query attention, random weights, and its tokenizer, saved as transformers saves it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer(folder)
    torch.manual_seed(seed)
    settings = dict(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        tie_word_embeddings=tied,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=None,
    )
    model = LlamaForCausalLM(LlamaConfig(**(settings | changes))).to(getattr(torch, dtype))
    with torch.no_grad():  # default initialisation is so flat that every token is as likely as another
        for name, p in model.named_parameters():
            if p.ndim > 1:
                p.mul_(4 if "embed" not in name else 8)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def pico_llama(tmp_path_factory) -> Path:
    """Folder of a pico Llama (2 layers, hidden 32, 4 heads, 2 key-value heads, tied, 300 tokens, float32)."""
    return make_pico(tmp_path_factory.mktemp("pico") / "pico-llama")


@pytest.fixture(scope="session")
def pico_draft(tmp_path_factory) -> Path:
    """Folder of a smaller pico Llama with the same tokenizer."""
    return make_pico(tmp_path_factory.mktemp("pico") / "pico-draft", layers=1, hidden=16, seed=1)


@pytest.fixture(scope="session")
def pico_text(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("text") / "prose.txt"
    path.write_text(PROSE, encoding="utf-8")
    return path


def make_pipeline(folder: Path, classes: int | None = None, seed: int = 0) -> Path:
    """A diffusion pipeline of some thousand weights, drawing 8 x 8 images, with 64 levels of noise."""
    import torch
    from diffusers import DDIMPipeline, DDIMScheduler, DiffusionPipeline, UNet2DModel

    torch.manual_seed(seed)
    unet = UNet2DModel(
        sample_size=8,
        in_channels=1,
        out_channels=1,
        layers_per_block=1,
        block_out_channels=(8, 16),
        norm_num_groups=4,
        attention_head_dim=8,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        num_class_embeds=classes,
    )
    scheduler = DDIMScheduler(
        num_train_timesteps=64,
        beta_schedule="squaredcos_cap_v2",
        prediction_type="v_prediction",
        timestep_spacing="trailing",
        clip_sample=False,
    )
    if classes is None:
        DDIMPipeline(unet, scheduler).save_pretrained(folder)
        return folder
    unet.save_pretrained(folder / "unet")
    scheduler.save_pretrained(folder / "scheduler")
    index = {"_class_name": DiffusionPipeline.__name__, "unet": ["diffusers", "UNet2DModel"], "scheduler": ["diffusers", "DDIMScheduler"]}
    (folder / "model_index.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def pico_pipeline(tmp_path_factory) -> Path:
    """Folder of an unconditional diffusion model."""
    return make_pipeline(tmp_path_factory.mktemp("models") / "pico-pipeline")


@pytest.fixture(scope="session")
def pico_class_pipeline(tmp_path_factory) -> Path:
    """Folder of a diffusion model that draws three classes."""
    folder = tmp_path_factory.mktemp("models") / "pico-class-pipeline"
    folder.mkdir()
    return make_pipeline(folder, classes=3)
