"""Chat turns by the model's own template, and what's said where there's none or it refuses."""

import pytest

from core.decode import chat
from core.errors import UserError
from core.records import Turn

PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
STRICT = "{% if messages[0].role == 'system' %}{{ raise_exception('no system turn here.') }}{% endif %}" + PLAIN


@pytest.fixture
def chatty(tokenizer):
    before, tokenizer.chat_template = tokenizer.chat_template, PLAIN
    yield tokenizer
    tokenizer.chat_template = before


USER, REPLY = Turn(role="user", content="the old sailor"), Turn(role="assistant", content="told a long story")


def test_turns_are_written_by_the_template(chatty):
    text, ids = chat.prompt_of([USER], chatty, "pico")
    assert text == "<user>the old sailor<|end|><assistant>"
    assert chatty.decode(ids) == text
    assert ids.count(0) == 1  # the special token is one token, and none is added


def test_the_next_turn_goes_on_from_the_last(chatty):
    _, first = chat.prompt_of([USER], chatty, "pico")
    _, second = chat.prompt_of([USER, REPLY, USER], chatty, "pico")
    assert second[: len(first)] == first


def test_a_last_turn_of_the_assistant_is_gone_on_with(chatty):
    text, _ = chat.prompt_of([USER, REPLY], chatty, "pico")
    assert text.endswith("told a long story")


def test_end_of_turn_is_the_special_token_after_its_words(chatty):
    assert chat.end_of_turn(chatty, "pico") == 0
    chatty.chat_template = PLAIN.replace("<|end|>", " / ")
    assert chat.end_of_turn(chatty, "pico") is None


def test_what_cannot_be_written_is_said(tokenizer, chatty):
    with pytest.raises(UserError, match="no turns"):
        chat.prompt_of([], chatty, "pico")
    chatty.chat_template = STRICT
    with pytest.raises(UserError, match="no system turn here"):
        chat.prompt_of([Turn(role="system", content="be brief"), USER], chatty, "pico")
    chatty.chat_template = None
    with pytest.raises(UserError, match="pico has no chat template"):
        chat.prompt_of([USER], chatty, "pico")
