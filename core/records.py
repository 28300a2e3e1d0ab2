"""Records: what Spokeshave knows, as immutable data that crosses the pipe and is written to disk.

Covers models, variants, measurements, jobs and the catalogue of methods. Nothing here reads a file or a tensor.
Sizes are bytes, times are seconds, dates are ISO 8601 in UTC.
"""

from __future__ import annotations

import datetime
import secrets
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.params import Knob
from core.recipe import ImagesRef, LabelsRef, Recipe, Step

Task = Literal["causal-lm", "encoder", "classifier", "diffusion", "unknown"]
Kind = Literal["original", "pruned", "quantized", "distilled", "combined"]


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def new_id(stem: str) -> str:
    """A short readable id that two windows can't both draw: 'rtn-3f9a1c'."""
    clean = "".join(c if c.isalnum() else "-" for c in stem.lower()).strip("-")[:24] or "model"
    return f"{clean}-{secrets.token_hex(3)}"


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


# ---- what can be done -----------------------------------------------------------------------------------------


class MethodInfo(Record):
    """A registered method as data; `error` is why it couldn't be imported, and then nothing else is known of it."""

    name: str
    title: str = ""
    family: Literal["pruning", "quantization", "distillation", "recovery", "unknown"] = "unknown"
    summary: str = ""  # one line of trade-off for the method card: 'Seconds. Good at 8 bits, weak below 4.'
    needs: tuple[str, ...] = ()  # of: calibration, text, labels, images, teacher
    tasks: tuple[Task, ...] = ("causal-lm", "encoder", "classifier")
    paper: str = ""
    knobs: tuple[Knob, ...] = ()
    error: str = ""

    def needs_of(self, task: Task) -> tuple[str, ...]:
        """What it needs on a model for that task. Of text and labels, where it names both: a classifier labels, others text."""
        if {"text", "labels"} <= set(self.needs):
            other = "text" if task == "classifier" else "labels"
            return tuple(need for need in self.needs if need != other)
        return self.needs


class DeviceInfo(Record):
    name: str  # as torch names it: cpu, cuda:0, mps
    title: str
    total_bytes: int | None = None
    free_bytes: int | None = None


class Catalogue(Record):
    """All that a worker can do, sent once when it's ready, and cached by the window."""

    methods: tuple[MethodInfo, ...] = ()
    devices: tuple[DeviceInfo, ...] = ()
    libraries: dict[str, str] = {}

    def method(self, name: str) -> MethodInfo | None:
        return next((m for m in self.methods if m.name == name), None)


# ---- what a model is ------------------------------------------------------------------------------------------


class SourceInfo(Record):
    """What a folder, a GGUF file or a Hub id is, learnt from headers and configuration alone."""

    source: str
    kind: Literal["folder", "gguf", "hub", "variant"]
    name: str
    architecture: str = ""  # 'LlamaForCausalLM'
    model_type: str = ""  # 'llama'
    task: Task = "unknown"
    parameters: int | None = None  # tied tensors counted once
    components: dict[str, int] = {}  # embedding, attention, mlp, norm, head, other -> parameters
    dtypes: dict[str, int] = {}  # stored dtype -> parameters
    bytes_on_disk: int | None = None
    tied: bool | None = None
    tokenizer: bool = False
    chat_template: bool = False
    layers: int | None = None
    hidden: int | None = None
    intermediate: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    vocabulary: int | None = None
    context: int | None = None  # tokens; of a diffusion model, levels of noise
    image_shape: tuple[int, int, int] | None = None  # (channels, height, width) of what a diffusion model draws
    scheduler: str = ""  # of a diffusion model: 'DDIMScheduler'
    prediction: str = ""  # what its network says: 'epsilon', 'sample', 'v_prediction'
    steps: int | None = None  # that it was distilled to draw in; None: as many as one likes
    classes: int | None = None  # that it was taught to draw
    tokens_hash: str = ""  # sha256 over the tokenizer's token strings in id order: equal means that a draft can be checked token by token
    quantization: str | None = None
    remote_code: bool = False
    memory_needed: int | None = None  # to hold it in float32; an estimate
    memory_free: int | None = None
    warnings: tuple[str, ...] = ()


