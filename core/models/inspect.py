"""Inspecting a model before it's loaded: a folder, a GGUF file or a Hub id, from headers and configuration alone.

Covers architecture, size, parts, precision, tokenizer and memory, and every reason for which the model couldn't be
loaded, each as its own sentence. No weight is read, nothing is downloaded but headers and small configuration
files, and code that comes with a model is never run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil

from core.errors import UserError, explain
from core.models import diffusion, foreign, gguf_file, hub, tensors
from core.models.blocks import COMPONENTS, component
from core.models.tensors import TensorInfo
from core.records import SourceInfo, Task
from core.workspace import read_json

TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "sentencepiece.bpe.model", "merges.txt")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
FRAMEWORKS = ("*.h5", "*.msgpack", "*.onnx")
PACKED_SUFFIXES = ("weight_packed", "weight_scale", "weight_zero_point", "weight_shape", "weight_g_idx")


def inspect(source: str | Path, *, remote_code: bool = False) -> SourceInfo:
    """What `source` is. Raises UserError with the reason where it couldn't be loaded.

    A model that needs its own code is described with `remote_code=True` and a warning; only loading it is refused,
    unless `remote_code` says that running that code is wanted.
    """
    path = Path(source).expanduser()
    if path.is_dir():
        return inspect_folder(path, remote_code=remote_code)
    if path.is_file():
        return inspect_file(path)
    if hub.is_id(str(source)):
        return inspect_hub(str(source), remote_code=remote_code)
    raise UserError(
        "{source} doesn't exist.",
        hint="Give a model's folder, a .gguf file, or a Hub id such as org/name.",
        source=str(source),
    )


def inspect_file(path: Path) -> SourceInfo:
    """A single file, which has to be GGUF."""
    if path.suffix in (".safetensors", ".bin", ".pt", ".pth", ".json"):
        raise UserError(
            "{file} is one file of a model; its folder is what can be opened.",
            hint="Choose the folder {folder}.",
            kind="model",
            file=path.name,
            folder=str(path.parent),
        )
    header = gguf_file.read_header(path)
    raw = gguf_file.config_of(header, path)
    if not header.tensors:
        raise UserError("{file} holds no weights.", hint="Choose the file with the model itself.", kind="model", file=path.name)
    if int(header.fields.get("split.count", 1) or 1) > 1:
        raise UserError(
            "{file} is one part of a model that was split into {parts} GGUF files.",
            hint="Join them with llama.cpp's gguf-split --merge, and open the result.",
            kind="model",
            file=path.name,
            parts=header.fields["split.count"],
        )
    found = {
        name: TensorInfo(name, t.type if t.type in tensors.FLOATS else f"GGUF {t.type}", t.shape, t.bytes, path)
        for name, t in header.tensors.items()
    }
    vocabulary = gguf_file.vocabulary(header)
    info = describe(
        raw,
        found,
        source=str(path),
        kind="gguf",
        name=path.stem,
        bytes_on_disk=path.stat().st_size,
        tokenizer=bool(vocabulary),
        chat_template="tokenizer.chat_template" in header.fields,
        wants_code=False,
    )
    packed = {name: n for name, n in info.dtypes.items() if name.startswith("GGUF")}
    main = max(packed, key=lambda name: packed[name]).removeprefix("GGUF ") if packed else None
    return info.model_copy(
        update={
            "tokens_hash": hash_tokens(vocabulary) if vocabulary else "",
            "quantization": f"{main} (GGUF)" if main else None,
            "dtypes": {name.removeprefix("GGUF "): n for name, n in info.dtypes.items()},
        }
    )


def inspect_hub(repo: str, *, remote_code: bool = False) -> SourceInfo:
    """A model on the Hub: its list of files, its config and the headers of its weights; no weight is downloaded."""
    listing = hub.listing(repo)
    names = set(listing.files)
    if "config.json" not in names:
        raise hub.no_model(repo, names)
    raw = hub.read_json(listing, "config.json")
    found = hub.headers(listing)
    has_tokenizer = any(name in names for name in TOKENIZER_FILES)
    template = "chat_template.jinja" in names or "chat_template.json" in names
    if not template and "tokenizer_config.json" in names:
        template = bool(hub.read_json(listing, "tokenizer_config.json").get("chat_template"))
    return describe(
        raw,
        found,
        source=repo,
        kind="hub",
        name=repo.rpartition("/")[2],
        bytes_on_disk=sum(size for name, size in listing.files.items() if name in hub.needed_files(listing)),
        tokenizer=has_tokenizer,
        chat_template=template,
        wants_code=remote_code,
    )


# ---- folders ------------------------------------------------------------------------------------------------------


def inspect_folder(folder: Path, *, remote_code: bool = False) -> SourceInfo:
    """A folder as transformers saves it: config.json and safetensors."""
    try:
        names = {p.name for p in folder.iterdir()}
    except OSError as error:
        raise explain(error) from error
    if diffusion.is_pipeline(folder):
        return _pipeline(folder, "variant.json" in names)
    if "config.json" not in names:
        raise _no_model(folder, names)
    raw = read_json(folder / "config.json")
    found = tensors.headers(folder)
    if not found:
        raise _no_weights(folder)
    settings = foreign.settings_of(folder, raw)
    if settings is not None:
        raw = raw | {"quantization_config": settings}
    has_tokenizer = any(name in names for name in TOKENIZER_FILES)
    files = files_of(folder)
    info = describe(
        raw,
        found,
        source=str(folder),
        kind="variant" if "variant.json" in names else "folder",
        name=folder.name or str(folder),
        bytes_on_disk=sum(p.stat().st_size for p in files),
        tokenizer=has_tokenizer,
        chat_template="chat_template.jinja" in names or _template_inside(folder / "tokenizer_config.json"),
        wants_code=remote_code,
    )
    if not has_tokenizer:
        return info
    tokens = vocabulary(folder)
    warnings = info.warnings
    if info.vocabulary is not None and tokens and max(tokens.values()) >= info.vocabulary:
        warnings = (*warnings, "The tokenizer has more tokens than the embedding has rows, so some text can't be read.")
    return info.model_copy(update={"tokens_hash": hash_tokens(tokens), "warnings": warnings})


def _pipeline(folder: Path, variant: bool) -> SourceInfo:
    """A diffusion model as diffusers saves it."""
    index, config, scheduler = diffusion.parts(folder)
    made_for = index.get(diffusion.STEPS)
    found = diffusion.weights(folder)
    schedule = diffusion.Schedule.from_config(scheduler)
    parameters = sum(t.numbers for t in found.values())
    return SourceInfo(
        source=str(folder),
        kind="variant" if variant else "folder",
        name=folder.name or str(folder),
        architecture="UNet2DModel",
        model_type="unet2d",
        task="diffusion",
        parameters=parameters,
        components=_sums((component(name), t.numbers) for name, t in found.items()),
        dtypes=_sums((t.dtype, t.numbers) for t in found.values()),
        bytes_on_disk=sum(p.stat().st_size for p in diffusion.files(folder)),
        tied=False,
        context=schedule.total,
        image_shape=diffusion.shape_of(config),
        scheduler=str(scheduler.get("_class_name", "")),
        prediction=schedule.prediction,
        steps=made_for if isinstance(made_for, int) and made_for > 0 else None,
        classes=config.get("num_class_embeds"),
        memory_needed=4 * parameters,
        memory_free=psutil.virtual_memory().available,
    )


def _sums(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    out: dict[str, int] = {}
    for key, number in pairs:
        out[key] = out.get(key, 0) + number
    return out


def files_of(folder: Path) -> list[Path]:
    """The files of a model's folder that loading it needs."""
    if diffusion.is_pipeline(folder):
        return list(diffusion.files(folder))
    return [p for p in folder.iterdir() if p.is_file() and needed(p.name)]


