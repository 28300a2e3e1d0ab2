"""Train the two starter models from the text beside this file.

    python resources/starter/train_starter.py --out DIR [--epochs 4] [--small-epochs 2]

A model whose card is in DIR already is kept, so the second can be trained later than the first.

What it covers: the tokenizer (byte-level BPE), the target (`shakespeare-7m`), the draft
(`shakespeare-1m`, trained on the text and on the target's own distribution), their held-out
perplexity, and the model cards that state it. What it doesn't: any choice by hand afterwards;
the figures in the cards are the ones this script measured when it wrote the files.

Two whole plays ("As You Like It", "Twelfth Night") are in `heldout.txt` and were never trained on.
"""

import argparse
import json
import math
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

HERE = Path(__file__).resolve().parent
END = "<|endoftext|>"
CONTEXT = 512
SHAPES = {
    "shakespeare-7m": dict(hidden_size=256, intermediate_size=768, num_hidden_layers=8, num_attention_heads=8, num_key_value_heads=2),
    "shakespeare-1m": dict(hidden_size=128, intermediate_size=384, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2),
}


def train_tokenizer(text: str) -> PreTrainedTokenizerFast:
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=4096, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tok.train_from_iterator([text], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tok, eos_token=END, bos_token=None, model_max_length=CONTEXT, clean_up_tokenization_spaces=False
    )


def build(name: str, vocab: int) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=vocab,
        tie_word_embeddings=True,
        max_position_embeddings=CONTEXT,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=None,
        **SHAPES[name],
    )
    return LlamaForCausalLM(config)


def add_dropout(model: LlamaForCausalLM, p: float):
    """Residual dropout by forward hooks (Llama's config has none); returns the handles to remove."""
    drop = lambda module, args, out: (
        (F.dropout(out[0], p, module.training), *out[1:]) if isinstance(out, tuple) else F.dropout(out, p, module.training)
    )
    return [m.register_forward_hook(drop) for layer in model.model.layers for m in (layer.self_attn, layer.mlp)]


@torch.no_grad()
def heldout_perplexity(model: LlamaForCausalLM, ids: torch.Tensor, windows: int | None = None) -> tuple[float, int]:
    """Token-weighted perplexity over non-overlapping windows of CONTEXT; returns (perplexity, scored tokens)."""
    model.eval()
    total, count = 0.0, 0
    blocks = [ids[i : i + CONTEXT] for i in range(0, len(ids) - 1, CONTEXT)][:windows]
    for block in blocks:
        if len(block) < 2:
            continue
        logits = model(block[None]).logits[0, :-1].float()  # (seq-1, vocab)
        total += F.cross_entropy(logits, block[1:], reduction="sum").item()
        count += len(block) - 1
    model.train()
    return math.exp(total / count), count


def train(model, ids, heldout, *, epochs, batch, lr, dropout, teacher=None, temperature=1.0, text_weight=0.5, save=None):
    """AdamW, warm-up and cosine. With a teacher: KL to it at `temperature`, plus `text_weight` times cross-entropy."""
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}], lr=lr, betas=(0.9, 0.95), fused=True
    )
    per_epoch = (len(ids) - 1) // (CONTEXT * batch)
    steps, warmup, step, started, curve, best = int(per_epoch * epochs), 100, 0, time.time(), [], math.inf
    handles = add_dropout(model, dropout) if dropout else []
    model.train()
    while step < steps:
        shift = int(torch.randint(0, CONTEXT, ()))
        starts = torch.arange(shift, len(ids) - CONTEXT - 1, CONTEXT)
        for rows in starts[torch.randperm(len(starts))].split(batch):
            if step >= steps or len(rows) < batch:
                break
            scale = min(1.0, (step + 1) / warmup) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * step / steps)))
            for group in optimizer.param_groups:
                group["lr"] = lr * scale
            x = torch.stack([ids[r : r + CONTEXT + 1] for r in rows.tolist()])  # (batch, CONTEXT+1)
            with torch.autocast("cpu", torch.bfloat16):
                logits = model(x[:, :-1]).logits
            loss = ce = F.cross_entropy(logits.float().flatten(0, 1), x[:, 1:].flatten())
            if teacher is not None:
                with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
                    wanted = teacher(x[:, :-1]).logits
                kl = F.kl_div(
                    F.log_softmax(logits.float() / temperature, -1).flatten(0, 1),
                    F.log_softmax(wanted.float() / temperature, -1).flatten(0, 1),
                    log_target=True,
                    reduction="batchmean",
                )
                loss = kl * temperature**2 + text_weight * ce
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step += 1
            if step % 200 == 0 or step == steps:
                ppl, _ = heldout_perplexity(model, heldout, windows=24)
                curve.append((step, round(ce.item(), 4), round(ppl, 3)))
                rate = step * batch * CONTEXT / (time.time() - started)
                print(f"step {step}/{steps}  text loss {ce.item():.3f}  held-out perplexity {ppl:.2f}  {rate:.0f} tokens/s", flush=True)
                if save and ppl < best:
                    best = ppl
                    save(model)
    for handle in handles:
        handle.remove()
    return curve, time.time() - started