class LedgerLine(Record):
    """One kind of thing in the files: where the bytes are."""

    component: str  # embedding, attention, mlp, norm, head, other, scales, masks, tokenizer, configuration
    storage: str  # 'BF16', 'int4 packed', 'F32', 'file'
    parameters: int = 0  # original parameters that these bytes stand for (0 for scales, shapes, files)
    nonzero: int = 0
    bytes: int = 0


class Ledger(Record):
    """Size, explained. bytes_on_disk is the sum of the files that are needed to load the variant."""

    bytes_on_disk: int
    weight_bytes: int
    parameters: int  # parameters stood for, tied counted once, packed counted as their unpacked number
    nonzero: int
    effective_bits: float  # 8 * weight_bytes / parameters of the original it came from
    original_parameters: int
    lines: tuple[LedgerLine, ...] = ()
    tied: tuple[str, ...] = ()
    resident_bytes: int | None = None  # measured after the first forward; None until then
    peak_bytes: int | None = None


class Measurement(Record):
    """A number that was measured, with the conditions it was measured under."""

    kind: str  # perplexity, kl, agreement, accuracy, bits_per_byte, prefill, decode, resident, peak, onnx_parity ...
    value: float
    stderr: float | None = None  # standard error of value
    low: float | None = None  # 95 % interval where it isn't symmetric
    high: float | None = None
    n: int = 0  # tokens, samples or repeats
    unit: str = ""
    conditions: dict[str, Any] = {}  # text, text_hash, context, stride, bos, device, dtype, threads, reference ...
    taken: str = Field(default_factory=now)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval, or None where it isn't known."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        return (self.value - 1.96 * self.stderr, self.value + 1.96 * self.stderr) if self.stderr is not None else None


class ExportRecord(Record):
    """What's remembered of an ONNX export of a variant: where it was written, what it is, and what its check found."""

    folder: str
    made: str  # as its own report says: another date there is another export
    task: Task = "causal-lm"
    profile: str = ""
    weights: str = ""  # 'float32', '8-bit integers, the rest dense'
    activations: str = ""  # 'int8' where products round what they read
    bytes: int = 0
    max_abs: float | None = None  # largest difference of a logit from torch's
    top1: float | None = None
    kl: float | None = None


class Variant(Record):
    """A model in the workspace: an original, or what a recipe made of one. Its folder is what transformers loads."""

    id: str
    name: str
    parent: str | None = None
    kind: Kind = "original"
    method: str = "import"
    created: str = Field(default_factory=now)
    origin: str = ""  # the root's source: a path's name or a Hub id
    fingerprint: str = ""  # sha256 over the weights' bytes in name order
    info: SourceInfo
    ledger: Ledger
    recipe: Recipe
    notes: tuple[str, ...] = ()  # what the method wants said: fall-backs taken, layers left out, what wasn't saved
    job: str = ""


# ---- what is asked of a worker ----------------------------------------------------------------------------------


class Spec(Record):
    model_config = ConfigDict(frozen=True, extra="forbid")


class InspectSpec(Spec):
    """Result {info: a SourceInfo}; with `draw`, of a diffusion model in a folder {png, count, steps} too, or {why} where it'd take long."""

    kind: Literal["inspect"] = "inspect"
    source: str
    remote_code: bool = False
    draw: int = 0  # images, side by side in a PNG


class EstimateSpec(Spec):
    """What a step would cost, without doing it: result {bytes_on_disk, effective_bits, memory, seconds, notes}, estimates, and {name}."""

    kind: Literal["estimate"] = "estimate"
    workspace: str
    variant: str
    step: Step
    device: str = "auto"


class LabelsSpec(Spec):
    """What a file or data set of labelled examples holds. Result: see core.data.labels.describe."""

    kind: Literal["labels"] = "labels"
    labels: LabelsRef


class ImportSpec(Spec):
    """Result {variant}. With `measure`, perplexity (on `text`) and speed follow: the baseline."""

    kind: Literal["import"] = "import"
    workspace: str
    source: str
    name: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    remote_code: bool = False
    measure: bool = True
    text: str | None = None  # path; None: the held-out starter text
    max_tokens: int | None = None  # None: 20,000, or 8,192 for a model that is slow to score
    images: ImagesRef | None = None  # to measure a diffusion model against; None: the starter's, where they have its size


