"""One export of the pico Llama for all tests here, since tracing is what takes the time."""

import shutil
from pathlib import Path

import pytest

from core.export.onnx import export
from core.run import Run
from tests.core.models.conftest import copy_of, edit, pico_bert, pico_gpt2, run  # noqa: F401


@pytest.fixture(scope="package")
def exported(pico_llama, tmp_path_factory) -> tuple[Path, dict]:
    """(folder, report) of the pico Llama's export. Don't change the folder: copy it."""
    to = tmp_path_factory.mktemp("onnx") / "pico"
    return to, export(pico_llama, to, Run())


@pytest.fixture
def copied(exported, tmp_path) -> Path:
    """A copy of that export, to damage."""
    return shutil.copytree(exported[0], tmp_path / "copy")
