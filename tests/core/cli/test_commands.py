"""The command line as a contract: what it prints, where, and with which exit status."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.__main__ import main as start
from core.cli.commands import cli
from core.records import Measurement
from core.workspace import Workspace
from tests import warm

ROOT = Path(__file__).parents[3]


def cli_run(*words: object) -> subprocess.CompletedProcess:
    """The command in a process of its own, and its worker in another."""
    return warm.run([sys.executable, "-m", "core", *map(str, words)], cwd=ROOT, timeout=200, env=os.environ | {"COLUMNS": "200"})


@pytest.fixture
def runner():
    return CliRunner()


@pytest.fixture
def home(tmp_path, add_variant) -> Workspace:
    made = Workspace(tmp_path / "w", create=True)
    parent = add_variant(made, "parent")
    child = add_variant(made, "child", parent=parent.id, kind="quantized", method="rtn")
    made.add_measurements(child.id, [Measurement(kind="perplexity", value=5.5, stderr=0.1, n=100)])
    return made


def test_list_gives_every_field_of_the_contract(runner, home):
    done = runner.invoke(cli, ["list", "-w", str(home.folder), "--json"])
    assert done.exit_code == 0
    rows = json.loads(done.stdout)
    assert [r["name"] for r in rows] == ["parent", "child"]
    for row in rows:
        assert {"id", "name", "parent", "method", "bytes_on_disk", "parameters", "nonzero", "effective_bits", "measurements"} <= set(row)
    assert rows[1]["parent"] == rows[0]["id"]
    assert rows[1]["measurements"][0]["value"] == 5.5


def test_list_for_people_names_them(runner, home):
    done = runner.invoke(cli, ["list", "-w", str(home.folder)])
    assert "child" in done.stdout
    assert "5.5" in done.stdout


def test_delete_by_name_and_what_forbids_it(runner, home):
    refused = runner.invoke(cli, ["delete", "-w", str(home.folder), "--variant", "parent"])
    assert refused.exit_code == 1
    assert "child" in refused.stderr
    assert refused.stdout == ""
    assert runner.invoke(cli, ["delete", "-w", str(home.folder), "--variant", "child", "--json"]).exit_code == 0
    assert [v.name for v in home.variants()] == ["parent"]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["list"], 2, "workspace"),
        (["list", "-w", "/nowhere/at/all"], 1, "not a Spokeshave workspace"),
        (["nonsense"], 2, "No such command"),
        (["methods", "magnitud"], 2, "Did you mean magnitude"),
        (["generate", "-w", "x", "--target", "a", "--prompt", "p", "--draft", "b", "--ngram"], 2, "exclude"),
        (["generate", "-w", "x", "--target", "a", "--prompt", "p", "--top-p", "0"], 2, "top-p"),
        (["generate", "-w", "x", "--target", "a", "--prompt", "p", "--top-p", "nan"], 2, "not a number"),
        (["generate", "-w", "x", "--target", "a", "--prompt", "p", "--temperature", "nan"], 2, "not a number"),
        (["generate", "-w", "x", "--target", "a", "--prompt", "p", "--ngram", "--proposer", "packed"], 2, "exclude"),
        (["generate", "-w", "x", "--target", "a", "--prompt", "p", "--proposer", "draft"], 2, "needs --draft"),
        (["generate", "-w", "x", "--target", "a", "--prompt", "p", "--skip-layers", "1,x"], 2, "isn't a list of layers"),
        (["generate", "-w", "x", "--target", "a"], 2, "--prompt"),
        (["generate", "-w", "x", "--target", "a", "--prompt", "p", "--system", "s"], 2, "--chat"),
        (["find-draft", "-w", "x", "--target", "a"], 2, "--prompt"),
        (["exactness", "-w", "x", "--target", "a", "--prompt", "p", "--temperature", "0"], 2, "temperature"),
        (["inspect", ""], 2, "empty"),
        (["import", " ", "-w", "x"], 2, "empty"),
        (["import", "m", "-w", "/tmp/" + 300 * "x"], 1, "too long"),
        (["run", "/nowhere.yaml", "-w", "x"], 1, "can't be read: No such file"),
        (["inspect", "/nowhere/model"], 1, "/nowhere/model"),
    ],
)
def test_wrong_use_is_2_and_a_failure_is_1_with_one_sentence(runner, words, status, said):
    done = runner.invoke(cli, words)
    assert done.exit_code == status, done.output
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert done.stdout == ""


def test_a_rounds_file_that_cannot_be_written_is_told_before_anything_runs(runner, home):
    words = ["generate", "-w", str(home.folder), "--target", "parent", "--prompt", "p", "--rounds", "/nowhere/at/all.jsonl"]
    done = runner.invoke(cli, words)
    assert done.exit_code == 1
    assert "/nowhere/at/all.jsonl can't be written" in done.stderr


def test_ctrl_c_while_the_libraries_come_in_is_no_traceback(monkeypatch, capsys):
    def pressed():
        raise KeyboardInterrupt

    monkeypatch.setattr("core.cli.main", pressed)
    with pytest.raises(SystemExit) as left:
        start()
    assert left.value.code == 130
    assert capsys.readouterr() == ("", "Cancelled; nothing was left behind.\n")


def test_methods_are_listed_with_their_knobs(runner):
    rows = json.loads(runner.invoke(cli, ["methods", "--json"]).stdout)
    assert {"magnitude", "rtn", "distil", "finetune"} <= {r["name"] for r in rows}
    one = json.loads(runner.invoke(cli, ["methods", "rtn", "--json"]).stdout)
    bits = next(k for k in one["knobs"] if k["name"] == "bits")
    assert bits["default"] == 8
    assert "bits" in runner.invoke(cli, ["methods", "rtn"]).stdout


@pytest.mark.slow
def test_from_import_to_generation_in_real_processes(tmp_path, pico_llama, pico_draft, pico_text):
    """Standard output is one document, standard error the rest; a recipe gives the same weights again."""
    home = tmp_path / "w"
    first = cli_run("import", pico_llama, "-w", home, "--text", pico_text, "--json")
    assert first.returncode == 0, first.stderr
    target = json.loads(first.stdout)["id"]
    second = cli_run("import", pico_draft, "-w", home, "--no-measure", "--name", "small")
    draft = second.stdout.strip()
    assert draft in Workspace(home).ids()

    made = cli_run("apply", "rtn", "-w", home, "--variant", target, "--set", "bits=4", "--set", "group_size=32", "--json")
    assert made.returncode == 0, made.stderr
    made = json.loads(made.stdout)
    again = cli_run("run", Path(made["path"]) / "recipe.yaml", "-w", home, "--json")
    assert json.loads(again.stdout)["fingerprint"] == made["fingerprint"]

    scored = cli_run(
        "evaluate",
        "-w",
        home,
        "--variant",
        made["id"],
        "--text",
        pico_text,
        "--reference",
        target,
        "--context",
        64,
        "--max-tokens",
        300,
        "--json",
    )
    figures = json.loads(scored.stdout)
    assert figures["kl"] > 0
    assert 0 <= figures["agreement"] <= 1
    assert figures["perplexity_stderr"] > 0
    assert figures["tokens"] > 0

    rounds = tmp_path / "rounds.jsonl"
    common = ("-w", home, "--target", target, "--prompt", "the quick brown", "--max-new-tokens", 16)
    drafted = json.loads(cli_run("generate", *common, "--draft", draft, "--rounds", rounds, "--json").stdout)
    plain = json.loads(cli_run("generate", *common, "--json").stdout)
    assert drafted["token_ids"] == plain["token_ids"]
    assert {"text", "tokens_per_s", "accepted", "tested", "drafted", "rounds", "tokens_per_target_call"} <= set(drafted)
    lines = [json.loads(line) for line in rounds.read_text().splitlines()]
    assert len(lines) == drafted["rounds"]

    raced = cli_run(
        "generate", *common, "--proposer", "packed", "--policy", "adaptive", "--race", "--rival", "ngram:gamma=2", "--ban", "the"
    )
    assert raced.returncode == 0, raced.stderr
    assert {"speculative", "rival", "plain"} <= {line.split(" ")[0] for line in raced.stderr.splitlines()}
    assert "identical tokens" in raced.stderr
    tried = cli_run("find-draft", "-w", home, "--target", target, "--prompt", "the quick brown", "--max-new-tokens", 8, "--repeats", 1)
    assert tried.returncode == 0, tried.stderr
    assert "packed copy" in tried.stdout
    assert "small" in tried.stdout  # the other model
    checked = cli_run("exactness", "-w", home, "--target", target, "--prompt", "the quick", "--ngram", "--runs", 60, "--top-k", 2, "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["passed"] is True


@pytest.mark.slow
def test_ctrl_c_cancels_and_leaves_nothing(tmp_path, pico_llama, pico_text):
    home = tmp_path / "w"
    made = cli_run("import", pico_llama, "-w", home, "--no-measure")
    child = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "core",
            "apply",
            "finetune",
            "-w",
            home,
            "--variant",
            made.stdout.strip(),
            "--text",
            pico_text,
            "--set",
            "steps=100000",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test run in the background inherits an ignored one
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not any((home / ".staging").glob("finetune-*/")):
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert out == ""
    assert "Cancelled" in err
    assert len(Workspace(home).ids()) == 1
    assert [p for p in (home / ".staging").iterdir() if p.is_dir()] == []


@pytest.mark.parametrize("content", [b"[]", b"{}", b"null", b"[[", b"\xff", b"[" * 100_000, b'[{"role": "nobody", "content": "x"}]'])
def test_a_chat_that_is_none_says_so(runner, home, tmp_path, content):
    path = tmp_path / "chat.json"
    path.write_bytes(content)
    variant = home.variants()[0].id
    found = runner.invoke(cli, ["generate", "-w", str(home.folder), "--target", variant, "--messages", str(path)])
    assert found.exit_code == 1
    assert "isn't a list of chat turns" in found.stderr