class ApplySpec(Spec):
    """Result {variants: [ids]}: one variant a step, each the parent of the next."""

    kind: Literal["apply"] = "apply"
    workspace: str
    variant: str
    steps: tuple[Step, ...]
    name: str | None = None
    measure: bool = True  # perplexity, KL, agreement against the root original, and speed; of a classifier, accuracy
    text: str | None = None
    max_tokens: int | None = None
    labels: LabelsRef | None = None  # to measure a classifier on; None: those that it learnt from
    images: ImagesRef | None = None  # to measure a diffusion model against; None: those that it learnt from


class EvaluateSpec(Spec):
    """Result {measurements: [..]}."""

    kind: Literal["evaluate"] = "evaluate"
    workspace: str
    variant: str
    text: str | None = None
    reference: str | None = None
    context: int | None = None
    max_tokens: int | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    speed: bool = False
    labels: LabelsRef | None = None  # to measure a classifier on; None: those that it learnt from
    images: ImagesRef | None = None  # to measure a diffusion model against; None: those that it learnt from
    steps: int | None = Field(None, ge=1)  # to draw in, of a diffusion model; None: those that it was made for, else 32
    also: tuple[int, ...] = ()  # numbers of steps to draw in besides, each with its speed: quality against time


class SpeedSpec(Spec):
    kind: Literal["speed"] = "speed"
    workspace: str
    variant: str
    prefill_tokens: int = 128
    decode_tokens: int = 48
    repeats: int = 5


class Drafting(Spec):
    """Who drafts, how far, and by which rule the target judges it. One lane of a race."""

    proposer: Literal["none", "draft", "ngram", "packed", "early-exit", "layer-skip"] = "none"
    draft: str | None = None  # the variant that drafts, for 'draft'; one with another tokenizer is re-encoded
    gamma: int = Field(4, ge=0, le=32)  # tokens a round; of the adaptive policy: the most
    policy: Literal["fixed", "adaptive"] = "fixed"
    verifier: Literal["token", "block", "tree", "typical", "top-k"] = "token"  # at temperature 0 token and block are argmax equality
    confidence: float = Field(0.0, ge=0.0, lt=1.0)  # drafting stops after a token that the draft gave less than this; 0: never
    branches: int = Field(2, ge=1, le=8)  # of a tree: candidates at each depth
    exit_layer: int | None = Field(None, ge=1)  # early exit: how many of the target's first layers draft; None: a third
    skipped: tuple[int, ...] | None = None  # layer skip: which of the target's layers the draft leaves out; None: searched on the prompt
    epsilon: float = Field(0.3, gt=0.0, le=1.0)  # typical acceptance: a token is kept above min(epsilon, delta exp(-entropy))
    delta: float = Field(0.09, gt=0.0, le=1.0)
    relaxed_k: int = Field(2, ge=1, le=64)  # top-k acceptance: a token is kept when it's among the target's k likeliest

    @property
    def lossless(self) -> bool:
        """Whether what's written is distributed exactly as the target's own."""
        return self.verifier not in ("typical", "top-k")


class Turn(Spec):
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class Choice(Spec):
    """How the target's tokens are chosen, and when the text ends. Texts of `banned`, `forced` and `stop` are tokenized by the worker."""

    temperature: float = Field(0.0, ge=0.0, le=5.0)
    top_k: int = Field(0, ge=0)
    top_p: float = Field(1.0, gt=0.0, le=1.0)
    min_p: float = Field(0.0, ge=0.0, lt=1.0)
    typical_p: float = Field(1.0, gt=0.0, le=1.0)
    repetition_penalty: float = Field(1.0, gt=0.0, le=10.0)
    presence_penalty: float = Field(0.0, ge=-10.0, le=10.0)
    frequency_penalty: float = Field(0.0, ge=-10.0, le=10.0)
    banned: tuple[str, ...] = ()  # each must be one token, alone or with a space before it
    forced: str = ""  # what the text begins with, whatever the target would write
    stop: tuple[str, ...] = ()
    min_new_tokens: int = Field(0, ge=0)
    max_new_tokens: int = Field(128, ge=1)
    seed: int = 0


Provider = Literal["", "cpu", "cuda", "directml", "coreml", "openvino"]  # what onnxruntime computes by; '': the CPU


