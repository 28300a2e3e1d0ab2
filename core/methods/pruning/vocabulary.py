"""Vocabulary: the rows of the embedding and of the output layer that the person's text never uses are dropped, the tokenizer with them.

As in 'Load What You Need: Smaller Versions of Multilingual BERT' (Abdaoui, Pradel & Sigel, 2020), for byte-pair encoding, WordPiece and
Unigram tokenizers. What's kept: tokens seen in the text, whatever they're merged from, single bytes and characters, special and added
tokens. So the text is cut into the same tokens as before, and any other text still into tokens, only more of them. Ids are numbered anew
everywhere: tokenizer, config, generation config. The result has another vocabulary than the original: their perplexities aren't
comparable, bits per byte are.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from core.errors import UserError
from core.methods import Given, Outcome, estimates, method
from core.models import draft_words, load, surgery
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run
from core.workspace import read_json

PIECE = 200_000  # characters that are turned into tokens at once
STALE = ("vocab.json", "merges.txt", "vocab.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.bpe", "bpe.codes")
WORD_END = "▁"  # how SentencePiece writes a space


class VocabularyParams(Params):
    at_least: int = knob(
        1,
        title="Seen at least",
        unit="times",
        help="Tokens that the text has fewer times than this go. 1 keeps the text's own tokens all; more makes the file smaller, and rare "
        "words become several tokens.",
        ge=1,
        le=1_000_000,
    )


def estimate_vocabulary(params: VocabularyParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    return {
        "memory": estimates.resident(info, device),
        "notes": ["How much smaller depends on the text; known once it has been read"],
    }


@method(
    "vocabulary",
    title="Vocabulary",
    family="pruning",
    summary="Seconds. Drops the words that your text never uses. In a small model the embedding is a large part of the file.",
    needs=("text",),
    paper="https://arxiv.org/abs/2010.05609",
    estimate=estimate_vocabulary,
    label=lambda params: "vocabulary of the text" if params.at_least == 1 else f"vocabulary seen {params.at_least}+ times",
    rank=36,
)
def vocabulary(model: Any, params: VocabularyParams, run: Run, given: Given) -> Outcome:
    """Cuts rows of the embedding and the output layer. Where every token is used, every bit stays as it was."""
    plain = plain_tokenizer(given)
    size = model.get_input_embeddings().weight.shape[0]
    counts = seen(given, run)
    named = set(_named_ids(model.config.get_text_config().to_dict()))
    generation = given.folder / "generation_config.json"
    if generation.is_file():
        named |= set(_named_ids(read_json(generation)))
    used = {i for i, count in counts.items() if count >= params.at_least} | named
    keep = [i for i in sorted(closure(plain, used)) if i < size]
    if len(keep) == size:
        return Outcome(model, ("Every token of the vocabulary is used: nothing was dropped.",))
    new = {old: number for number, old in enumerate(keep)}
    files = tokenizer_files(plain, given.folder, new)
    before = sum(p.numel() for p in model.parameters())
    model = surgery.cut_vocabulary(model, torch.tensor(keep))
    after = sum(p.numel() for p in model.parameters())
    if generation.is_file():
        files["generation_config.json"] = _bytes(_renumbered_ids(read_json(generation), new))
    files |= draft_words.renumbered(given.folder, new)
    notes = [
        f"Vocabulary {size:,} -> {len(keep):,} tokens: what {given.text.name} uses, and what any other text can be written with. "
        f"{100 * (1 - after / before):.1f} % of all parameters are gone."
    ]
    notes += checked(given, files, new, params.at_least, run)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes), files=files)


def plain_tokenizer(given: Given) -> dict[str, Any]:
    """The tokenizer as the data that tokenizer.json holds. Raises UserError where it has no such form."""
    backend = getattr(given.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise UserError(
            "The tokenizer of {name} isn't of a kind that can be rebuilt.",
            hint="Only tokenizers with a tokenizer.json can.",
            kind="model",
            name=given.info.name,
        )
    return json.loads(backend.to_str())


def seen(given: Given, run: Run) -> Counter[int]:
    """How often each token occurs in the text, and in the chat template, with the tokens that are put around a text."""
    counts: Counter[int] = Counter()
    for piece in run.track(list(_pieces(given.text.content)), "Reading the text"):
        counts.update(given.tokenizer(piece, add_special_tokens=False, verbose=False)["input_ids"])
    counts.update(given.tokenizer("a")["input_ids"])
    template = getattr(given.tokenizer, "chat_template", None)
    for text in template.values() if isinstance(template, dict) else [template] if template else []:
        for token in given.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]:
            counts[token] += 1_000_000  # kept whatever the text has
    return counts


def _pieces(content: str) -> Iterable[str]:
    """The text in pieces that end where a line does, so that no token is cut."""
    start = 0
    while start < len(content):
        end = content.find("\n", start + PIECE) + 1 or len(content)
        yield content[start:end]
        start = end


# ---- which stay -----------------------------------------------------------------------------------------------------------------


def closure(plain: dict[str, Any], used: Iterable[int]) -> set[int]:
    """The ids in `used`, those that they're made of, those that everything can be written with, and the added tokens."""
    model = plain["model"]
    ids = _vocabulary(model)
    tokens = {i: token for token, i in ids.items()}
    keep = {i for i in used if i in tokens} | {entry["id"] for entry in plain["added_tokens"]}
    prefix = model.get("continuing_subword_prefix") or ""
    for token, i in ids.items():
        bare = token.removeprefix(prefix) if prefix else token
        byte = len(token) == 6 and token.startswith("<0x") and token.endswith(">")
        if len(bare.removeprefix(WORD_END)) <= 1 or byte or token == model.get("unk_token"):
            keep.add(i)
    if model["type"] == "Unigram" and model.get("unk_id") is not None:
        keep.add(model["unk_id"])
    parts: dict[str, list[tuple[str, str]]] = {}
    for left, right in _merges(model):
        parts.setdefault(_merged(left, right, prefix), []).append((left, right))
    todo = [tokens[i] for i in keep if i in tokens]
    while todo:
        for pair in parts.get(todo.pop(), ()):
            for part in pair:
                if part in ids and ids[part] not in keep:
                    keep.add(ids[part])
                    todo.append(part)
    return keep


