"""The sequential driver: a walk that changes nothing is the model itself, for every architecture; what it collects; what it refuses."""

import pytest
import torch
import transformers
from torch import nn

from core.errors import Cancelled, UserError
from core.methods import calibration
from core.methods.calibration import CalibrationParams
from core.methods.sequential import Hessian, Inputs, Norms, relative_error, walk
from core.models import load
from core.models.blocks import linears
from core.records import SourceInfo
from core.run import Run
from tests.core.methods.conftest import Recorder, make_text

SMALL = dict(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4, max_position_embeddings=64)
MODELS = {
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL, num_key_value_heads=2)),
    "qwen2": lambda: transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SMALL, num_key_value_heads=2)),
    "qwen3": lambda: transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=8)),
    "gemma3": lambda: transformers.Gemma3ForCausalLM(
        transformers.Gemma3TextConfig(
            **SMALL,
            num_key_value_heads=2,
            head_dim=8,
            sliding_window=8,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        )
    ),
    "mistral": lambda: transformers.MistralForCausalLM(transformers.MistralConfig(**SMALL, num_key_value_heads=2, sliding_window=8)),
    "opt": lambda: transformers.OPTForCausalLM(
        transformers.OPTConfig(
            vocab_size=64, hidden_size=32, ffn_dim=48, num_hidden_layers=3, num_attention_heads=4, max_position_embeddings=64,
            word_embed_proj_dim=32,
        )
    ),
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=64, n_embd=32, n_layer=3, n_head=4, n_positions=64)),
    "gpt_neox": lambda: transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(**SMALL)),
    "phi3": lambda: transformers.Phi3ForCausalLM(transformers.Phi3Config(**SMALL, num_key_value_heads=2, pad_token_id=0)),
    "bert": lambda: transformers.BertForSequenceClassification(transformers.BertConfig(**SMALL)),
    "distilbert": lambda: transformers.DistilBertForSequenceClassification(
        transformers.DistilBertConfig(vocab_size=64, dim=32, hidden_dim=48, n_layers=3, n_heads=4, max_position_embeddings=64)
    ),
}  # fmt: skip
IDS = torch.randint(0, 64, (5, 16), generator=torch.Generator().manual_seed(0))


def last_block_output(model, ids):
    from core.models.blocks import blocks

    seen = []
    handle = blocks(model)[-1][1].register_forward_hook(lambda m, a, out: seen.append(out[0] if isinstance(out, tuple) else out))
    with torch.no_grad():
        model(input_ids=ids)
    handle.remove()
    return seen[0]


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("rows", [2, 5])
def test_a_walk_that_changes_nothing_runs_the_model_itself(kind, rows):
    torch.manual_seed(0)
    model = MODELS[kind]().eval()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    use_cache = getattr(model.config, "use_cache", None)
    turns, names = [], []
    for turn in walk(model, Run(), "Walking", IDS, rows=rows):
        turns.append(turn)
        names += turn.linears
        out = turn.outputs(batches=None)
    assert len(turns) == 3
    assert torch.allclose(out, last_block_output(model, IDS), atol=1e-5)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert getattr(model.config, "use_cache", None) == use_cache
    assert not any("forward" in block.__dict__ for block in model.modules())  # the stubs are gone
    assert not any(t.errors for t in turns)
    assert sorted(names) == sorted(n for n, _ in linears(model) if "pooler" not in n)


def test_layers_that_read_the_same_come_together_in_the_order_they_run():
    model = MODELS["llama"]().eval()
    turn = next(walk(model, Run(), "Walking", IDS))
    short = [[name.rpartition(".")[2] for name in group] for group in turn.groups()]
    assert short == [["q_proj", "k_proj", "v_proj"], ["o_proj"], ["gate_proj", "up_proj"], ["down_proj"]]