class GenerateSpec(Drafting, Choice):
    """Result: see core.decode.lab.generate. Lanes: 'speculative' (this spec's own drafting), 'rival', 'plain', 'beside'.

    `target`, `beside` and any `draft` may be an export: 'onnx:FOLDER' (core.exports); where all are, there may be no workspace ('').
    """

    kind: Literal["generate"] = "generate"
    workspace: str
    target: str
    prompt: str = ""
    messages: tuple[Turn, ...] = ()  # instead of `prompt`: a chat, written by the model's own template
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "float32"
    race: bool = False  # also decode plainly, with the same seed, in turns with the other lanes
    rival: Drafting | None = None  # a second way to draft, as one more lane of the race
    beside: str | None = None  # another form of the target, decoded plainly as one more lane: an export of it, or what it was made from
    provider: Provider = ""  # for exports
    kv_bits: Literal[8, 4] | None = None  # keys and values kept in so few bits, of the target and of who drafts; None: as they are
    paused: bool = False  # wait for Control 'step' or 'resume' before the first round


class FindDraftSpec(Choice):
    """Result {plain, rows, best}: every way to draft for a target, tried on the person's prompts. See core.decode.find."""

    kind: Literal["find-draft"] = "find-draft"
    workspace: str
    target: str
    prompts: tuple[str, ...]
    drafts: tuple[str, ...] | None = None  # variants and exports to try; None: every one that can
    provider: Provider = ""  # for exports
    proposers: tuple[str, ...] = ("draft", "ngram", "packed", "layer-skip")
    max_new_tokens: int = Field(48, ge=8)
    gamma: int = Field(8, ge=1, le=16)  # the most that's considered
    repeats: int = Field(3, ge=1, le=9)


class ExactnessSpec(Drafting, Choice):
    """Result: see core.decode.exactness.check. A chi-square test of the engine on a real pair, with a wrong rule beside it."""

    kind: Literal["exactness"] = "exactness"
    workspace: str
    target: str
    prompt: str
    temperature: float = Field(1.0, gt=0.0, le=5.0)
    top_k: int = Field(4, ge=2, le=8)  # the support is restricted, so that every outcome is expected often enough
    tokens: int = Field(2, ge=1, le=3)  # the joint law of so many
    runs: int = Field(1000, ge=50, le=20000)


class EnumerateSpec(Spec):
    """Result: see core.decode.exactness.enumerate_toy. The engine on a toy model of `vocabulary` words, over every random choice."""

    kind: Literal["enumerate"] = "enumerate"
    rule: Literal["token", "block", "tree", "typical", "top-k", "softmax-ratio", "discard", "resample"] = "token"
    gamma: int = Field(2, ge=1, le=3)
    tokens: int = Field(3, ge=1, le=4)
    vocabulary: int = Field(3, ge=2, le=4)
    seed: int = 0


# Model types whose configs have no word for fewer heads than the width says (no head_dim): heads can only become zeros there.
MASKED_ONLY = ("bert", "gpt2", "opt", "distilbert", "roberta", "xlm-roberta", "electra", "camembert")
ENCODER_DECODERS = ("t5", "mt5", "umt5")  # model types that are exported as two ONNX graphs, though nothing else here runs them
GGUF_MODELS = ("llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3_text")  # model types that can be written as a GGUF file


class OnnxOptions(Record):
    """How an ONNX graph is written.

    profile: 'portable' takes batches and padding; 'fast' is made of onnxruntime's fused operators, for one text at a time (text
    generators; others, and what can't be fused, are written portable, and the report says so).
    activations: what quantized layers multiply by. 'int8' rounds each token's activations in small blocks, which is faster and no
    longer exact; where the check finds that it changes too much, float32 is written instead.
    layout: 'transformers.js' puts the graph where that library looks for it, under the name that it has for its precision.
    runtime: the oldest onnxruntime that is to open the file, as '1.17'; '' for any that Spokeshave itself knows.
    precision: of a graph whose variant isn't quantized; the int8 ones are for encoders and classifiers. text: a file that 'int8-static'
    finds its ranges on; '' for the text that comes along. labels: examples that a classifier's accuracy is shown on, beside torch's.
    """

    profile: Literal["portable", "fast"] = "portable"
    activations: Literal["float32", "int8"] = "float32"
    layout: Literal["plain", "transformers.js"] = "plain"
    runtime: str = Field("", pattern=r"^(\d+\.\d+)?$")
    precision: Literal["float32", "float16", "bfloat16", "int8-dynamic", "int8-static"] = "float32"
    text: str = ""
    labels: LabelsRef | None = None


