"""What the wizards decide, tested without a widget."""

import ast
from pathlib import Path

import pytest

from app.wizards import plans
from app.wizards.plans import CompressPlan, EvaluatePlan, ExportPlan, Flow, OpenPlan, dropped_source, file_name, free_name, source_kind
from core.params import Knob
from core.recipe import LabelsRef, Step
from core.records import DeviceInfo, MethodInfo, OnnxOptions
from tests.app.wizards import stand_ins as S


def said(problem) -> str:
    return problem.template.format(**problem.values)


def test_plans_know_no_qt():
    tree = ast.parse(Path(plans.__file__).read_text(encoding="utf-8"))
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert not [n for n in names if n.startswith(("PySide6", "app.", "shiboken6"))]


# ---- flow


def test_flow_stops_where_something_is_in_the_way():
    plan = OpenPlan("/w")
    flow = Flow(plan)
    assert not flow.next()
    assert flow.page == "source"
    assert said(flow.problem) == "Choose a model first."


def test_flow_goes_back_only_to_pages_passed():
    plan = CompressPlan("/w", "quantization", S.VARIANTS, S.METHODS)
    plan.choose_default("seven")
    flow = Flow(plan)
    assert flow.first
    assert flow.next()
    assert flow.page == "method"
    assert not flow.go("review")
    assert flow.go("source")
    assert not flow.back()


def test_the_last_page_answers_for_all_before_it():
    plan = CompressPlan("/w", "quantization", S.VARIANTS, S.METHODS)
    plan.choose_default("seven")
    plan.name = "x"
    flow = Flow(plan)
    flow.page = "review"
    assert not flow.problem
    plan.variant = "gone"
    assert said(flow.problem) == "Choose a variant."


# ---- opening


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("", ""),
        ("  ", ""),
        ("HuggingFaceTB/SmolLM2-135M", "hub"),
        ("gpt2", "hub"),
        ("/nowhere/at/all", "missing"),
        ("./nowhere", "missing"),
        ("~/nowhere-at-all", "missing"),
        ("model.gguf", "missing"),
        ("a/b/c", "missing"),
        ("has space/in it", "missing"),
        ("x" * 5000, "missing"),
    ],
)
def test_what_a_source_is(source, kind):
    assert source_kind(source) == kind


def test_what_exists_is_a_path(tmp_path, monkeypatch):
    (tmp_path / "org" / "name").mkdir(parents=True)
    (tmp_path / "m.GGUF").write_bytes(b"x")
    (tmp_path / "notes.txt").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert source_kind("org/name") == "folder"
    assert source_kind(str(tmp_path / "m.GGUF")) == "gguf"
    assert source_kind(str(tmp_path / "notes.txt")) == "other"


def test_a_dropped_weight_file_stands_for_its_folder(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"x")
    (tmp_path / "model.gguf").write_bytes(b"x")
    assert dropped_source(str(tmp_path / "model.safetensors")) == str(tmp_path)
    assert dropped_source(str(tmp_path / "model.gguf")) == str(tmp_path / "model.gguf")
    assert dropped_source(str(tmp_path)) == str(tmp_path)


def opened(tmp_path, **changes) -> OpenPlan:
    plan = OpenPlan("/w", ["shakespeare-7m"])
    plan.source = str(tmp_path)
    assert plan.answered(plan.question, S.info(**changes))
    return plan


def test_opening_names_the_model_and_avoids_names_that_are_taken(tmp_path):
    plan = opened(tmp_path)
    assert plan.name == "shakespeare-7m (2)"
    spec = plan.spec()
    assert (spec.source, spec.name, spec.measure, spec.text) == (str(tmp_path), "shakespeare-7m (2)", True, None)


def test_an_answer_to_an_old_question_is_not_taken(tmp_path):
    plan = OpenPlan("/w")
    plan.source = str(tmp_path)
    question = plan.question
    plan.source = "/elsewhere"
    assert not plan.answered(question, S.info())
    assert plan.info is None


def test_own_code_has_to_be_allowed(tmp_path):
    plan = opened(tmp_path, remote_code=True)
    assert "own code" in said(plan.problem("what"))
    plan.remote_code = True
    assert "Reading" in said(plan.problem("what"))  # the question has changed
    plan.answered(plan.question, S.info(remote_code=True))
    assert not plan.problem("what")
    assert plan.spec().remote_code


def test_what_cannot_be_opened_goes_no_further(tmp_path):
    plan = OpenPlan("/w")
    plan.source = str(tmp_path)
    plan.answered(plan.question, None)
    assert said(plan.problem("what")) == "This model can't be opened."


