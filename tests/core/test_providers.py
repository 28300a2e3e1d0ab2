"""Execution providers: what's offered of what onnxruntime says it has, and that a fallback is said."""

import pytest

from core import providers
from core.errors import UserError

HAVE = ["TensorrtExecutionProvider", "CUDAExecutionProvider", "DmlExecutionProvider", "AzureExecutionProvider", "CPUExecutionProvider"]


def test_those_that_are_known_and_there_are_offered():
    assert providers.offered(HAVE) == ["cpu", "cuda", "directml"]
    assert providers.offered(["AzureExecutionProvider", "CPUExecutionProvider"]) == ["cpu"]


def test_the_cpu_takes_what_another_cant():
    assert providers.chosen("cuda", HAVE) == ["CUDAExecutionProvider", "CPUExecutionProvider"]
    assert providers.chosen("", HAVE) == providers.chosen("cpu", HAVE) == ["CPUExecutionProvider"]


def test_what_isnt_there_is_refused_with_what_is():
    with pytest.raises(UserError, match="can't compute by OpenVINO: it has CPU, CUDA, DirectML"):
        providers.chosen("openvino", HAVE)


def test_a_fallback_is_said():
    assert providers.fallback_note("cuda", "cuda") == providers.fallback_note("", "cpu") == ""
    assert providers.fallback_note("cuda", "cpu") == "CUDA didn't take this graph on: CPU computes it."
    assert providers.name_of("CUDAExecutionProvider") == "cuda"
