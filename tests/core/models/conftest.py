"""Fixtures of the models' tests: a run that records, pico models of other architectures, damaged folders."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from core.run import Run
from tests.conftest import make_pico, make_tokenizer


class Recorder(Run):
    """A Run that keeps what it's told; `cancel_at` is a stage at whose first step it's cancelled."""

    def __init__(self, cancel_at: str | None = None):
        self.events = []
        super().__init__("job", self._take)
        self.cancel_at = cancel_at

    def progress(self, stage, done, total, left=None, note="", force=True):
        super().progress(stage, done, total, left, note)  # each, however soon after the last

    def _take(self, event):
        self.events.append(event)
        if self.cancel_at and getattr(event, "stage", None) == self.cancel_at and getattr(event, "done", 0) > 0:
            self.control("cancel")

    @property
    def stages(self) -> list[str]:
        seen = [e.stage for e in self.events if hasattr(e, "stage")]
        return list(dict.fromkeys(seen))


@pytest.fixture
def run() -> Recorder:
    return Recorder()


@pytest.fixture(scope="session")
def verifier():
    """One plain process for all tests: its imports take seconds."""
    from core.models.verify import Verifier

    with Verifier() as made:
        yield made


@pytest.fixture
def copy_of(tmp_path):
    """copy_of(folder) -> a copy that a test may damage."""

    def copy(folder: Path, name: str = "copy") -> Path:
        return Path(shutil.copytree(folder, tmp_path / name))

    return copy


@pytest.fixture(scope="session")
def pico_bf16(tmp_path_factory) -> Path:
    return make_pico(tmp_path_factory.mktemp("pico") / "pico-bf16", dtype="bfloat16", seed=3)


@pytest.fixture(scope="session")
def pico_untied(tmp_path_factory) -> Path:
    return make_pico(tmp_path_factory.mktemp("pico") / "pico-untied", tied=False, seed=4)


def save_other(folder: Path, model) -> Path:
    model.save_pretrained(folder)
    make_tokenizer(folder)
    return folder


@pytest.fixture(scope="session")
def pico_gpt2(tmp_path_factory) -> Path:
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=4, n_positions=128, bos_token_id=0, eos_token_id=0)
    return save_other(tmp_path_factory.mktemp("pico") / "pico-gpt2", GPT2LMHeadModel(config))


@pytest.fixture(scope="session")
def pico_bert(tmp_path_factory) -> Path:
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=300, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=64
    )
    return save_other(tmp_path_factory.mktemp("pico") / "pico-bert", BertModel(config))


def edit_config(folder: Path, **changes) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    for key, value in changes.items():
        if value is None:
            config.pop(key, None)
        else:
            config[key] = value
    path.write_text(json.dumps(config))


@pytest.fixture(scope="session")
def edit():
    return edit_config


def weights(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    out = {}
    for path in sorted(folder.glob("*.safetensors")):
        out |= load_file(path)
    return out


@pytest.fixture
def sharded():
    """sharded(folder) -> the same folder with its weights cut into two files and an index."""

    def cut(folder: Path) -> Path:
        from safetensors.torch import save_file

        state = weights(folder)
        (folder / "model.safetensors").unlink()
        names = sorted(state)
        index = {}
        for number, part in enumerate((names[: len(names) // 2], names[len(names) // 2 :]), 1):
            file = f"model-{number:05}-of-00002.safetensors"
            save_file({n: state[n] for n in part}, folder / file, metadata={"format": "pt"})
            index |= dict.fromkeys(part, file)
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
        return folder

    return cut


def quantized(model, bits: int, group: int | None, symmetric: bool, dtype: torch.dtype) -> None:
    """Replaces every linear layer but the head by a packed one."""
    from core.models.blocks import linears, replace
    from core.models.packed import PackedLinear, quantize

    for name, layer in linears(model):
        replace(model, name, PackedLinear.from_linear(layer, quantize(layer.weight, bits, group, symmetric, scale_dtype=dtype)))


@pytest.fixture
def packed_llama(tmp_path, pico_llama):
    """packed_llama(bits, group, symmetric=True, source=pico_llama) -> (saved folder, the model in memory)."""
    from core.models.load import load, storage_dtype
    from core.models.save import save

    def make(bits: int, group: int | None, symmetric: bool = True, source: Path = pico_llama):
        loaded = load(source)
        quantized(loaded.model, bits, group, symmetric, storage_dtype(loaded.info))
        folder = tmp_path / f"w{bits}-{group}-{symmetric}"
        folder.mkdir()
        save(loaded.model, folder, source, run=Run())
        return folder, loaded.model

    return make


def write_gguf(folder: Path, to: Path, kind: str = "F32", architecture: str = "llama", tokenizer: bool = True) -> Path:
    """A GGUF file of a Llama folder, as llama.cpp's converter writes it: rotary rows of q and k permuted, linear weights as `kind`."""
    import gguf
    import numpy as np

    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(to, architecture)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(config["vocab_size"])
    if tokenizer:
        described = json.loads((folder / "tokenizer.json").read_text())
        vocabulary = sorted(described["model"]["vocab"].items(), key=lambda item: item[1])
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_list([token for token, _ in vocabulary])
        writer.add_token_types([3 if token.startswith("<|") else 1 for token, _ in vocabulary])
        writer.add_token_merges([" ".join(m) if isinstance(m, list) else m for m in described["model"]["merges"]])
        writer.add_eos_token_id(0)
        writer.add_bos_token_id(0)
        writer.add_chat_template("{% for m in messages %}{{ m['content'] }}{% endfor %}")
    names = {
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
        "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    }  # fmt: skip
    for name, tensor in weights(folder).items():
        array = tensor.float().numpy()
        if name.startswith("model.layers."):
            _, _, layer, *middle, leaf = name.split(".")
            middle = ".".join(middle)
            heads = {"self_attn.q_proj": config["num_attention_heads"], "self_attn.k_proj": config["num_key_value_heads"]}.get(middle)
            if heads:
                rows, columns = array.shape
                array = array.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
            target = f"blk.{layer}.{names[middle]}.{leaf}"
        else:
            target = {
                "model.embed_tokens.weight": "token_embd.weight",
                "model.norm.weight": "output_norm.weight",
                "lm_head.weight": "output.weight",
            }[name]
        array = np.ascontiguousarray(array)
        if array.ndim == 2 and kind != "F32":
            quant = gguf.GGMLQuantizationType[kind]
            writer.add_tensor(target, gguf.quants.quantize(array, quant), raw_dtype=quant)
        else:
            writer.add_tensor(target, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return to