def test_the_baseline_text_has_to_be_there(tmp_path):
    plan = opened(tmp_path)
    plan.text = str(tmp_path / "no.txt")
    assert "no file" in said(plan.problem("baseline"))
    plan.measure = False
    assert not plan.problem("baseline")
    plan.name = "  "
    assert said(plan.problem("baseline")) == "Give it a name."


def test_texts_that_cannot_be_read(tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert "is empty" in said(plans.text_problem(str(empty)))
    assert "is a folder" in said(plans.text_problem(str(tmp_path)))
    assert said(plans.text_problem(" ")) == "Choose a text file."
    assert not plans.text_problem(None)


def test_a_hub_id_stays_as_it_is():
    plan = OpenPlan("/w")
    plan.source = " HuggingFaceTB/SmolLM2-135M "
    assert plan.spec().source == "HuggingFaceTB/SmolLM2-135M"


# ---- compressing


def compress(family="quantization", variant="seven", **kwargs) -> CompressPlan:
    plan = CompressPlan("/w", family, S.VARIANTS, kwargs.get("methods", S.METHODS))
    plan.choose_default(variant)
    return plan


def test_quantized_variants_cannot_be_quantized_again():
    plan = compress(variant="eight")
    assert plan.variant == "seven"
    assert "quantized already" in said(plan.variant_problem(plan.variants["eight"]))
    plan.variant = "eight"
    assert "quantized already" in said(plan.problem("source"))


def test_a_quantized_teacher_may_teach():
    plan = compress("distillation", "eight")
    assert plan.variant == "eight"
    assert not plan.problem("source")


def test_only_methods_of_the_family_and_those_that_failed_to_load():
    plan = compress()
    assert [m.name for m in plan.methods] == ["rtn", "gptq", "awq"]
    assert "No module named" in said(plan.method_problem(S.BROKEN))
    assert plan.method == "rtn"


def test_a_method_for_another_kind_of_model_is_refused():
    encoder = S.variant("enc", task="encoder")
    plan = CompressPlan("/w", "distillation", [encoder], S.METHODS)
    plan.choose_default("enc")
    assert said(plan.method_problem(S.DISTIL)) == "It doesn't work on this kind of model."


def test_the_page_for_text_comes_only_with_a_method_that_reads_one():
    plan = compress()
    assert plan.pages() == ("source", "method", "review")
    plan.method = "gptq"
    assert plan.pages() == ("source", "method", "data", "review")


def test_without_a_catalogue_it_waits_and_then_chooses():
    plan = CompressPlan("/w", "quantization", S.VARIANTS, None)
    plan.choose_default("seven")
    assert "still starting" in said(plan.problem("method"))
    plan.learn(S.METHODS)
    assert plan.method == "rtn"
    assert not plan.problem("method")


def test_what_the_form_says_holds_it_up():
    plan = compress()
    plan.params_problem = "Sparsity: must be less than 1."
    assert said(plan.problem("method")) == "Sparsity: must be less than 1."


def test_what_the_worker_refuses_holds_it_up():
    plan = compress()
    plan.name = "x"
    plan.refused = "It's too wide."
    assert said(plan.problem("method")) == "It's too wide."


def test_a_step_carries_its_own_text_only_where_one_is_read(tmp_path):
    text = tmp_path / "t.txt"
    text.write_text("words")
    plan = compress()
    plan.text = str(text)
    assert plan.step().text is None
    plan.method = "gptq"
    assert plan.step().text.path == str(text)
    plan.text = None
    assert plan.step().text is None


def test_the_recipe_goes_all_the_way_from_the_original():
    plan = compress(variant="cut")
    plan.params = {"bits": 4}
    assert [s.method for s in plan.recipe().steps] == ["magnitude", "rtn"]
    assert plan.recipe().source.fingerprint == "f" * 64
    assert "bits: 4" in plan.recipe().to_yaml()


def test_the_job(tmp_path):
    plan = compress()
    plan.params, plan.seed, plan.name = {"bits": 4}, 7, " four "
    spec = plan.spec()
    assert (spec.variant, spec.name, spec.measure, spec.steps[0].params, spec.steps[0].seed) == ("seven", "four", True, {"bits": 4}, 7)
    plan.measure, plan.measure_text = False, "/gone"
    assert plan.spec().text is None
    assert not plan.problem("review")


def test_measuring_on_the_training_text_is_warned_of(tmp_path):
    text = tmp_path / "t.txt"
    text.write_text("words")
    plan = compress("distillation")
    plan.text = plan.measure_text = str(text)
    assert "flatters" in said(plan.warning())
    plan.measure_text = None
    assert not plan.warning()


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("rtn", {"bits": 8}, "rtn 8-bit"),
        ("rtn", {"bits": 8, "granularity": "auto", "group_size": 128}, "rtn 8-bit"),
        ("rtn", {"bits": 4, "granularity": "group", "group_size": 64}, "rtn 4-bit group g64"),
    ],
)
def test_suggested_names(method, params, name):
    plan = compress(variant="one")
    plan.variants = {"one": plan.variants["one"]}
    plan.method, plan.params = method, params
    assert plan.suggested_name() == name