def _vocabulary(model: dict[str, Any]) -> dict[str, int]:
    if model["type"] == "Unigram":
        return {piece: i for i, (piece, _) in enumerate(model["vocab"])}
    return model["vocab"]


def _merges(model: dict[str, Any]) -> list[tuple[str, str]]:
    return [tuple(m.split(" ", 1)) if isinstance(m, str) else tuple(m) for m in model.get("merges") or ()]


def _merged(left: str, right: str, prefix: str) -> str:
    return left + (right.removeprefix(prefix) if prefix else right)


# ---- the files ------------------------------------------------------------------------------------------------------------------


def tokenizer_files(plain: dict[str, Any], folder: Path, new: dict[int, int]) -> dict[str, bytes | None]:
    """The tokenizer's files with the ids `new` (old -> new) alone; None marks those that would be stale and go."""
    made = json.loads(json.dumps(plain))
    model = made["model"]
    prefix = model.get("continuing_subword_prefix") or ""
    if model["type"] == "Unigram":
        model["vocab"] = [entry for i, entry in enumerate(model["vocab"]) if i in new]
        if model.get("unk_id") is not None:
            model["unk_id"] = new[model["unk_id"]]
    else:
        model["vocab"] = {token: new[i] for token, i in model["vocab"].items() if i in new}
    if "merges" in model:
        have = model["vocab"]
        pairs = zip(model["merges"], _merges(model), strict=True)
        model["merges"] = [entry for entry, pair in pairs if all(t in have for t in (*pair, _merged(*pair, prefix)))]
    made["added_tokens"] = [entry | {"id": new[entry["id"]]} for entry in made["added_tokens"] if entry["id"] in new]
    made["post_processor"] = _renumbered_processor(made.get("post_processor"), new)
    if made.get("padding"):
        made["padding"]["pad_id"] = new.get(made["padding"]["pad_id"], 0)
    files: dict[str, bytes | None] = {"tokenizer.json": _bytes(made, indent=None)}
    config = folder / "tokenizer_config.json"
    if config.is_file():
        entry = read_json(config)
        if "added_tokens_decoder" in entry:
            decoder = entry["added_tokens_decoder"].items()
            entry["added_tokens_decoder"] = {str(new[int(i)]): token for i, token in decoder if int(i) in new}
        files["tokenizer_config.json"] = _bytes(entry)
    if (folder / "added_tokens.json").is_file():
        files["added_tokens.json"] = _bytes({token: new[i] for token, i in read_json(folder / "added_tokens.json").items() if i in new})
    return files | {name: None for name in STALE if (folder / name).is_file()}


