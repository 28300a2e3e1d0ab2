"""A transformers model made faster for decoding, with the same outputs to float32's rounding.

    quicken(model)        # in place: the model is for decoding from here on

Linear layers are laid out for few rows where that's measured to pay (kernels.Prepacked); blocks of Llama's plan get one
product for queries, keys and values, one for gate and up, fused norms, and attention written for few rows. A block takes
the new form only where its output on a probe agrees with the old one's. Covers float32 on a CPU; elsewhere, and for
blocks of another plan, nothing is changed but what's said. Caches, masks and positions stay transformers' own.

Asked for bfloat16, the linear layers multiply in it and the rest stays float32 (kernels.Half).

A model whose weights came packed (core.models.load, packed=True) keeps them packed, on its own grid, in the kernels for
8 and 4 bits; activations then pass through bfloat16, so its outputs are as exact as that. Layers whose inputs are rounded to
8 bits too multiply integers (integer.Product8), as exact as float32. Grids without a kernel (5 and 6 bits, groups at 8 bits,
float8) stay as they are, which is slower than bfloat16: `Quickened.slow` counts them.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers.pytorch_utils import Conv1D

from core.decode.kernels import Codes4, Codes8, Half, Prepacked, can_int4, can_int8, can_prepack, dense_of, prepacking_pays
from core.models import blocks
from core.models.integer import Product8, can_multiply
from core.models.packed import PackedLinear, QuantWeight

FEW = 32  # rows up to which attention is two small products; beyond, torch's own kernel is faster
CLOSE = 2e-4  # the most that a block's new form may differ, as a share of its output's size
PLAN = {"self_attn", "mlp", "input_layernorm", "post_attention_layernorm"}
ATTENTION = {"q_proj", "k_proj", "v_proj", "o_proj"}
MLP = {"gate_proj", "up_proj", "down_proj"}


@dataclass
class Quickened:
    """What was done. prepacked: linear layers laid out anew; fused: blocks in the new form, of `blocks`; why: what wasn't, and why."""

    prepacked: int = 0
    fused: int = 0
    blocks: int = 0
    packed: int = 0  # layers that stay packed, in a kernel for their grid
    slow: int = 0  # layers that stay packed without one
    why: str = ""


def _parts(block: nn.Module) -> dict[str, tuple[nn.Module, ...]]:
    """The linear layers of a block of the plan, those with the same input together."""
    attention, mlp = block.self_attn, block.mlp
    return {
        "qkv": (attention.q_proj, attention.k_proj, attention.v_proj),
        "out": (attention.o_proj,),
        "gate_up": (mlp.gate_proj, mlp.up_proj),
        "down": (mlp.down_proj,),
    }