class ExportSpec(Spec):
    """Result {folder, report}; the report's figures are stored as measurements of the variant too.

    gguf_type: what a GGUF file's matrices are stored in; 'auto' keeps a quantized variant's own grid, and is q8_0 for a dense one.
    """

    kind: Literal["export"] = "export"
    workspace: str
    variant: str
    to: str
    overwrite: bool = False
    format: Literal["onnx", "gguf", "sparse"] = "onnx"  # sparse: one file without a pruned model's zeros, to unpack again
    gguf_type: Literal["auto", "f32", "f16", "bf16", "q8_0", "q4_0", "q4_k"] = "auto"
    onnx: OnnxOptions = OnnxOptions()


class TryExportSpec(Spec):
    """Greedy generation by onnxruntime from an exported folder: a RoundTaken for each token, result {text, ids, tokens_per_s}."""

    kind: Literal["try-export"] = "try-export"
    folder: str
    prompt: str
    max_new_tokens: int = 64
    provider: Provider = ""


class CompareExportSpec(Spec):
    """Result: see core.worker.exported.compare: the original, the variant and its export side by side on a person's prompts."""

    kind: Literal["compare-export"] = "compare-export"
    workspace: str
    folder: str
    variant: str | None = None  # that the export was made from; None: as the workspace remembers
    prompts: tuple[str, ...]
    max_new_tokens: int = Field(48, ge=1, le=4096)
    provider: Provider = ""


class ClassifyExportSpec(Spec):
    """Result: see core.export.classify.classified: an exported classifier on a person's texts, beside the variant it was made from."""

    kind: Literal["classify-export"] = "classify-export"
    workspace: str
    folder: str
    variant: str | None = None
    texts: tuple[str, ...]
    provider: Provider = ""


class DrawExportSpec(Spec):
    """Result: see core.worker.exported.drawn: images from an exported diffusion model, and from the variant by torch, of the same noise."""

    kind: Literal["draw-export"] = "draw-export"
    workspace: str
    folder: str
    variant: str | None = None
    count: int = Field(8, ge=1, le=64)
    steps: int | None = Field(None, ge=1)  # None: those that it was made for, else 32
    seed: int = 0
    provider: Provider = ""


class ProvidersSpec(Spec):
    """Result {providers}: what the installed onnxruntime computes by, of core.providers' names; none where it isn't installed."""

    kind: Literal["providers"] = "providers"


class LookExportSpec(Spec):
    """Result {contents, report}: what an exported graph is made of (core.export.contents), and what its report says."""

    kind: Literal["look-export"] = "look-export"
    folder: str


class SensitivitySpec(Spec):
    """Result {file}: a core.allocation.SensitivityMap as JSON in the variant's folder. Layers come as LayerMeasured while it runs.

    What was measured before under the same settings is taken up again, so that a cancelled job goes on where it stopped.
    """

    kind: Literal["sensitivity"] = "sensitivity"
    workspace: str
    variant: str
    bits: tuple[Literal[8, 6, 5, 4, 3, 2], ...] = (8, 6, 5, 4, 3, 2)
    group_size: int = Field(128, ge=8, le=1024)  # below 8 bits; the next smaller that divides the widths
    clip: bool = True
    windows: int = Field(4, ge=1, le=1024)
    context: int = Field(128, ge=8)
    text: str | None = None  # None: the starter's training text
    seed: int = 0


class GradientChoice(Spec):
    """How gradients are sent: bits (32: as they are), one scale for each row or tensor, error feedback."""

    bits: Literal[32, 8, 4, 2] = 32
    per: Literal["channel", "tensor"] = "channel"
    feedback: bool = False


class GradientStudySpec(Spec):
    """Result: see core.methods.gradient_study.study. The same training once for each choice; nothing is kept of it but the figures."""

    kind: Literal["gradient-study"] = "gradient-study"
    workspace: str
    variant: str
    choices: tuple[GradientChoice, ...] | None = None  # None: float32, and 8, 4 and 2 bits in several ways
    steps: int = Field(100, ge=1, le=1_000_000)
    batch: int = Field(8, ge=1, le=4096)
    context: int = Field(64, ge=8)
    learning_rate: float = Field(5e-4, gt=0, le=1)
    fresh: bool = False  # begin with random weights of the same spread, so that there is much to learn
    seeds: int = Field(1, ge=1, le=20)  # runs a choice, to see what's noise
    seed: int = 0
    text: str | None = None  # None: the starter's training text