def card(folder: Path, name: str, model, ppl: float, scored: int, characters: int, curve, seconds: float, how: str) -> None:
    shape = SHAPES[name]
    bits = math.log2(ppl) * scored / characters
    folder.joinpath("README.md").write_text(
        f"""---
license: cc0-1.0
language: en
library_name: transformers
---
# {name}

A causal language model of the Llama architecture with grouped-query attention, trained for Spokeshave as a
starter model. It writes Elizabethan-looking English; it knows nothing else, and isn't meant to.

| | |
|---|---|
| parameters | {model.num_parameters():,} (embedding tied, counted once) |
| shape | {shape["num_hidden_layers"]} layers, width {shape["hidden_size"]}, MLP {shape["intermediate_size"]}, \
{shape["num_attention_heads"]} query heads, {shape["num_key_value_heads"]} key-value heads, context {CONTEXT} |
| tokenizer | byte-level BPE, 4,096 tokens, shared by both starter models; no BOS |
| stored as | bfloat16 |
| training | {how}; {curve[-1][0]:,} steps, {seconds / 60:.0f} minutes on the CPU, AdamW |
| training text | `train.txt`: public-domain plays and poems of Shakespeare and Milton |
| held-out text | `heldout.txt`: two whole plays, "As You Like It" and "Twelfth Night" |
| held-out perplexity | {ppl:.2f} a token ({scored:,} tokens, windows of {CONTEXT}, not overlapping), {bits:.3f} bits a character |

Held-out perplexity while it trained (first 24 windows): {", ".join(f"{s}: {p:.1f}" for s, _, p in curve)}.
Made by `train_starter.py`, which also wrote this card.
""",
        encoding="utf-8",
    )


def save(model, tokenizer, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    state = model.state_dict()
    copy = LlamaForCausalLM(model.config).to(torch.bfloat16)
    copy.load_state_dict({k: v.to(torch.bfloat16) for k, v in state.items()})
    copy.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--epochs", type=float, default=4)
    ap.add_argument("--small-epochs", type=float, default=2)
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    text = (HERE / "train.txt").read_text(encoding="utf-8")
    held_text = (HERE / "heldout.txt").read_text(encoding="utf-8")
    tokenizer = train_tokenizer(text)
    ids = torch.tensor(tokenizer(text)["input_ids"])
    heldout = torch.tensor(tokenizer(held_text)["input_ids"])
    print(f"{len(ids):,} training tokens, {len(heldout):,} held-out tokens", flush=True)

    keep = lambda name: lambda model: save(model, tokenizer, args.out / name)
    home = args.out / "shakespeare-7m"
    if not (home / "README.md").exists():
        big = build("shakespeare-7m", len(tokenizer))
        curve, seconds = train(big, ids, heldout, epochs=args.epochs, batch=8, lr=2e-3, dropout=0.1, save=keep("shakespeare-7m"))
        big = LlamaForCausalLM.from_pretrained(home, dtype=torch.float32)
        ppl, scored = heldout_perplexity(big, heldout)
        card(home, "shakespeare-7m", big, ppl, scored, len(held_text), curve, seconds, f"{args.epochs:g} epochs of the text")
        print(f"shakespeare-7m: {ppl:.3f}", flush=True)
    big = LlamaForCausalLM.from_pretrained(home, dtype=torch.float32)

    small = build("shakespeare-1m", len(tokenizer))
    curve, seconds = train(
        small, ids, heldout, epochs=args.small_epochs, batch=8, lr=4e-3, dropout=0.0, teacher=big.eval(), save=keep("shakespeare-1m")
    )
    small = LlamaForCausalLM.from_pretrained(args.out / "shakespeare-1m", dtype=torch.float32)
    ppl, scored = heldout_perplexity(small, heldout)
    how = f"{args.small_epochs:g} epochs, distilled from shakespeare-7m (KL, T 1) plus 0.5 times cross-entropy"
    card(args.out / "shakespeare-1m", "shakespeare-1m", small, ppl, scored, len(held_text), curve, seconds, how)
    print(json.dumps({"shakespeare-1m": ppl}), flush=True)


if __name__ == "__main__":
    main()
