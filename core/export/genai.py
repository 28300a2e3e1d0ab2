"""What onnxruntime-genai and Transformers.js want to find beside a graph.

genai_config.json names the inputs and outputs of a text generator and how it samples; with it onnxruntime-genai opens the folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.export.runtime import GRAPH
from core.workspace import read_json

GENAI = "genai_config.json"
LONGEST = 4096  # tokens that a generation takes unless it asks for more


def genai_config(folder: Path, signature: Any, context: int | None, in_place: bool = False) -> dict[str, Any]:
    """For the text generator whose configurations are in `folder` and whose graph has `signature` (trace.Signature).

    in_place: its attention writes keys and values behind those before, so that memory for as many as a generation may have is taken
    at once (past_present_share_buffer). That's for layers alike only; otherwise the cache is handed over grown, and layers may have
    different numbers of heads; those of the first are named. Its greedy tokens are the graph's own: sampling is off unless the
    model's generation_config asks for it.
    """
    config = read_json(folder / "config.json")
    stored = folder / "generation_config.json"
    generation = read_json(stored) if stored.is_file() else {}
    text = config.get("text_config", config)
    ends = generation.get("eos_token_id", text.get("eos_token_id"))
    first = ends[0] if isinstance(ends, list) and ends else ends
    pad = generation.get("pad_token_id", text.get("pad_token_id"))
    _, kv_heads, _, head_size = signature.inputs["past_key_values.0.key"]
    inputs = {name: name for name in ("input_ids", "attention_mask", "position_ids") if name in signature.inputs}
    longest = context or LONGEST
    alike = len({axes[1::2] for name, axes in signature.inputs.items() if name.startswith("past_key_values.")}) == 1
    return {
        "model": {
            "type": "decoder",
            "bos_token_id": _number(generation.get("bos_token_id", text.get("bos_token_id"))),
            "eos_token_id": ends if ends is not None else 0,
            "pad_token_id": _number(pad if pad is not None else first),
            "context_length": longest,
            "vocab_size": signature.outputs["logits"][-1],
            "decoder": {
                "session_options": {"provider_options": []},
                "filename": GRAPH,
                "head_size": head_size,
                "hidden_size": text.get("hidden_size", text.get("n_embd")),
                "num_attention_heads": text.get("num_attention_heads", text.get("n_head")),
                "num_hidden_layers": sum(name.endswith(".key") for name in signature.outputs),
                "num_key_value_heads": kv_heads,
                "inputs": inputs | {"past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"},
                "outputs": {"logits": "logits", "present_key_names": "present.%d.key", "present_value_names": "present.%d.value"},
            },
        },
        "search": {
            "do_sample": bool(generation.get("do_sample", False)),
            "max_length": min(longest, LONGEST),
            "min_length": 0,
            "num_beams": 1,
            "num_return_sequences": 1,
            "past_present_share_buffer": in_place and alike,
            "repetition_penalty": generation.get("repetition_penalty") or 1.0,
            "temperature": generation.get("temperature") or 1.0,
            "top_k": generation.get("top_k") or 50,
            "top_p": generation.get("top_p") or 1.0,
        },
    }


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