@pytest.mark.parametrize("rows", [2, 5])
def test_what_is_collected_is_what_the_layers_read(rows):
    torch.manual_seed(0)
    model = MODELS["llama"]().eval()
    seen = []
    name = "model.layers.1.mlp.down_proj"
    handle = model.get_submodule(name).register_forward_pre_hook(lambda m, a: seen.append(a[0].reshape(-1, 48)))
    with torch.no_grad():
        model(input_ids=IDS)
    handle.remove()
    x = seen[0]
    for turn in walk(model, Run(), "Walking", IDS, rows=rows):
        if turn.index != 1:
            continue
        hessian, norms, inputs = (turn.collect(kind, [name])[name] for kind in (Hessian, Norms, Inputs))
        assert hessian.tokens == norms.tokens == len(inputs.rows) == 80
        assert torch.allclose(inputs.rows, x, atol=1e-5)
        assert torch.allclose(hessian.sum, x.t() @ x, atol=1e-4)
        assert torch.allclose(hessian.magnitude, x.abs().sum(0), atol=1e-4)
        assert torch.allclose(norms.squares, x.square().mean(0), atol=1e-6)
        assert torch.allclose(norms.squares, hessian.squares, atol=1e-6)
        matrix = torch.randn(7, 48)
        wanted = float((x @ matrix.t()).square().sum() / 80)
        for stat in (hessian, norms, inputs):
            assert stat.power(matrix) == pytest.approx(wanted, rel=1e-4)
        q, k = (turn.collect(Norms)[f"model.layers.1.self_attn.{n}_proj"] for n in "qk")
        assert q.tokens == k.tokens
        both = turn.collect(Norms)
        assert both["model.layers.1.self_attn.q_proj"] is both["model.layers.1.self_attn.v_proj"]  # one for what is read once


def test_the_next_block_gets_what_the_changed_one_makes():
    torch.manual_seed(0)
    model = MODELS["llama"]().eval()
    for turn in walk(model, Run(), "Walking", IDS):
        if turn.index == 0:
            for module in turn.linears.values():
                module.weight.mul_(0.5)  # behind the walk's back
        out = turn.outputs(batches=None)
    assert torch.allclose(out, last_block_output(model, IDS), atol=1e-5)


def test_the_error_of_a_changed_layer_is_that_of_its_output_and_the_others_report_none():
    torch.manual_seed(0)
    model = MODELS["llama"]().eval()
    run = Recorder()
    name = "model.layers.2.self_attn.o_proj"
    for turn in walk(model, run, "Walking", IDS):
        if turn.index == 2:
            x = turn.collect(Inputs, [name])[name].rows
            before = turn.linears[name].weight.clone()
            changed = before.clone()
            changed[:3] = 0
            turn.write(name, changed)
            assert torch.equal(turn.linears[name].weight, changed)
            wanted = float((x @ (changed - before).t()).norm() / (x @ before.t()).norm())
    reported = [e for e in run.events if getattr(e, "name", "").startswith("error/")]
    assert [(e.name, e.step) for e in reported] == [(f"error/{name}", 2)]
    assert reported[0].value == pytest.approx(wanted, rel=1e-4)
    assert turn.errors[name] == reported[0].value


def test_without_calibration_no_block_is_run_and_errors_are_those_of_the_weights():
    model = MODELS["llama"]().eval()
    run = Recorder()
    for turn in walk(model, run, "Walking"):
        turn.block.forward = None  # would fail if it were called
        name = f"{turn.name}.mlp.up_proj"
        turn.write(name, 0.9 * turn.linears[name].weight)
        with pytest.raises(ValueError, match="no calibration text"):
            turn.groups()
    assert [e.value for e in run.events if getattr(e, "name", "").startswith("error/")] == pytest.approx([0.1] * 3, rel=1e-4)


def test_cancelling_stops_it_within_a_batch_and_leaves_no_hook():
    model = MODELS["llama"]().eval()
    run = Run()
    with pytest.raises(Cancelled):
        for turn in walk(model, run, "Walking", IDS, rows=1):
            run.control("cancel")
            turn.collect(Norms)
    assert not any(m._forward_pre_hooks for m in model.modules())


def test_arguments_that_differ_from_window_to_window_are_refused():
    model = MODELS["llama"]().eval()
    real = model.model.rotary_emb.forward
    calls = []

    def forward(*args, **kwargs):
        calls.append(1)
        cos, sin = real(*args, **kwargs)
        return cos * len(calls), sin

    model.model.rotary_emb.forward = forward
    with pytest.raises(UserError, match="differs from window to window"):
        next(walk(model, Run(), "Walking", IDS, rows=1))
    assert not any("forward" in b.__dict__ for b in model.model.layers)


def test_a_layer_that_is_never_used_is_named():
    class Idle(transformers.models.llama.modeling_llama.LlamaDecoderLayer):
        def __init__(self, config, index):
            super().__init__(config, index)
            self.spare = nn.Linear(32, 32)

    model = MODELS["llama"]().eval()
    model.model.layers = nn.ModuleList(Idle(model.config, i).eval() for i in range(3))
    with pytest.raises(UserError, match="Not all linear layers"):
        next(walk(model, Run(), "Walking", IDS)).groups()


def test_no_error_for_no_change():
    assert relative_error(torch.zeros(2, 3), torch.zeros(2, 3)) == 0


# ---- the windows --------------------------------------------------------------------------------------------------------


def draw(loaded, text=None, seed=0, **values):
    return calibration.draw(text or make_text(), loaded.tokenizer, CalibrationParams(**values), loaded.info, seed, Run())


