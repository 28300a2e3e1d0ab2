"""Encoder-decoder models as two graphs: what reads the source text, and what writes the target text with two caches.

encoder.onnx reads the source and gives, beside its hidden states, the keys and values that each decoder layer takes from them;
decoder.onnx takes those at every step, and the keys and values of what it wrote so far. So nothing of the source is computed twice,
and neither graph branches. The encoder's graph is that of a whole step of the decoder, of which only the cross-attention's cache is
asked for: what the rest computes isn't written.

Covers models that transformers calls ForConditionalGeneration and whose cache is an EncoderDecoderCache (T5). Texts that the decoder
begins with are of one length: it takes no padding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from core.errors import UserError
from core.export import parity
from core.export.trace import Plan, Signature, _Layer, parameters_of
from core.records import ENCODER_DECODERS, SourceInfo
from core.run import Run

ENCODER, DECODER = "encoder.onnx", "decoder.onnx"
WRITTEN = 48  # tokens that the check has both write


def is_one(info: SourceInfo) -> bool:
    return info.architecture.endswith("ForConditionalGeneration") and info.model_type in ENCODER_DECODERS


def _cache_name(model: nn.Module) -> str:
    return "cache" if "cache" in parameters_of(model) else "past_key_values"


class _Reader(nn.Module):
    def __init__(self, model: nn.Module, start: int):
        super().__init__()
        self.model, self.start = model, start

    def forward(self, *inputs):
        input_ids, attention_mask = inputs
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        begun = torch.full_like(input_ids[:, :1], self.start)
        out = self.model(
            input_ids=input_ids, attention_mask=attention_mask, decoder_input_ids=begun, use_cache=True, **{_cache_name(self.model): cache}
        )
        states = (state for layer in cache.cross_attention_cache.layers for state in (layer.keys, layer.values))
        return (out.encoder_last_hidden_state, *states)


class _Writer(nn.Module):
    def __init__(self, model: nn.Module, layers: int):
        super().__init__()
        self.model, self.layers = model, layers

    def forward(self, input_ids, encoder_attention_mask, *rest):
        count = 2 * self.layers
        own, read = rest[:count], rest[count:]
        crossed = []
        for index in range(self.layers):
            layer = DynamicLayer()
            layer.keys, layer.values, layer.is_initialized = read[2 * index], read[2 * index + 1], True
            layer.dtype, layer.device = layer.keys.dtype, layer.keys.device
            crossed.append(layer)
        cache = EncoderDecoderCache(
            Cache(layers=[_Layer(own[2 * i], own[2 * i + 1]) for i in range(self.layers)]),
            Cache(layers=crossed),
        )
        cache.is_updated = dict.fromkeys(range(self.layers), True)  # so nothing is computed from the hidden states
        hidden = encoder_attention_mask.unsqueeze(-1).to(read[0].dtype)  # only its length is looked at
        out = self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=hidden),
            attention_mask=encoder_attention_mask,
            decoder_input_ids=input_ids,
            use_cache=True,
            **{_cache_name(self.model): cache},
        )
        states = (state for layer in cache.self_attention_cache.layers for state in (layer.keys, layer.values))
        return (out.logits, *states)


def start_of(model: nn.Module) -> int:
    """The token that a target text begins with. Raises UserError where the model names none."""
    start = getattr(model.config, "decoder_start_token_id", None)
    if start is None:
        raise UserError(
            "{architecture} doesn't say which token its answers begin with.",
            hint="Set decoder_start_token_id in config.json, and import the model again.",
            kind="model",
            architecture=type(model).__name__,
        )
    return int(start)


def plans(model: nn.Module) -> dict[str, Plan]:
    """{file: plan} of the two graphs. Raises UserError as `start_of` does."""
    start, vocabulary = start_of(model), model.config.vocab_size
    batch, source, new, past = 2, 5, 3, 4
    ids = torch.arange(batch * source).reshape(batch, source) % vocabulary
    mask = torch.ones(batch, source, dtype=torch.int64)
    mask[1, -1] = 0  # a sample without padding would let the tracer drop the mask
    reader = _Reader(model, start)
    with torch.no_grad():
        hidden, *states = reader(ids, mask)
    reading = Signature(
        dict.fromkeys(("input_ids", "attention_mask"), ("batch", "source")), {"last_hidden_state": ("batch", "source", hidden.shape[2])}
    )
    writing = Signature({"input_ids": ("batch", "sequence"), "encoder_attention_mask": ("batch", "source")})
    writing.outputs["logits"] = ("batch", "sequence", vocabulary)
    own: list[Tensor] = []
    layers = len(states) // 2
    for index, state in enumerate(states):
        name, (_, heads, _, dim) = f"{index // 2}.{{}}.{'value' if index % 2 else 'key'}", state.shape
        own.append(torch.zeros(batch, heads, past, dim))
        writing.inputs["past_key_values." + name.format("decoder")] = ("batch", heads, "past", dim)
        writing.outputs["present." + name.format("decoder")] = ("batch", heads, "total", dim)
        reading.outputs["present." + name.format("encoder")] = ("batch", heads, "source", dim)
    for index, state in enumerate(states):
        name = f"past_key_values.{index // 2}.encoder.{'value' if index % 2 else 'key'}"
        writing.inputs[name] = ("batch", state.shape[1], "source", state.shape[3])
    begun = torch.arange(batch * new).reshape(batch, new) % vocabulary
    return {
        ENCODER: Plan(reader, (ids, mask), reading),
        DECODER: Plan(_Writer(model, layers), (begun, mask, *own, *states), writing),
    }


def reference(model: Any, tokenizer: Any, run: Run) -> dict[str, np.ndarray]:
    """What the torch model answers: its own greedy `generate`, and the logits of the same texts, each row alone and unpadded."""
    ids = parity.sample_ids(tokenizer, model.config.vocab_size, 64)
    kept: dict[str, np.ndarray] = {"ids": ids, "start": np.array(start_of(model)), "pad": np.array(model.config.pad_token_id or 0)}
    ends, model.generation_config.eos_token_id = model.generation_config.eos_token_id, None  # on to the last token
    try:
        wrote = model.generate(torch.from_numpy(ids)[None], do_sample=False, num_beams=1, max_new_tokens=WRITTEN)[0]
    finally:
        model.generation_config.eos_token_id = ends
    with torch.no_grad():
        kept["greedy"] = wrote[1:].numpy()
        for index, row in enumerate(parity._rows(ids)):
            run.check_cancelled()
            logits = model(input_ids=torch.from_numpy(row)[None], decoder_input_ids=wrote[None, :-1]).logits[0]
            kept[f"row{index}"], kept[f"row{index}_answer"] = row, logits.float().numpy()
        whole = model(input_ids=torch.from_numpy(ids)[None], decoder_input_ids=wrote[None, :-1]).logits[0].float()
    kept["answer"] = whole.numpy()
    return kept
