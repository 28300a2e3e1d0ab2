"""The evaluation tests use the methods' pico encoder."""

from tests.core.methods.conftest import pico_bert  # noqa: F401
