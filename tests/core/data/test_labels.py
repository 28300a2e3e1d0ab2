"""Labelled examples: what's read from each format, what's refused and with which sentence, and how they're cut into parts."""

import json
import sys
import types

import pytest

from core.data.labels import describe, is_hub_id, read_labels, split, to_model
from core.errors import UserError
from core.recipe import LabelsRef

ROWS = [(f"text number {i}, with a comma", "good" if i % 3 else "bad") for i in range(60)]


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return LabelsRef(path=str(path))


def csv_of(rows, header="text,label"):
    return "\n".join([header, *(f'"{text}",{label}' for text, label in rows)]) + "\n"


@pytest.fixture
def movies(tmp_path):
    return write(tmp_path, "movies.csv", csv_of(ROWS))


def test_every_format_says_the_same(tmp_path, movies):
    import pyarrow
    import pyarrow.parquet

    lines = "".join(json.dumps({"text": t, "label": c}) + "\n" for t, c in ROWS)
    array = json.dumps([{"text": t, "label": c} for t, c in ROWS])
    tabs = "\n".join(["text\tlabel", *(f"{t}\t{c}" for t, c in ROWS)])
    refs = [movies, write(tmp_path, "a.jsonl", lines), write(tmp_path, "a.json", array), write(tmp_path, "a.tsv", tabs)]
    refs.append(write(tmp_path, "b.csv", "\n\n" + "\n".join(["text;label", *(f"{t};{c}" for t, c in ROWS)])))  # as some spreadsheets do
    table = pyarrow.table({"text": [t for t, _ in ROWS], "label": [c for _, c in ROWS]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    refs.append(LabelsRef(path=str(tmp_path / "a.parquet")))
    found = [read_labels(ref) for ref in refs]
    for one in found:
        assert one.texts == tuple(t for t, _ in ROWS)
        assert one.classes == ("bad", "good")
        assert [one.classes[i] for i in one.labels] == [c for _, c in ROWS]
    assert len({one.sha256 for one in found}) == len(found)  # each is the hash of its own file


def test_a_line_separator_inside_a_text_does_not_end_a_json_line(tmp_path):
    lines = "".join(json.dumps({"text": f"{t}\u2028on", "label": c}, ensure_ascii=False) + "\n" for t, c in ROWS)
    assert read_labels(write(tmp_path, "a.jsonl", lines)).texts[0].endswith("\u2028on")


def test_the_columns_are_found_by_name_or_said(tmp_path):
    ref = write(tmp_path, "a.csv", csv_of([(t, f"{c},7") for t, c in ROWS], "Review,Sentiment,stars"))
    found = read_labels(ref)
    assert (found.text_column, found.label_column) == ("Review", "Sentiment")
    with pytest.raises(UserError, match="has no column rating") as error:
        read_labels(ref.model_copy(update={"label": "rating"}))
    assert "Review, Sentiment, stars" in error.value.hint
    ref = write(tmp_path, "b.csv", csv_of(ROWS, "words,label"))  # the only column left is the text
    assert read_labels(ref).text_column == "words"
    with pytest.raises(UserError, match="can't be told which column"):
        read_labels(write(tmp_path, "c.csv", csv_of(ROWS, "a,b")))
    assert read_labels(write(tmp_path, "c.csv", csv_of(ROWS, "a,b")).model_copy(update={"text": "a", "label": "b"})).classes == (
        "bad",
        "good",
    )


def test_texts_of_any_length_and_halves_of_characters(tmp_path):
    found = read_labels(write(tmp_path, "a.csv", csv_of([*ROWS, ("word " * 40_000, "good")])))
    assert len(found.texts[-1]) == 5 * 40_000 - 1
    halves = "".join(f'{{"text": "\\ud83d {t}", "label": "{c}"}}\n' for t, c in ROWS)
    found = read_labels(write(tmp_path, "a.jsonl", halves))
    assert found.texts[0] == f"? {ROWS[0][0]}"
    assert split(found).heldout


def test_numbers_too_long_to_count_with_are_names(tmp_path):
    rows = [(t, ("9" if c == "good" else "1") * 5000) for t, c in ROWS]
    assert len(read_labels(write(tmp_path, "a.csv", csv_of(rows))).classes) == 2


def test_numbered_classes_are_in_the_order_of_their_numbers(tmp_path):
    rows = [(f"t {i}", str(i % 12)) for i in range(60)]
    assert read_labels(write(tmp_path, "a.csv", csv_of(rows))).classes == tuple(str(i) for i in range(12))


def test_rows_without_text_or_class_are_left_out_and_counted(tmp_path):
    found = read_labels(write(tmp_path, "a.csv", csv_of([*ROWS, ("  ", "good"), ("words", "")])))
    assert len(found.texts) == len(ROWS)
    assert found.left_out == 2
    assert found.notes == ("2 rows of a.csv have no text or no class and were left out.",)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "", "a.csv is empty"),
        ("a.csv", "text,label\n", "no row with both"),
        ("a.csv", csv_of([(t, "good") for t, _ in ROWS]), r"of one class \(good\)"),
        ("a.csv", csv_of([(t, f"{i}") for i, (t, _) in enumerate(ROWS)]), "aren't classes"),
        ("a.csv", csv_of([*ROWS, ("odd", "rare")]), "The class rare of a.csv has fewer than three"),
        ("a.csv", "text,label\nan unquoted, comma,good\n", "Line 2 of a.csv has 3 fields"),
        ("a.csv", 'text,label\n"never ends,good\n', "isn't valid CSV"),
        ("a.csv", csv_of(ROWS, "text,text"), "two columns of the same name"),
        ("a.jsonl", '{"text": "a", "label": 1}\nnot json\n', "Line 2 of a.jsonl isn't JSON"),
        ("a.json", "[" * 100_000, "isn't JSON"),
        ("a.jsonl", '["a"]\n', "Row 1 of a.jsonl isn't an object"),
        ("a.jsonl", "".join(json.dumps({"text": t, "label": [1, 2]}) + "\n" for t, _ in ROWS), "doesn't hold classes"),
        ("a.jsonl", "".join(json.dumps({"text": t, "label": i / 7}) + "\n" for i, (t, _) in enumerate(ROWS)), "doesn't hold classes"),
        ("a.txt", "text", "isn't a file of examples"),
        ("a.parquet", "text", "can't be read as Parquet"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path, name, content, sentence):
    with pytest.raises(UserError, match=sentence) as error:
        read_labels(write(tmp_path, name, content))
    assert error.value.kind == "data"


def test_parquet_with_two_columns_of_one_name(tmp_path):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table([[t for t, _ in ROWS], [c for _, c in ROWS], [c for _, c in ROWS]], names=["text", "label", "label"])
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(UserError, match="two columns of the same name"):
        read_labels(LabelsRef(path=str(tmp_path / "a.parquet")))


def test_files_that_are_not_there_or_not_utf8(tmp_path):
    with pytest.raises(UserError, match="There is no file"):
        read_labels(LabelsRef(path=str(tmp_path / "none.csv")))
    with pytest.raises(UserError, match="is a folder"):
        read_labels(LabelsRef(path=str(tmp_path)))
    (tmp_path / "a.csv").write_bytes(b"text,label\n\xff\xfe,1\n")
    with pytest.raises(UserError, match="byte 11 can't be decoded"):
        read_labels(LabelsRef(path=str(tmp_path / "a.csv")))


def test_other_data_than_the_recipe_was_made_with_is_refused(movies):
    ref = read_labels(movies).ref()
    assert read_labels(ref).texts
    with pytest.raises(UserError, match="aren't those that the recipe was made with"):
        read_labels(ref.model_copy(update={"sha256": "0" * 64}))


# ---- the parts


def test_the_parts_do_not_share_a_text_and_hold_every_class(tmp_path):
    found = read_labels(write(tmp_path, "a.csv", csv_of([*ROWS, *ROWS[:20]])))  # twenty texts occur twice
    parts = split(found)
    assert sorted([*parts.learn, *parts.aside, *parts.heldout]) == list(range(80))
    texts = [{found.texts[i] for i in part} for part in (parts.learn, parts.aside, parts.heldout)]
    assert sum(map(len, texts)) == len(set.union(*texts)) == 60
    assert len(texts[2]) == 12  # a fifth of sixty
    for part in (parts.learn, parts.heldout):
        assert {found.labels[i] for i in part} == {0, 1}


def test_the_parts_depend_on_the_texts_alone(tmp_path, movies):
    found, turned = read_labels(movies), read_labels(write(tmp_path, "b.csv", csv_of(ROWS[::-1])))
    heldout = lambda read: {read.texts[i] for i in split(read).heldout}
    assert heldout(found) == heldout(turned)
    assert split(found) == split(found)


def test_too_few_texts_to_cut(tmp_path):
    same = [(t, c) for t, c in (("only", "a"), ("other", "b")) for _ in range(5)]
    with pytest.raises(UserError, match="too few different texts"):
        split(read_labels(write(tmp_path, "a.csv", csv_of(same))))


def test_classes_are_matched_with_a_models_by_name_or_number(movies, tmp_path):
    found = read_labels(movies)
    assert to_model(found, {0: "GOOD", 1: "Bad"}) == tuple(1 - i for i in found.labels)
    numbered = read_labels(write(tmp_path, "b.csv", csv_of([(t, str(int(c == "good"))) for t, c in ROWS])))
    assert to_model(numbered, {0: "NEGATIVE", 1: "POSITIVE"}) == numbered.labels
    with pytest.raises(UserError, match=r"bad, good.*aren't those of the model"):
        to_model(found, {0: "yes", 1: "no"})


def test_classes_that_differ_in_case_alone_stay_apart(tmp_path):
    found = read_labels(write(tmp_path, "a.csv", csv_of([(t, "Good" if c == "good" else "GOOD") for t, c in ROWS])))
    assert to_model(found, dict(enumerate(found.classes))) == found.labels
    with pytest.raises(UserError, match="aren't those of the model"):
        to_model(found, {0: "good", 1: "bad"})  # which of the two is meant can't be told


def test_what_a_person_chooses_by(movies):
    found = describe(movies)
    assert found["columns"] == ["text", "label"]
    assert found["classes"] == {"bad": 20, "good": 40}
    assert (found["rows"], found["heldout"], found["left_out"]) == (60, 12, 0)
    assert found["longest"] == max(len(t) for t, _ in ROWS)


def test_columns_that_cannot_be_told_are_left_to_the_person(tmp_path):
    ref = write(tmp_path, "a.csv", csv_of(ROWS, "a,b"))
    assert describe(ref) == {"name": ref.path, "columns": ["a", "b"], "text": "", "label": ""}
    assert describe(ref.model_copy(update={"text": "a"}))["label"] == "b"


# ---- the Hub


def test_names_on_the_hub_are_told_from_paths():
    for name, expected in (("org/name", True), ("org/name:part", True), ("here.csv", False), ("some/here.csv", False), ("/a/b", False)):
        assert is_hub_id(name) is expected, name


def test_a_data_set_of_the_hub(monkeypatch):
    class ClassLabel:
        names = ["neg", "pos"]

    class Found(dict):
        features = {"sentence": object(), "label": ClassLabel()}
        column_names = ["sentence", "label"]

    asked = []

    def load_dataset(*args, split):
        asked.append((*args, split))
        return Found(sentence=[t for t, _ in ROWS], label=[int(c == "good") if i else -1 for i, (_, c) in enumerate(ROWS)])

    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=load_dataset, ClassLabel=ClassLabel))
    found = read_labels(LabelsRef(path="org/films:small"))
    assert asked == [("org/films", "small", "train")]
    assert found.classes == ("neg", "pos")
    assert (len(found.texts), found.left_out) == (59, 1)  # -1 is how the Hub writes a class that isn't told
    assert read_labels(found.ref()) == found

    def offline(*args, **how):
        raise ConnectionError("no network")

    monkeypatch.setattr(sys.modules["datasets"], "load_dataset", offline)
    with pytest.raises(UserError, match="couldn't be read from the Hub") as error:
        read_labels(LabelsRef(path="org/films"))
    assert error.value.kind == "network"