class Rope:
    """Rotary angles of one forward, prepared once for all its blocks."""

    def __init__(self):
        self._sin: Tensor | None = None
        self._ready: tuple[Tensor, Tensor] | None = None

    def of(self, angles: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """angles: cos and sin, (1, n, d). Returns cos and sin with the first half's sign turned, (1, 1, n, d)."""
        cos, sin = angles
        if sin is not self._sin:
            half = sin.shape[-1] // 2
            self._ready = cos[:, None], torch.cat([-sin[..., :half], sin[..., half:]], -1)[:, None]
            self._sin = sin
        return self._ready


class Block(nn.Module):
    """A block of Llama's plan: norm, attention with grouped queries and rotary positions, norm, gated MLP."""

    def __init__(self, old: nn.Module, rope: Rope, kernel) -> None:
        super().__init__()
        attention, mlp = old.self_attn, old.mlp
        self.layer_idx, self.head_dim, self.scaling = attention.layer_idx, attention.head_dim, attention.scaling
        self.groups = attention.num_key_value_groups
        self.kv_heads = attention.k_proj.out_features // self.head_dim
        self.heads = self.kv_heads * self.groups
        # Plain attributes: looking up a parameter goes through nn.Module's __getattr__, ten times a block.
        self.__dict__["norms"] = tuple((n.weight, n.variance_epsilon) for n in (old.input_layernorm, old.post_attention_layernorm))
        for part, layers in _parts(old).items():
            setattr(self, part, _joined(layers, kernel))
        self.activation = mlp.act_fn
        self.rope = rope
        self.attention_type = getattr(old, "attention_type", None)

    def forward(
        self, hidden_states: Tensor, attention_mask=None, position_embeddings=None, cache=None, past_key_values=None, **_
    ) -> Tensor:
        """hidden_states: (1, n, width); attention_mask: (1, 1, n, keys), boolean or additive, or None. Returns (1, n, width)."""
        n = hidden_states.shape[1]
        before, after = self.norms
        x = normed(hidden_states, *before)
        mixed = self.qkv(x).view(1, n, self.heads + 2 * self.kv_heads, self.head_dim).transpose(1, 2)  # (1, heads, n, d)
        turning, values = mixed[:, : self.heads + self.kv_heads], mixed[:, self.heads + self.kv_heads :]
        cos, sin = self.rope.of(position_embeddings)
        half = self.head_dim // 2
        turned = torch.cat([turning[..., half:], turning[..., :half]], -1)
        turned = torch.addcmul(turning * cos, turned, sin)
        queries, keys = turned[:, : self.heads], turned[:, self.heads :]
        kept = cache if cache is not None else past_key_values
        if kept is not None:
            keys, values = kept.update(keys, values, self.layer_idx)
        hidden_states = hidden_states + self.out(self._attend(queries, keys, values, attention_mask))
        x = normed(hidden_states, *after)
        gate, up = self.gate_up(x).chunk(2, -1)
        return hidden_states + self.down(self.activation(gate) * up)

    def _attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """queries: (1, heads, n, d); keys, values: (1, kv heads, m, d) -> (1, n, heads d)."""
        n, m = queries.shape[2], keys.shape[2]
        if n > FEW:
            if self.groups > 1:
                keys, values = (t.repeat_interleave(self.groups, 1) for t in (keys, values))
            out = scaled_dot_product_attention(queries, keys, values, mask, is_causal=mask is None, scale=self.scaling)
            return out.transpose(1, 2).reshape(1, n, -1)
        queries = queries.reshape(self.kv_heads, self.groups * n, self.head_dim)
        scores = torch.bmm(queries * self.scaling, keys[0].transpose(1, 2))  # (kv heads, groups n, m)
        if mask is None and n > 1:  # as transformers means it: only the text so far, and none before it
            mask = torch.ones(1, 1, n, m, dtype=torch.bool).tril_()
        if mask is not None:
            open_ = scores.view(self.kv_heads, self.groups, n, m)
            if mask.dtype == torch.bool:
                open_.masked_fill_(~mask[0], -math.inf)
            else:
                open_ += mask[0]
        out = torch.bmm(scores.softmax(-1), values[0])  # (kv heads, groups n, d)
        return out.view(self.heads, n, self.head_dim).transpose(0, 1).reshape(1, n, -1)


def normed(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """x / sqrt(mean(x^2) + epsilon) weight, over the last dimension: half the time of torch.rms_norm on one row."""
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x * torch.rsqrt(length * length / x.shape[-1] + epsilon) * weight


def _joined(layers: tuple[nn.Module, ...], kernel) -> nn.Module:
    """One linear layer for several with the same input, their outputs one after another."""
    weights = [dense_of(layer)[0] for layer in layers]
    return kernel(torch.cat(weights) if len(weights) > 1 else weights[0], _joined_bias(layers))


def _joined_bias(layers: Sequence[nn.Module]) -> Tensor | None:
    if all(layer.bias is None for layer in layers):
        return None
    return torch.cat([torch.zeros(layer.out_features) if layer.bias is None else layer.bias.float() for layer in layers])


def joined_packed(layers: Sequence[PackedLinear]) -> nn.Module | None:
    """One kernel for packed layers with the same input and grid; None where there's none for that grid."""
    quants = [layer.quant for layer in layers]
    first = quants[0]
    alike = all((q.bits, q.group_size, q.symmetric, q.kind) == (first.bits, first.group_size, first.symmetric, first.kind) for q in quants)
    if not alike or first.kind != "int":
        return None
    if any(layer.activation for layer in layers):
        return _joined_integer(layers, quants)
    codes, scale = torch.cat([q.codes for q in quants]), torch.cat([q.scale for q in quants])
    zero = None if first.zero is None else torch.cat([q.zero for q in quants])
    if first.bits == 8 and scale.shape[1] == 1 and can_int8(codes.device):
        return Codes8(codes, scale, zero, _joined_bias(layers))
    if first.bits <= 4 and can_int4():
        try:
            return Codes4(codes, scale, zero, _joined_bias(layers))
        except ValueError:  # no group of the kernel's fits
            return None
    return None


def _joined_integer(layers: Sequence[PackedLinear], quants: Sequence[QuantWeight]) -> Product8 | None:
    """One product of integers for layers whose inputs are rounded alike; None where they aren't, or there's no such product here."""
    first, given = layers[0], quants[0]
    alike = all(layer.activation == first.activation and _same(layer.input_scale, first.input_scale) for layer in layers)
    alike = alike and all(_same(layer.input_zero_point, first.input_zero_point) for layer in layers)
    fits = given.bits == 8 and given.symmetric and given.scale.shape[1] == 1 and first.activation is not None
    if not (alike and fits and first.activation.kind == "int" and given.codes.device.type == "cpu" and can_multiply()):
        return None
    codes, scale = torch.cat([q.codes for q in quants]), torch.cat([q.scale for q in quants])
    return Product8(codes, scale, first.activation, _joined_bias(layers), first.input_scale, first.input_zero_point)


def _same(one: Tensor | None, other: Tensor | None) -> bool:
    return one is other or (one is not None and other is not None and torch.equal(one, other))


def dense_kernel(weight: Tensor, bias: Tensor | None = None) -> nn.Linear:
    """torch's own linear layer around a weight."""
    with torch.device("meta"):
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    layer.weight = nn.Parameter(weight.detach(), requires_grad=False)
    if bias is not None:
        layer.bias = nn.Parameter(bias.detach(), requires_grad=False)
    return layer


@torch.inference_mode()
def quicken(model: nn.Module, half: bool = False) -> Quickened:
    """Makes the model faster for decoding, in place, and says what was done. Twice is once.

    half: linear layers multiply in bfloat16, all else stays in float32: as fast as bfloat16 throughout, and rather more exact.

    The model can't be trained or saved afterwards. Memory: the weights are laid out anew one after another, so one layer's
    more at most; an output layer tied to the embedding becomes a second copy of it.
    """
    done = Quickened()
    if getattr(model, "_quickened", None) is not None:
        return model._quickened
    layers = [m for m in model.modules() if type(m) in (nn.Linear, Conv1D) or isinstance(m, PackedLinear)]
    packed = [m for m in layers if isinstance(m, PackedLinear)]
    weights = [m.weight.t() if type(m) is Conv1D else m.weight for m in layers if not isinstance(m, PackedLinear)]
    if not layers or not all(can_prepack(w) for w in weights) or any(m.dtype != torch.float32 or m._like.is_cuda for m in packed):
        done.why = "only float32 weights on a CPU are laid out anew"
    else:
        kernel = Half if half else Prepacked if prepacking_pays(weights) else dense_kernel
        # What's stored in bfloat16 loses nothing in it, and beside packed layers float32's rounding isn't kept anyway.
        if packed and kernel is Prepacked and all(torch.equal(w, w.to(torch.bfloat16).float()) for w in weights):
            kernel = Half
        del weights, layers
        done.fused, done.blocks = fuse(model, kernel)
        done.packed, done.slow = _replace_packed(model) if packed else (0, 0)
        done.packed += sum(isinstance(m, (Codes4, Codes8, Product8)) for b in model.modules() if isinstance(b, Block) for m in b.children())
        if kernel is not dense_kernel:
            done.prepacked = replace_linears(model, kernel)
        else:
            done.why = "oneDNN's layout isn't faster here"
    model._quickened = done
    return done


def replace_linears(model: nn.Module, kernel) -> int:
    """Gives every linear layer that's left this kernel, the output layer's included. Returns how many."""
    count = 0
    for name, module in list(model.named_modules()):
        if type(module) in (nn.Linear, Prepacked, Conv1D) and not isinstance(module, kernel):
            weight = module.weight.t() if isinstance(module, Conv1D) else dense_of(module)[0]
            blocks.replace(model, name, kernel(weight, module.bias))
            count += 1
    return count


def _replace_packed(model: nn.Module) -> tuple[int, int]:
    """Puts packed layers that are left into kernels for their grids. Returns how many, and how many have none."""
    done = slow = 0
    for name, module in list(model.named_modules()):
        if isinstance(module, PackedLinear):  # a head tied to a packed embedding too
            new = joined_packed((module,))
            if new is None:
                slow += 1
            else:
                blocks.replace(model, name, new)
                done += 1
    return done, slow


def fuse(model: nn.Module, kernel) -> tuple[int, int]:
    """Gives every block that allows it the new form. Returns how many took it, and how many there are."""
    names = [name for name, _ in blocks.blocks(model)]  # names, so that a block's old form is let go when the next one's turn comes
    rope, fused = Rope(), 0
    angles = _angles(model)
    if angles is None:
        return 0, len(names)
    for name in names:
        block = model.get_submodule(name)
        if not _of_the_plan(block):
            continue
        new = Block(block, rope, dense_kernel)
        with _inputs_as_they_come(block):
            if new.heads * new.head_dim != block.self_attn.q_proj.out_features or not _agrees(block, new, angles):
                continue
        parts = {
            part: joined_packed(layers) if isinstance(layers[0], PackedLinear) else _joined(layers, kernel)
            for part, layers in _parts(block).items()
        }
        if any(part is None for part in parts.values()):
            continue
        for part, joined in parts.items():
            setattr(new, part, joined)
        blocks.replace(model, name, new.eval())
        fused += 1
    return fused, len(names)


@contextlib.contextmanager
def _inputs_as_they_come(block: nn.Module) -> Iterator[None]:
    """For as long as it lasts, the block's layers don't round what they read: a form is compared, and rounding takes leaps."""
    rounding = [(m, m.activation) for m in block.modules() if isinstance(m, PackedLinear) and m.activation]
    for module, _ in rounding:
        module.activation = None
    try:
        yield
    finally:
        for module, activation in rounding:
            module.activation = activation


def _of_the_plan(block: nn.Module) -> bool:
    """Whether the block has Llama's parts and no others."""
    if {name for name, _ in block.named_children()} != PLAN:
        return False
    attention, mlp = ({name for name, _ in getattr(block, part).named_children()} for part in ("self_attn", "mlp"))
    linears = [getattr(block.self_attn, n, None) for n in ATTENTION] + [getattr(block.mlp, n, None) for n in MLP]
    norms = (block.input_layernorm, block.post_attention_layernorm)
    return (
        attention == ATTENTION
        and MLP <= mlp <= MLP | {"act_fn"}
        and len({type(m) for m in linears}) == 1
        and type(linears[0]) in (nn.Linear, PackedLinear)
        and all(hasattr(n, "weight") and hasattr(n, "variance_epsilon") for n in norms)
        and all(hasattr(block.self_attn, n) for n in ("layer_idx", "head_dim", "scaling", "num_key_value_groups"))
    )


def _angles(model: nn.Module) -> tuple[Tensor, Tensor] | None:
    """The model's own rotary angles at positions 0 ... 4, or None where it has none of the usual kind."""
    rotary = next((m for n, m in model.named_modules() if n.rpartition(".")[2] == "rotary_emb"), None)
    if rotary is None:
        return None
    example = torch.zeros(1, 5, 1, dtype=torch.float32)
    try:
        found = rotary(example, position_ids=torch.arange(5)[None])
    except TypeError:  # one that wants a layer's type: such blocks aren't of this plan
        return None
    return found if isinstance(found, tuple) and len(found) == 2 else None


def _agrees(old: nn.Module, new: Block, angles: tuple[Tensor, Tensor]) -> bool:
    """Whether both forms give the same on random input, with the causal mask and with an odd one."""
    if angles[0].shape[-1] != new.head_dim:
        return False
    x = torch.randn(1, 5, new.norms[0][0].shape[0], generator=torch.Generator().manual_seed(0))
    odd = (torch.rand(1, 1, 5, 5, generator=torch.Generator().manual_seed(1)) < 0.5) | torch.eye(5, dtype=torch.bool)
    for mask in (None, odd):
        want = old(x, attention_mask=mask, position_embeddings=angles)
        want = want[0] if isinstance(want, tuple) else want
        got = new(x, attention_mask=mask, position_embeddings=angles)
        if not torch.isfinite(want).all() or (want - got).abs().max() > CLOSE * want.abs().max():
            return False
    return True