def needed(name: str) -> bool:
    """Whether a file of a model's folder is one of those that loading it needs."""
    if name.endswith(".safetensors") or name in ("config.json", "generation_config.json", "model.safetensors.index.json"):
        return True
    return name in TOKENIZER_FILES or name.startswith("tokenizer") or name in OTHER_TEXT


OTHER_TEXT = (
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "vocab.bpe",
    "bpe.codes",
    "draft_vocabulary.json",  # draft_words.FILE: a packed copy of a draft says as few tokens as the draft
)


def _template_inside(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")).get("chat_template"))
    except (OSError, ValueError, AttributeError):
        return False  # a broken tokenizer_config is reported where the tokenizer is loaded


def _no_model(folder: Path, names: set[str]) -> UserError:
    if not names:
        return UserError("{folder} is empty.", hint="Choose a folder that holds a model.", kind="model", folder=str(folder))
    # one level down, and where huggingface_hub's cache keeps a model
    places = [*folder.glob("*/config.json"), *folder.glob("snapshots/*/config.json")]
    inside = sorted(str(p.parent.relative_to(folder)) for p in places)
    gguf = sorted(n for n in names if n.lower().endswith(".gguf"))
    if gguf:
        return UserError(
            "{folder} is a folder with GGUF files, not a transformers model.",
            hint="Choose the file {file} itself.",
            kind="model",
            folder=str(folder),
            file=gguf[0],
        )
    if inside:
        return UserError(
            "{folder} holds no model itself, but its folder {inside} does.",
            hint="Choose that folder.",
            kind="model",
            folder=str(folder),
            inside=inside[0],
        )
    return UserError(
        "{folder} isn't a model: it has no config.json.",
        hint="Choose the folder that holds config.json and the .safetensors files.",
        kind="model",
        folder=str(folder),
    )


def _no_weights(folder: Path) -> UserError:
    pickled = sorted(p.name for pattern in PICKLES for p in folder.glob(pattern) if p.name != "training_args.bin")
    if pickled:
        return UserError(
            "The weights in {folder} are pickled ({file}); Spokeshave doesn't read pickles, because opening one runs code from it.",
            hint="Save the model as safetensors where you trust it, or look for a safetensors copy of it.",
            kind="model",
            folder=str(folder),
            file=pickled[0],
        )
    others = sorted(p.name for pattern in FRAMEWORKS for p in folder.glob(pattern))
    if others:
        return UserError(
            "{folder} has weights only in a format that Spokeshave doesn't open ({file}).",
            hint="Look for a safetensors copy of the model.",
            kind="model",
            folder=str(folder),
            file=others[0],
        )
    stray = sorted(p.name for p in folder.glob("*.safetensors"))
    if stray:
        return UserError(
            "{folder} has no model.safetensors; transformers wouldn't find {file} without an index.",
            hint="Rename it to model.safetensors, or add model.safetensors.index.json.",
            kind="model",
            folder=str(folder),
            file=stray[0],
        )
    return UserError(
        "{folder} has a config.json but no weights.", hint="Download the .safetensors files too.", kind="model", folder=str(folder)
    )


# ---- what config and headers say ----------------------------------------------------------------------------------


def describe(
    raw: dict[str, Any],
    found: dict[str, TensorInfo],
    *,
    source: str,
    kind: str,
    name: str,
    bytes_on_disk: int | None,
    tokenizer: bool,
    chat_template: bool,
    wants_code: bool,
) -> SourceInfo:
    """A SourceInfo from a config's JSON and the tensors that the weight files declare."""
    warnings = []
    remote = bool(raw.get("auto_map"))
    architecture = (raw.get("architectures") or [""])[0] or ""
    if remote and not wants_code:
        warnings.append("This model comes with its own code; it isn't run unless you ask for it.")
    config = _config(raw)
    if config is None and not remote:
        raise UserError(
            "The installed transformers doesn't know the model type {type}.",
            hint="Update transformers, or choose another model.",
            kind="model",
            type=repr(raw.get("model_type", "")),
        )
    text = config.get_text_config() if config is not None else None
    get = lambda *names: next((v for n in names if (v := getattr(text, n, None) if text is not None else raw.get(n)) is not None), None)
    tied = None  # a model without a layer that maps back to words has nothing to tie
    if has_word_head(architecture):
        tied = bool(getattr(text, "tie_word_embeddings", True)) if text is not None else raw.get("tie_word_embeddings")
    heads, hidden = get("num_attention_heads", "n_head", "n_heads"), get("hidden_size", "n_embd", "d_model", "dim")
    head_dim = get("head_dim") or (hidden // heads if hidden and heads else None)
    parts, dtypes, parameters, copies = count(found, tied=bool(tied))
    if copies:
        warnings.append("The output layer is tied to the embedding, yet the file stores it twice.")
    if not tokenizer:
        warnings.append("There is no tokenizer, so text can't be scored or generated.")
    settings = raw.get("quantization_config") or None
    reason = foreign.why_not(settings, found) if isinstance(settings, dict) else None
    if reason is not None:
        warnings.append("It is stored quantized in a way that Spokeshave doesn't read.")
    needs = 4 * parameters
    free = psutil.virtual_memory().available
    if needs > free:
        warnings.append("Held in float32 it needs more memory than is free.")
    return SourceInfo(
        source=source,
        kind=kind,  # type: ignore[arg-type]
        name=name,
        architecture=architecture,
        model_type=str(raw.get("model_type", "")),
        task=task_of(architecture),
        parameters=parameters,
        components=parts,
        dtypes=dtypes,
        bytes_on_disk=bytes_on_disk,
        tied=tied,
        tokenizer=tokenizer,
        chat_template=chat_template,
        layers=get("num_hidden_layers", "n_layer", "n_layers"),
        hidden=hidden,
        intermediate=get("intermediate_size", "n_inner", "ffn_dim", "hidden_dim") or (4 * hidden if get("n_embd") and hidden else None),
        heads=heads,
        kv_heads=get("num_key_value_heads") or heads,
        head_dim=head_dim,
        vocabulary=get("vocab_size"),
        context=get("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"),
        quantization=quantization_name(settings, found),
        remote_code=remote,
        memory_needed=needs,
        memory_free=free,
        warnings=tuple(warnings),
    )


def _config(raw: dict[str, Any]) -> Any:
    """The transformers config object for its JSON, which knows the defaults; None where transformers doesn't know the type."""
    from transformers import CONFIG_MAPPING

    kind = raw.get("model_type")
    if kind not in CONFIG_MAPPING:
        return None
    clean = {k: v for k, v in raw.items() if k not in ("quantization_config", "auto_map")}
    try:
        return CONFIG_MAPPING[kind].from_dict(clean)
    except Exception as error:  # every config class checks its own way and raises what it likes
        raise UserError(
            "config.json doesn't make a valid {type} model: {reason}.",
            hint="Download it again, or correct it.",
            kind="model",
            type=kind,
            reason=(" ".join(str(error).split())[:200] or type(error).__name__).rstrip("."),
            detail=repr(error),
        ) from error


def task_of(architecture: str) -> Task:
    """What a class of transformers is for, by its name."""
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return "causal-lm"
    if architecture.endswith("ForSequenceClassification"):
        return "classifier"
    if architecture.endswith(("Model", "ForMaskedLM")) and not architecture.endswith("DoubleHeadsModel"):
        return "encoder"
    return "unknown"


def has_word_head(architecture: str) -> bool:
    """Whether a class of transformers has an output layer over the vocabulary, by its name."""
    return architecture.endswith(("ForCausalLM", "LMHeadModel", "ForMaskedLM", "DoubleHeadsModel"))


def count(found: dict[str, TensorInfo], *, tied: bool) -> tuple[dict[str, int], dict[str, int], int, list[str]]:
    """(parameters by component, by stored dtype, in all, names of stored tied copies).

    A packed weight counts as the numbers that it stands for; scales, zeros and buffers of integers count nothing.
    """
    copies = tied_copies(found) if tied else []
    parts, dtypes = dict.fromkeys(COMPONENTS, 0), {}
    for name, info in found.items():
        numbers, dtype = stands_for(name, info, found)
        if numbers and name not in copies:
            parts[component(name)] += numbers
            dtypes[dtype] = dtypes.get(dtype, 0) + numbers
    return {k: v for k, v in parts.items() if v}, dtypes, sum(parts.values()), copies


def stands_for(name: str, info: TensorInfo, found: dict[str, TensorInfo]) -> tuple[int, str]:
    """(how many original parameters a stored tensor stands for, the name of its storage)."""
    known = foreign.stands_for(name, info, found)
    if known is not None:
        return known
    stem, _, leaf = name.rpartition(".")
    if is_scale(name):
        return 0, info.dtype
    if leaf == "weight_packed":
        rows, words = info.shape
        columns = packed_columns(stem, words, found)
        return rows * columns, f"int{packed_bits(words, columns)} packed"
    if info.dtype in ("I8", "U8") and f"{stem}.weight_scale" in found:
        return info.numbers, "int8"
    if info.dtype == "F8_E4M3" and f"{stem}.weight_scale" in found:
        return info.numbers, "fp8"
    counts = info.dtype in tensors.FLOATS or info.dtype.startswith("GGUF")
    return (info.numbers, info.dtype) if counts else (0, info.dtype)


def is_scale(name: str) -> bool:
    """Whether a tensor only serves to read a packed weight: its scales, zeros, shape or order."""
    return name.endswith(("_scale", "_zero_point", ".weight_shape", ".weight_g_idx"))


def packed_columns(stem: str, words: int, found: dict[str, TensorInfo]) -> int:
    """Width of a packed weight: it is stored as the second number of the tensor weight_shape (16 bytes, read here)."""
    shape = found.get(f"{stem}.weight_shape")
    if shape is None:
        return words * 8  # only 4-bit files have been seen without it
    _, value = next(tensors.read({shape.name: shape}))
    return int(value[-1])


def packed_bits(words: int, columns: int) -> int:
    """Bits a code: the fewest for which `columns` codes fill `words` int32 words (only rows below 32 columns leave a choice)."""
    return next((bits for bits in range(1, 9) if -(-columns * bits // 32) == words), 8)


def tied_copies(found: dict[str, TensorInfo]) -> list[str]:
    """Output layers stored beside an embedding of the same shape, in a model whose config ties the two."""
    embeddings = [i.shape for n, i in found.items() if component(n) == "embedding"]
    return [n for n, i in found.items() if component(n) == "head" and n.endswith("weight") and i.shape in embeddings]


def quantization_name(config: Any, found: dict[str, TensorInfo] | None = None) -> str | None:
    """'int4 g64 (compressed-tensors)' and the like; None for a dense model."""
    if not isinstance(config, dict):
        return None
    known = foreign.name(config, found)
    if known is not None:
        return known
    method = str(config.get("quant_method", "quantized"))
    groups = config.get("config_groups") or {}
    names = []
    for group in groups.values():
        weights = (group or {}).get("weights") or {}
        if not weights:
            continue
        size = {"group": f" g{weights.get('group_size')}", "channel": " per channel"}.get(str(weights.get("strategy")), "")
        kind = {"float": "fp"}.get(str(weights.get("type")), str(weights.get("type", "int")))
        entry = (group or {}).get("input_activations") or {}
        inputs = f"{'fp' if entry.get('type') == 'float' else 'int'}{entry.get('num_bits', '?')}" if entry else ""
        inputs = f", {inputs} activations{'' if entry.get('dynamic') else ' (fixed scales)'}" if entry else ""
        names.append(f"{kind}{weights.get('num_bits', '?')}{size}{'' if weights.get('symmetric', True) else ' asym'}{inputs}")
    bits = f"int{config['bits']}" if "bits" in config else ""
    return f"{', '.join(names) or bits} ({method})".strip()


# ---- tokenizers ---------------------------------------------------------------------------------------------------


def tokens_hash(folder: str | Path) -> str:
    """sha256 over the token strings in id order, added tokens included. Raises UserError where the tokenizer can't be read.

    Equal hashes mean that id i is the same token in both: what a draft needs to be checked token by token.
    """
    return hash_tokens(vocabulary(Path(folder)))


def vocabulary(folder: Path) -> dict[str, int]:
    """{token: id} of a folder's tokenizer. Raises UserError where it can't be read."""
    try:
        if (folder / "tokenizer.json").is_file():
            from tokenizers import Tokenizer

            return Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab(with_added_tokens=True)
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(folder, local_files_only=True).get_vocab()
    except Exception as error:  # tokenizers raises bare Exception for every damage
        raise UserError(
            "The tokenizer in {folder} can't be read.",
            hint="Download its files again, or remove them to open the model without one.",
            kind="model",
            folder=str(folder),
            detail=repr(error),
        ) from error


def hash_tokens(vocabulary: dict[str, int]) -> str:
    """The hash of a vocabulary given as {token: id}."""
    digest = hashlib.sha256()
    for token, number in sorted(vocabulary.items(), key=lambda item: (item[1], item[0])):
        digest.update(f"{number}\0{token}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