def test_a_learning_rate_and_how_much_text_it_looked_at_are_no_names():
    """'heads 16 windows 256 context 10 %' said least what mattered most, and 'finetune 0.01 %' was a learning rate."""
    knob = lambda name, default, **more: Knob(name=name, kind="int", title=name, help="", default=default, **more)
    windows, context = knob("windows", 16), knob("context", 256)
    share = knob("share", 0.1, low=0, high=1).model_copy(update={"kind": "float"})
    rate = share.model_copy(update={"name": "rate"})
    plan = compress(variant="one")
    plan.methods = (MethodInfo(name="heads", family="pruning", knobs=(windows, context, share, rate)),)
    plan.method, plan.params = "heads", {"windows": 16, "context": 256, "share": 0.1, "rate": 1e-4}
    assert plan.suggested_name() == "heads 10 %"
    plan.params["windows"] = 32
    assert plan.suggested_name() == "heads 32 windows 10 %"


def test_suggested_names_are_free():
    assert free_name("a", ["a", "a (2)"]) == "a (3)"
    assert free_name("b", ["a"]) == "b"
    plan = compress()
    plan.params = {"bits": 8}
    assert plan.suggested_name() == "rtn 8-bit (2)"


def test_an_unknown_family_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="family"):
        CompressPlan("/w", "sharpening", ())


# ---- devices


def test_the_best_device_comes_first():
    assert plans.best_device([S.CPU, S.GPU]) == "cuda:0"
    assert plans.best_device([S.CPU, DeviceInfo(name="mps", title="Apple")]) == "mps"
    assert plans.best_device([S.CPU]) == "cpu"
    assert plans.best_device([]) == "auto"


def test_too_little_memory_is_said():
    assert not plans.memory_problem(5 * S.GB, S.CPU)
    assert "may not fit" in said(plans.memory_problem(12 * S.GB, S.CPU))
    assert not plans.memory_problem(None, S.CPU)
    assert not plans.memory_problem(5, None)


# ---- evaluating


def test_a_variant_is_not_compared_with_itself_or_with_other_tokens():
    plan = EvaluatePlan("/w", S.VARIANTS)
    plan.variants = ("cut",)
    assert "itself" in said(plan.reference_problem(plan.all["cut"]))
    assert "other tokens" in said(plan.reference_problem(plan.all["other"]))
    assert not plan.reference_problem(plan.all["seven"])


def test_each_chosen_variant_is_a_job():
    plan = EvaluatePlan("/w", S.VARIANTS)
    assert said(plan.problem("measure")) == "Choose at least one variant."
    plan.variants, plan.reference = ("seven", "cut"), "seven"
    assert not plan.problem("measure")
    specs = plan.specs()
    assert [(name, s.variant, s.reference) for name, s in specs] == [("Shakespeare 7M", "seven", None), ("magnitude 30 %", "cut", "seven")]


# ---- exporting


def export(tmp_path) -> ExportPlan:
    plan = ExportPlan(str(tmp_path / "w"), S.VARIANTS)
    plan.choose_default("cut")
    return plan


def test_the_suggested_folder_has_the_variants_name(tmp_path):
    assert export(tmp_path).suggested_folder() == str(tmp_path / "w" / "exports" / "magnitude-30-onnx")
    assert file_name("a / b: c") == "a-b-c"
    assert file_name("...") == "model"
    assert file_name("模型 1") == "模型-1"


def test_where_an_export_may_go(tmp_path):
    plan = export(tmp_path)
    assert said(plan.problem("folder")) == "Choose a folder."
    plan.to = "here"
    assert "whole path" in said(plan.problem("folder"))
    plan.to = str(tmp_path / "new" / "deep")
    assert not plan.problem("folder")
    plan.to = str(tmp_path / "w" / "variants" / "x")
    assert "belongs to the workspace" in said(plan.problem("folder"))
    (tmp_path / "file").write_text("x")
    plan.to = str(tmp_path / "file")
    assert "is a file" in said(plan.problem("folder"))


def test_files_in_the_way_need_a_word(tmp_path):
    plan = export(tmp_path)
    plan.to = str(tmp_path / "old")
    (tmp_path / "old").mkdir()
    assert not plan.problem("folder")
    (tmp_path / "old" / "model.onnx").write_text("x")
    assert "aren't an earlier export" in said(plan.problem("folder"))  # which would be refused by the job
    (tmp_path / "old" / "export_report.json").write_text("{}")
    assert "holds files already" in said(plan.problem("folder"))
    plan.overwrite = True
    assert not plan.problem("folder")
    assert plan.spec().overwrite