def test_windows_are_drawn_without_overlap_by_the_seed(pico):
    text = make_text(" ".join(map(str, range(1000, 3000))))  # no two windows are alike
    ids, notes = draw(pico, text, windows=30, context=16)
    assert ids.shape == (30, 16)
    assert notes == []
    assert torch.equal(ids, draw(pico, text, windows=30, context=16)[0])
    assert not torch.equal(ids, draw(pico, text, windows=30, context=16, seed=1)[0])
    whole = pico.tokenizer(text.content, add_special_tokens=False)["input_ids"]
    starts = [next(s for s in range(0, len(whole), 16) if whole[s : s + 16] == row.tolist()) for row in ids]
    assert starts == sorted(starts)
    assert len(set(starts)) == 30


def test_of_a_long_text_only_the_windows_are_turned_into_tokens_and_they_come_from_all_over_it(pico):
    words = [str(n) for n in range(100_000, 120_000)]
    read = []

    class Counting:
        def __call__(self, content, **how):
            read.append(len(content))
            return pico.tokenizer(content, **how)

        def __getattr__(self, name):
            return getattr(pico.tokenizer, name)

    text = make_text(" ".join(words))
    ids, notes = calibration.draw(text, Counting(), CalibrationParams(windows=8, context=32), pico.info, 0, Run())
    assert ids.shape == (8, 32)
    assert notes == []
    assert sum(read) < len(text.content) / 10
    again, _ = calibration.draw(text, pico.tokenizer, CalibrationParams(windows=8, context=32), pico.info, 0, Run())
    assert torch.equal(ids, again)
    firsts = [int(pico.tokenizer.decode(row).split()[1]) for row in ids]  # the first whole word of each
    assert firsts == sorted(firsts)
    assert firsts[0] < 105_000
    assert firsts[-1] > 115_000


def test_fewer_windows_or_a_shorter_context_is_said(pico):
    ids, notes = draw(pico, windows=4096, context=256)
    assert 0 < len(ids) < 4096
    assert "holds no more" in notes[0]
    _, notes = draw(pico, windows=1, context=512)
    assert notes == ["Calibrated on windows of 256 tokens instead of 512, which is more than the model holds."]


def test_a_text_without_a_whole_window_is_refused(pico):
    with pytest.raises(UserError, match="shorter than one window of 64"):
        draw(pico, make_text("a short text"), windows=4, context=64)
    with pytest.raises(UserError, match="A text to calibrate on"):
        calibration.draw(None, pico.tokenizer, CalibrationParams(), pico.info, 0, Run())


class Framed:
    """A tokenizer that puts 1 before and 2 after a text, as BERT's does."""

    def __call__(self, text, add_special_tokens=True, **_):
        ids = [10 + ord(c) % 40 for c in text]
        return {"input_ids": [1, *ids, 2] if add_special_tokens else ids}


@pytest.mark.parametrize(("task", "last"), [("encoder", True), ("causal-lm", False)])
def test_special_tokens_frame_each_window_once(task, last):
    info = SourceInfo(source="x", kind="folder", name="x", architecture="X", task=task, context=64)
    ids, _ = calibration.draw(make_text(), Framed(), CalibrationParams(windows=3, context=16), info, 0, Run())
    assert ids.shape == (3, 16)
    assert (ids[:, 0] == 1).all()
    assert ((ids == 1).sum(1) == 1).all()
    assert ((ids == 2).sum(1) == int(last)).all()
    assert (ids[:, -1] == 2).all() == last


def test_no_padding_token_is_ever_calibrated_on(pico_bert):
    ids, _ = draw(load.load(pico_bert), windows=16, context=32)
    assert (ids != 0).all()


@pytest.mark.parametrize("columns", [5, Hessian.STRIP, 2 * Hessian.STRIP, 2 * Hessian.STRIP + 37])
def test_a_hessian_that_is_added_to_from_the_diagonal_on_is_whole_whenever_it_is_read(columns):
    generator = torch.Generator().manual_seed(columns)
    hessian, seen = Hessian(columns, torch.device("cpu")), torch.zeros(columns, columns, dtype=torch.float64)
    for tokens in (3, 7, 50):
        x = torch.randn(tokens, columns, generator=generator)
        hessian.add(x)
        seen += x.double().t() @ x.double()
        assert torch.allclose(hessian.squares.double(), seen.diagonal() / hessian.tokens, rtol=1e-5)
        assert torch.allclose(hessian.sum.double(), seen, atol=1e-3)  # read in between, and added to again
        assert torch.allclose(hessian.sum, hessian.sum.t(), atol=1e-4)
