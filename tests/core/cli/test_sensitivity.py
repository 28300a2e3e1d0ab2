"""The sensitivity command: a table, one JSON document, bits under a budget, and a variant made of what it prints."""

import json
import re

import pytest
from click.testing import CliRunner

from core.cli.commands import cli
from tests.core.cli.test_commands import cli_run


@pytest.fixture(scope="module")
def home(tmp_path_factory, pico_llama):
    folder = tmp_path_factory.mktemp("w") / "home"
    assert cli_run("import", pico_llama, "-w", folder, "--no-measure").returncode == 0
    return folder


def ask(home, *more):
    return cli_run("sensitivity", "-w", home, "--variant", "pico-llama", "--windows", 2, "--context", 24, "--group-size", 16, *more)


def test_a_table_a_document_and_a_choice_that_can_be_made(home):
    done = ask(home, "--json", "--average-bits", 5.5)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["layers"]) == len(found["chosen"]) == 14
    assert found["projected"]["average_bits"] <= 5.5
    assert found["layers"][0]["kl"].keys() == {"0", "8", "6", "5", "4", "3", "2"}
    told = ask(home, "--kl", 0.05)
    assert told.returncode == 0, told.stderr
    assert "KL at 8" in told.stdout
    assert "model.layers.1.mlp.down_proj" in told.stdout
    layers = re.search(r'"(layers=[^"]+)"', told.stdout.replace("\n", " ")).group(1)
    made = cli_run(
        "apply",
        "mixed",
        "-w",
        home,
        "--variant",
        "pico-llama",
        "--set",
        layers,
        "--set",
        "group_size=16",
        "--set",
        "rounding=rtn",
        "--json",
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["notes"][-1].startswith("Layers by bits")


def test_what_cannot_be_met_and_wrong_use(home):
    done = ask(home, "--average-bits", 1.5)
    assert done.returncode == 2
    assert "No choice of bits meets that" in done.stderr
    both = CliRunner().invoke(cli, ["sensitivity", "-w", str(home), "--variant", "x", "--average-bits", "4", "--kl", "1"])
    assert both.exit_code == 2
    assert "give one" in both.output
