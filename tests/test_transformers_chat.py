"""Chat templates beside `transformers`: our rendering and theirs, and `as_transformers()` with its own.

Leaves out: what only we refuse (`test_chat_sandbox`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chat_templates import ANSWERS, ASKS, CHATML, CONVERSATIONS, TEMPLATES, THANKS, WEATHER
from transformers_folders import write

import syllabary
from syllabary import ChatError, Tokenizer

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
pytest.importorskip("jinja2", reason="the extra chat is not installed")

OPTIONS: list[dict[str, Any]] = [
    {},
    {"add_generation_prompt": True},
    {"tools": [WEATHER]},
    {"documents": [{"title": "t", "text": "Rhein & Main"}]},
    {"continue_final_message": True},
    {"date_string": "today"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    templates = [{"name": name, "template": text} for name, text in TEMPLATES.items()]
    more = {"additional_special_tokens": ["<|im_start|>", "<|im_end|>"], "chat_template": templates}
    return write("bytes", tmp_path_factory.mktemp("chat"), **more)


@pytest.fixture(scope="module")
def tok(folder: Path) -> Tokenizer:
    return syllabary.load(folder)


LATER = {("blocks", "llama-3"), ("blocks", "mistral"), ("blocks", "plain"), ("thinks", "chatml")}
IS_OLDER = tuple(map(int, transformers.__version__.split(".")[:2])) < (5, 23)


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Any:
    return transformers.PreTrainedTokenizerFast.from_pretrained(folder)


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_texts(tok: Tokenizer, theirs: Any, name: str, conversation: str) -> None:
    if IS_OLDER and (conversation, name) in LATER:
        pytest.skip("the newest transformers for Python 3.10 renders objects and thoughts otherwise")
    for options in OPTIONS:
        asked = {"chat_template": name, "tokenize": False, **options}
        try:
            expected = theirs.apply_chat_template(CONVERSATIONS[conversation], **asked)
        except Exception:  # noqa: BLE001 (whatever it is: ours is to be an error as well)
            with pytest.raises(ChatError):
                tok.apply_chat_template(CONVERSATIONS[conversation], **asked)
        else:
            assert tok.apply_chat_template(CONVERSATIONS[conversation], **asked) == expected


def test_ids_and_masks(folder: Path, theirs: Any) -> None:
    ours = syllabary.load(folder)
    wrapped = ours.as_transformers()
    chat = [ASKS, ANSWERS, THANKS, ANSWERS]
    asked = {"chat_template": CHATML, "return_dict": True, "return_assistant_tokens_mask": True}
    expected = theirs.apply_chat_template(chat, **asked)
    assert dict(wrapped.apply_chat_template(chat, **asked)) == dict(expected)
    assert ours.apply_chat_template(chat, **asked) == dict(expected)
    assert sum(expected["assistant_masks"]) > 10


def test_what_would_be_passed_over_in_silence(tok: Tokenizer) -> None:
    """Arguments of theirs are no variables of a template; a mask that nothing marks would train nothing."""
    chat = [ASKS, ANSWERS]
    for wrong in (
        {"truncation": True},
        {"max_length": 5},
        {"padding": True},
        {"return_tensors": "pt"},
        {"sanitize_control_tokens": True},
    ):
        with pytest.raises(TypeError, match=r"takes it$"):
            tok.apply_chat_template(chat, chat_template="chatml", **wrong)
    plain = {"padding": False, "truncation": False, "max_length": None, "return_tensors": None}
    assert tok.apply_chat_template(chat, chat_template=CHATML, **plain) == tok.apply_chat_template(
        chat, chat_template=CHATML
    )
    with pytest.raises(ChatError, match=r"no {% generation %} block"):
        tok.apply_chat_template(
            chat, chat_template="{{ messages }}", return_dict=True, return_assistant_tokens_mask=True
        )


def test_calls_of_theirs(folder: Path, theirs: Any) -> None:
    wrapped = syllabary.load(folder).as_transformers()
    assert wrapped.chat_template == theirs.chat_template
    both = [CONVERSATIONS["one"], CONVERSATIONS["system"]]
    for options in (
        {"return_dict": False},
        {"padding": True, "return_tensors": "np", "add_generation_prompt": True},
        {"truncation": True, "max_length": 12},
        {"sanitize_control_tokens": True},
        {"tokenizer_kwargs": {"return_special_tokens_mask": True}},
    ):
        found, expected = (
            one.apply_chat_template(both, chat_template="chatml", **options) for one in (wrapped, theirs)
        )
        if options.get("return_dict", True):
            assert list(found) == list(expected)
            found, expected = found["input_ids"], expected["input_ids"]
        assert [list(row) for row in found] == [list(row) for row in expected], options


def test_a_function_as_a_tool(folder: Path, theirs: Any) -> None:
    def weather(city: str) -> str:
        """How it is.

        Args:
            city: Where.
        """
        return city

    wrapped = syllabary.load(folder).as_transformers()
    asked = {"tools": [weather], "chat_template": "chatml", "tokenize": False}
    assert wrapped.apply_chat_template([ASKS], **asked) == theirs.apply_chat_template([ASKS], **asked)


def test_saved_templates_come_back(folder: Path, tmp_path: Path) -> None:
    tok = syllabary.load(folder)
    for one in (tok, tok.with_settings(chat_template=CHATML)):
        one.as_transformers().save_pretrained(tmp_path / "saved")
        assert syllabary.load(tmp_path / "saved").settings.chat_templates == one.settings.chat_templates
        for path in (tmp_path / "saved").rglob("*.jinja"):
            path.unlink()


def test_a_message_to_be_continued_that_the_template_shows_twice(tok: Tokenizer, theirs: Any) -> None:
    """The mark of its end is cut off where it stands last, and is theirs."""
    shown = "{% for m in messages %}{{ m.content|length }}{{ m.content|upper }}{{ m.content }}{% endfor %}"
    options = {"chat_template": shown, "tokenize": False, "continue_final_message": True}
    expected = theirs.apply_chat_template([ASKS, ANSWERS], **options)
    assert tok.apply_chat_template([ASKS, ANSWERS], **options) == expected
    with pytest.raises(ChatError, match="'content' of the last message is no text to continue"):
        tok.apply_chat_template([ASKS, {"role": "assistant", "content": 3}], **options)
