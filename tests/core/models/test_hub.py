"""The Hub, against a stand-in server: listing, headers, download, resume, cancel, and every way to be told no."""

import hashlib
import http.server
import json
import threading
from pathlib import Path

import pytest
from filelock import FileLock

from core.errors import Cancelled, UserError
from core.models import hub
from core.models.bring import bring
from core.models.inspect import inspect
from core.models.save import fingerprint
from tests.core.models.conftest import Recorder

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class StandIn(http.server.ThreadingHTTPServer):
    """Serves folders as the Hub does; keeps what it was asked for."""

    daemon_threads = True

    def __init__(self):
        self.repos: dict[str, Path] = {}
        self.refuse: dict[str, tuple[int, str]] = {}  # repo -> (status, X-Error-Code)
        self.asked: list[tuple[str, str, str]] = []  # (method, path, range)
        self.sent = 0
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    server: StandIn

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body: bool):
        self.server.asked.append((self.command, self.path, self.headers.get("Range", "")))
        path = self.path.partition("?")[0].strip("/")
        api = path.startswith("api/models/")
        path = path.removeprefix("api/models/")
        repo, _, rest = path.partition("/resolve/") if not api else (path.partition("/revision/")[0], "", "")
        if repo in self.server.refuse:
            status, code = self.server.refuse[repo]
            return self.reply(status, b"{}", {"X-Error-Code": code, "X-Error-Message": code} if code else {})
        folder = self.server.repos.get(repo)
        if folder is None:
            return self.reply(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        if api:
            files = [{"rfilename": p.name, "size": p.stat().st_size} for p in sorted(folder.iterdir()) if p.is_file()]
            return self.reply(200, json.dumps({"id": repo, "modelId": repo, "sha": COMMIT, "siblings": files}).encode(), {})
        file = folder / rest.partition("/")[2]
        if not file.is_file():
            return self.reply(404, b"{}", {"X-Error-Code": "EntryNotFound"})
        data = file.read_bytes()
        extra = {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        status = 200
        if wanted := self.headers.get("Range"):
            start, _, stop = wanted.removeprefix("bytes=").partition("-")
            extra["Content-Range"] = f"bytes {start}-{stop or len(data) - 1}/{len(data)}"
            data = data[int(start) : int(stop) + 1 if stop else None]
            status = 206
        return self.reply(status, data, extra, body)

    def reply(self, status: int, data: bytes, headers: dict[str, str], body: bool = True):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body and self.command == "GET":
            self.server.sent += len(data)
            try:
                self.wfile.write(data)
            except OSError:
                self.close_connection = True  # a cancelled client hangs up


@pytest.fixture
def server(monkeypatch, tmp_path, pico_llama):
    made = StandIn()
    made.repos["org/pico"] = pico_llama
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{made.server_port}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture
def staged(tmp_path):
    folder = tmp_path / "staged"
    folder.mkdir()
    return folder


def test_ids():
    assert hub.is_id("org/name")
    assert hub.is_id("gpt2")
    for source in ("/abs", "./here", "../up", "a/b/c", "model.gguf", "org/na me", "", "~/x", "C:\\x"):
        assert not hub.is_id(source)


def test_inspection_downloads_no_weights(server, pico_llama):
    info, local = inspect("org/pico"), inspect(pico_llama)
    assert info.kind == "hub"
    assert info.name == "pico"
    for field in (
        "architecture",
        "task",
        "parameters",
        "components",
        "dtypes",
        "tied",
        "bytes_on_disk",
        "layers",
        "vocabulary",
        "tokenizer",
    ):
        assert getattr(info, field) == getattr(local, field), field
    weights = [(method, path, asked) for method, path, asked in server.asked if path.endswith(".safetensors")]
    assert [asked for _, _, asked in weights] == ["bytes=0-99999"]


def test_headers_longer_than_the_first_request(server, monkeypatch):
    monkeypatch.setattr(hub, "HEADER_GUESS", 64)
    assert inspect("org/pico").parameters == 28_192


def test_import(server, pico_llama, staged, run, tmp_path):
    info, notes = bring("org/pico", staged, run)
    assert fingerprint(staged) == fingerprint(pico_llama)
    assert {p.name for p in staged.iterdir()} == {p.name for p in pico_llama.iterdir()}
    assert info.kind == "variant"
    assert info.source == "org/pico"
    assert notes == []
    assert "Downloading" in run.stages
    last = [e for e in run.events if getattr(e, "stage", "") == "Downloading"][-1]
    assert last.done == last.total == sum(p.stat().st_size for p in pico_llama.iterdir())
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]  # nothing is kept twice


def test_sharded(server, pico_llama, copy_of, sharded, staged, run):
    server.repos["org/cut"] = sharded(copy_of(pico_llama))
    assert inspect("org/cut").parameters == 28_192
    bring("org/cut", staged, run)
    assert fingerprint(staged) == fingerprint(pico_llama)


def test_cancelled_download_goes_on_where_it_stopped(server, pico_llama, staged, monkeypatch, tmp_path):
    monkeypatch.setattr(hub, "CHUNK", 4096)
    size = (pico_llama / "model.safetensors").stat().st_size

    class HalfWay(Recorder):
        def progress(self, stage, done, total, left=None, note="", force=True):
            super().progress(stage, done, total, left, note)
            if stage == "Downloading" and done > total - size // 2:
                self.control("cancel")

    with pytest.raises(Cancelled):
        bring("org/pico", staged, HalfWay())
    assert not list(staged.iterdir())
    parts = list((tmp_path / "cache").rglob("*.part"))
    have = parts[0].stat().st_size
    assert 0 < have < size
    server.asked.clear()
    bring("org/pico", staged, Recorder())
    weights = [asked for method, path, asked in server.asked if path.endswith("model.safetensors") and method == "GET"]
    assert weights == ["bytes=0-99999", f"bytes={have}-"]  # inspection, then the rest
    assert not [path for method, path, _ in server.asked if method == "GET" and path.endswith("tokenizer.json")]  # had come whole
    assert fingerprint(staged) == fingerprint(pico_llama)


@pytest.mark.parametrize(
    ("status", "code", "sentence"),
    [
        (403, "GatedRepo", "is gated"),
        (401, "GatedRepo", "is gated"),
        (404, "RepoNotFound", "no model org/pico on the Hub"),
        (401, "", "no model org/pico on the Hub"),
        (418, "", r"refused to send org/pico \(status 418\)"),
    ],
)
def test_refusals(server, status, code, sentence):
    server.refuse["org/pico"] = (status, code)
    with pytest.raises(UserError, match=sentence) as caught:
        inspect("org/pico")
    assert caught.value.kind == "network"
    assert caught.value.hint


def test_no_such_model(server):
    with pytest.raises(UserError, match="no model org/nothing on the Hub"):
        inspect("org/nothing")


def test_switched_off(server, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="downloads are switched off"):
        inspect("org/pico")


def test_no_network(server, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UserError, match=r"Hub at http://127.0.0.1:9 can't be reached") as caught:
        inspect("org/pico")
    assert caught.value.kind == "network"


def test_repositories_that_are_no_model(server, tmp_path, pico_llama, copy_of):
    folder = server.repos["org/other"] = tmp_path / "other"
    folder.mkdir()
    (folder / "README.md").write_text("x")
    with pytest.raises(UserError, match=r"has no config.json"):
        inspect("org/other")
    (folder / "m.gguf").write_bytes(b"GGUF")
    with pytest.raises(UserError, match="holds GGUF files"):
        inspect("org/other")
    (folder / "config.json").write_bytes((pico_llama / "config.json").read_bytes())
    with pytest.raises(UserError, match="no weights in safetensors"):
        inspect("org/other")
    (folder / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(UserError, match="pickled only"):
        inspect("org/other")
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model-1.safetensors"}}')
    with pytest.raises(UserError, match="isn't complete"):
        inspect("org/other")
    (folder / "model.safetensors").write_bytes(b"not a header at all, and more")
    with pytest.raises(UserError, match="is damaged"):
        inspect("org/other")
    (folder / "config.json").write_text("nonsense")
    with pytest.raises(UserError, match=r"config.json of org/other isn't valid JSON"):
        inspect("org/other")


def test_two_at_once(server, staged, run):
    listing = hub.listing("org/pico")
    home = hub.cache_folder(listing)
    home.parent.mkdir(parents=True)
    with FileLock(home.with_name(f"{home.name}.lock")), pytest.raises(UserError, match="being downloaded already"):
        bring("org/pico", staged, run)


def test_no_room(server, staged, run, monkeypatch):
    monkeypatch.setattr("core.models.save.shutil.disk_usage", lambda _: type("U", (), {"free": 1_000_000}))
    with pytest.raises(UserError, match="1 MB free") as caught:
        bring("org/pico", staged, run)
    assert caught.value.kind == "disk"


def test_own_code_is_fetched_only_when_asked_for(server, pico_llama, copy_of, edit, staged, run):
    folder = server.repos["org/own"] = copy_of(pico_llama)
    edit(folder, auto_map={"AutoModelForCausalLM": "modeling_own.Own"})
    (folder / "modeling_own.py").write_text("from transformers import LlamaForCausalLM\nclass Own(LlamaForCausalLM):\n    pass\n")
    with pytest.raises(UserError, match="needs code of its own"):
        bring("org/own", staged, run)
    assert not [path for _, path, _ in server.asked if path.endswith(".py")]
    bring("org/own", staged, run, remote_code=True)
    assert (staged / "modeling_own.py").exists()
