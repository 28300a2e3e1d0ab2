"""Who may draft for whom, said from records alone."""

from core.pairing import draft_note, draft_problem
from tests.core.conftest import make_variant


def told(**info):
    variant = make_variant("draft")
    return variant.model_copy(update={"info": variant.info.model_copy(update=info)})


def test_the_same_tokens_need_no_word():
    target = make_variant("target")
    assert draft_problem(target, told()) == ""
    assert draft_note(target, told()) == ""


def test_other_tokens_are_no_obstacle_but_are_told_of():
    target = make_variant("target")
    assert draft_problem(target, told(tokens_hash="else")) == ""
    assert "re-encoded" in draft_note(target, told(tokens_hash="else"))


def test_what_writes_no_text_or_has_no_tokens_cannot_draft():
    target = make_variant("target")
    assert draft_problem(target, told(task="encoder")) == "It doesn't generate text."
    assert "tokenizer" in draft_problem(target, told(tokens_hash=""))