class HeadMap(Record):
    """What each unit of attention is worth, by criterion: {criterion: layers x units}; None where a unit wasn't measured.

    Criteria: 'taylor' (sum over the tokens of |dL/dxi xi|, per token), 'taylor_normalised' (each layer's divided by its L2 norm),
    'magnitude' (L2 norm of the unit's weights), 'random', 'leave_out' (the loss with the unit masked, minus `base`).
    """

    layers: int
    units: int  # a layer
    unit: Literal["head", "kv_group"]  # kv_group: the query heads that share a key-value head, and that head
    heads_per_unit: int
    scores: dict[str, tuple[tuple[float | None, ...], ...]]
    base: float  # loss of the whole model on the text that the scores are of: nats a token, or a sample for a classifier
    tokens: int
    conditions: dict[str, Any] = {}
    expected: tuple[tuple[float, ...], ...] | None = None  # how far the loss would rise without each unit, by the gradient: an estimate


class HeadsSpec(Spec):
    """What attention heads are worth. Units are (layer, unit), both from 0; a unit is a head, or a key-value group of heads.

    importance: result {map: HeadMap}; where `leave_out`, also run.metric('heads/leave_out/<layer>.<unit>', step, loss - base).
    loss: with the units in `off` masked, on text that importance wasn't computed on: result {loss, base, perplexity, base_perplexity,
    tokens, measure, predicted: {criterion: loss}}; of a classifier accuracy and base_accuracy too, and perplexities of None.
    curve: units of `off` and then the least important by `criterion` go one after the other; run.metric('heads/curve/<criterion>', units
    removed, value), result {points: [[removed, value]], total, criterion, measure: 'perplexity', 'accuracy' or 'cosine'}; of a classifier
    also {interval: the whole model's accuracy, 95 %}.
    """

    kind: Literal["heads"] = "heads"
    workspace: str
    variant: str
    action: Literal["importance", "loss", "curve"] = "importance"
    off: tuple[tuple[int, int], ...] = ()
    criterion: Literal["taylor", "taylor_normalised", "magnitude", "random", "leave_out"] = "taylor"
    leave_out: bool = False
    windows: int = Field(8, ge=1, le=1024)
    context: int = Field(256, ge=8)
    text: str | None = None  # None: the starter's training text; losses and curves are measured on its held-out text
    labels: LabelsRef | None = None  # of a classifier; None: those that it learnt from
    seed: int = 0


class LayerLookSpec(Spec):
    """Result: see core.models.layer_look.look. Weights of one quantized layer before and after; read from the files, no model is built."""

    kind: Literal["layer-look"] = "layer-look"
    workspace: str
    variant: str
    layer: str | None = None  # None: the first


class ActivationLookSpec(Spec):
    """Result {file}: {layers, conditions, before} as JSON in the variant's folder; layers: see core.models.activation_look.compare.

    What was looked at before under the same settings isn't computed again.
    """

    kind: Literal["activation-look"] = "activation-look"
    workspace: str
    variant: str
    windows: int = Field(8, ge=1, le=1024)
    context: int = Field(128, ge=8)
    text: str | None = None  # None: the starter's training text
    seed: int = 0


AnySpec = Annotated[
    InspectSpec
    | EstimateSpec
    | LabelsSpec
    | ImportSpec
    | ApplySpec
    | EvaluateSpec
    | SpeedSpec
    | GenerateSpec
    | FindDraftSpec
    | ExactnessSpec
    | EnumerateSpec
    | SensitivitySpec
    | GradientStudySpec
    | LayerLookSpec
    | ActivationLookSpec
    | HeadsSpec
    | ExportSpec
    | TryExportSpec
    | CompareExportSpec
    | ClassifyExportSpec
    | LookExportSpec
    | DrawExportSpec
    | ProvidersSpec,
    Field(discriminator="kind"),
]

# served by the spare worker, which stays spare
LIGHT = ("inspect", "estimate", "labels", "enumerate", "layer-look", "look-export", "providers")


class Job(Record):
    """Work asked for. The device is as torch names it, or 'auto' (cuda, else mps, else cpu)."""

    id: str
    title: str
    spec: AnySpec
    device: str = "auto"
    threads: int | None = None  # None: all cores but the window's share
    created: str = Field(default_factory=now)

    @property
    def kind(self) -> str:
        return self.spec.kind

    @property
    def workspace(self) -> str | None:
        return getattr(self.spec, "workspace", None)