def _renumbered_processor(entry: Any, new: dict[int, int]) -> Any:
    """A post-processor with the new ids, whatever its kind: 'ids': [..] of a template, and pairs [token, id] of the older kinds."""
    if isinstance(entry, dict):
        out = {}
        for key, value in entry.items():
            if key == "ids" and isinstance(value, list):
                out[key] = [new[i] for i in value]
            elif key in ("sep", "cls") and isinstance(value, list) and len(value) == 2 and isinstance(value[1], int):
                out[key] = [value[0], new[value[1]]]
            else:
                out[key] = _renumbered_processor(value, new)
        return out
    return [_renumbered_processor(value, new) for value in entry] if isinstance(entry, list) else entry


_LISTS = ("suppress_tokens", "begin_suppress_tokens")


def _named_ids(config: dict[str, Any]) -> list[int]:
    """The ids that a config names: 'eos_token_id' and the like, one or several."""
    out: list[int] = []
    for key, value in config.items():
        if key.endswith("_token_id"):
            out += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, int) and v >= 0]
    return out


def _renumbered_ids(config: dict[str, Any], new: dict[int, int]) -> dict[str, Any]:
    out = dict(config)
    for key, value in config.items():
        if key.endswith("_token_id") and value is not None:
            out[key] = surgery.renumbered(value, new)
        elif key in _LISTS and value:
            out[key] = [new[i] for i in value if i in new]
        elif key == "bad_words_ids" and value:
            out[key] = [[new[i] for i in words] for words in value if all(i in new for i in words)] or None
    return out


def _bytes(data: Any, indent: int | None = 2) -> bytes:
    return (json.dumps(data, ensure_ascii=False, indent=indent) + "\n").encode("utf-8")


def checked(given: Given, files: dict[str, bytes | None], new: dict[int, int], at_least: int, run: Run) -> list[str]:
    """Loads the new tokenizer and reads the text with both. Raises UserError where it isn't given back alike.

    Returns what has to be said: how many tokens more the text takes now, where it does.
    """
    with tempfile.TemporaryDirectory(prefix="spokeshave-tokenizer-") as home:
        for path in given.folder.iterdir():
            if path.name.startswith(("tokenizer", "special_tokens", "added_tokens", "config.json")) and path.is_file():
                (Path(home) / path.name).write_bytes(path.read_bytes())
        for name, content in files.items():
            if content is not None:
                (Path(home) / name).write_bytes(content)
        tokenizer = load.load_tokenizer(Path(home))
    before = after = 0
    for piece in run.track(list(_pieces(given.text.content)), "Checking the tokenizer"):
        old = given.tokenizer(piece, add_special_tokens=False, verbose=False)["input_ids"]
        now = tokenizer(piece, add_special_tokens=False, verbose=False)["input_ids"]
        before, after = before + len(old), after + len(now)
        alike = [new.get(i) for i in old] == now if at_least == 1 else tokenizer.decode(now) == given.tokenizer.decode(old)
        if not alike:
            raise UserError(
                "The smaller tokenizer reads {text} in another way than the original does, so it can't be used.",
                hint="Please report it with the model's name.",
                kind="check",
                text=given.text.name,
            )
    if after == before:
        return [f"{given.text.name} is read as the same {before:,} tokens; text unlike it takes more tokens than before."]
    return [f"{given.text.name} now takes {after:,} tokens instead of {before:,} ({100 * (after / before - 1):.1f} % more)."]
