"""What an exported graph asks of onnxruntime, foreseen."""

import pytest

from core.errors import UserError
from core.records import OnnxOptions
from core.runtimes import foresee

EIGHT = {"quantization_config": {"config_groups": {"group_0": {"weights": {"num_bits": 8}}}}}


@pytest.mark.parametrize(
    ("config", "options", "generates", "needed"),
    [
        ({}, {}, True, "1.14"),
        ({}, {"profile": "fast"}, True, "1.20"),
        ({}, {"profile": "fast"}, False, "1.14"),  # an encoder is written portable
        ({"attn_logit_softcapping": 50.0}, {"profile": "fast"}, True, "1.20"),
        ({"text_config": {"sliding_window": 512}}, {"profile": "fast"}, True, "1.24"),
        ({"sliding_window": 4096, "use_sliding_window": False}, {"profile": "fast"}, True, "1.20"),
        (EIGHT, {"activations": "int8"}, True, "1.22"),
        (EIGHT, {}, True, "1.14"),
    ],
)
def test_what_a_runtime_lacks_is_foreseen(config, options, generates, needed):
    """Tracing takes minutes: what the config tells is told before."""
    foresee(config, OnnxOptions(runtime=needed, **options), generates)
    foresee(config, OnnxOptions(**options), generates)
    major, minor = map(int, needed.split("."))
    with pytest.raises(UserError, match="is too old for the operators"):
        foresee(config, OnnxOptions(runtime=f"{major}.{minor - 1}", **options), generates)


def test_of_the_oldest_there_is_no_other_advice_than_a_later_one():
    with pytest.raises(UserError) as caught:
        foresee({}, OnnxOptions(runtime="1.10"), True)
    assert "portable" not in caught.value.hint
    with pytest.raises(UserError) as caught:
        foresee({}, OnnxOptions(runtime="1.18", profile="fast"), True)
    assert "portable" in caught.value.hint