def test_an_estimate_of_the_export(tmp_path):
    assert export(tmp_path).estimate == 4 * 7_349_760


def test_only_text_generators_have_a_fast_profile_and_only_quantized_ones_round(tmp_path):
    plan = export(tmp_path)
    plan.profile, plan.activations = "fast", "int8"
    assert (plan.spec().onnx.profile, plan.spec().onnx.activations) == ("fast", "float32")
    source = plan.source
    plan.variants[plan.variant] = source.model_copy(update={"info": source.info.model_copy(update={"quantization": "4 bits"})})
    assert plan.spec().onnx.activations == "int8"
    assert plan.estimate == source.ledger.weight_bytes  # the grid as it is
    plan.variants[plan.variant] = source.model_copy(update={"info": source.info.model_copy(update={"task": "encoder"})})
    assert plan.spec().onnx == OnnxOptions()
    plan.format = "gguf"
    assert plan.spec().onnx == OnnxOptions()


def test_precisions_are_those_that_a_variant_can_have(tmp_path):
    """A precision that was chosen before stays a wish: it's asked for only where the variant has it."""
    plan = ExportPlan(
        str(tmp_path / "w"),
        [
            S.variant("text"),
            S.variant("enc", model_type="bert", task="encoder"),
            S.variant("draws", model_type="unet2d", task="diffusion"),
            S.variant("t5", model_type="t5", task="unknown"),
            S.variant("other", model_type="bart", task="unknown"),
        ],
    )
    offered = {}
    plan.precision = "int8-static"
    for name in plan.variants:
        plan.variant = name
        offered[name] = (plan.precisions[1:], plan.spec().onnx.precision)
    assert offered == {
        "text": (("float16",), "float32"),
        "enc": (("float16", "int8-dynamic", "int8-static"), "int8-static"),
        "draws": (("float16",), "float32"),
        "t5": ((), "float32"),
        "other": (("float16",), "float32"),
    }
    plan.variant, plan.text = "enc", str(tmp_path / "missing.txt")
    plan.to = str(tmp_path / "out")
    assert "missing.txt" in said(plan.problem("folder"))
    plan.text = None
    assert not plan.problem("folder")
    dense = plan.source.ledger.parameters * 4
    assert plan.estimate < dense
    plan.precision = "float16"
    assert plan.estimate == dense / 2
    plan.variant = "draws"
    assert not plan.variant_problem(plan.source)
    assert next(name for name, _ in plan.files()) == "unet/model.onnx"
    plan.format = "gguf"
    assert "as ONNX only" in said(plan.problem("folder"))
    plan.format, plan.variant = "onnx", "t5"
    assert next(name for name, _ in plan.files()).startswith("encoder.onnx")
    assert "isn't known" in said(plan.variant_problem(plan.variants["other"]))


def test_a_classifier_is_scored_on_what_it_learnt_from_while_that_is_there(tmp_path):
    plan = ExportPlan(str(tmp_path / "w"), [S.variant("sorts", model_type="bert", task="classifier")])
    plan.variant = "sorts"
    assert plan.spec().onnx.labels is None
    examples = tmp_path / "examples.csv"
    known = LabelsRef(path=str(examples), sha256="ab")
    steps = (Step(method="classify", labels=known),)
    plan.variants["sorts"] = plan.source.model_copy(update={"recipe": plan.source.recipe.model_copy(update={"steps": steps})})
    assert plan.spec().onnx.labels is None
    examples.write_text("text,label\n")
    assert plan.spec().onnx.labels == known


def test_an_estimate_of_a_gguf_file(tmp_path):
    plan = export(tmp_path)
    plan.format = "gguf"
    assert plan.estimate == round(7_349_760 * 8.5 / 8)
    plan.gguf_type = "q4_0"
    assert plan.estimate == round((1_048_576 * 8.5 + (7_349_760 - 1_048_576) * 4.5) / 8)  # the embedding keeps 8 bits
    plan.gguf_type, plan.variant = "auto", "eight"
    assert plan.stored_as == ""
    assert plan.estimate == plan.source.ledger.weight_bytes
    assert plan.suggested_folder().endswith("rtn-8-bit-gguf")


def test_a_kind_that_gguf_doesn_t_take(tmp_path):
    plan = ExportPlan(str(tmp_path / "w"), [S.variant("enc", model_type="bert", task="encoder")])
    plan.choose_default("enc")
    plan.to = str(tmp_path / "new")
    assert not plan.problem("folder")
    plan.format = "gguf"
    assert said(plan.problem("folder")) == "A model of the kind bert can't be written as GGUF here. Choose ONNX."
