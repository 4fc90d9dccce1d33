"""Chat templates: rendering, the assistant's spans and tokens, which template, what a folder says.

Leaves out: what a template may not do (`test_chat_sandbox`), and the comparison with `transformers`
(`test_transformers_chat`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_templates import ANSWERS, ASKS, CHATML, CONVERSATIONS, LLAMA_3, MISTRAL, PLAIN, THANKS, WEATHER

import syllabary
from syllabary import ChatError, FormatError, Tokenizer

pytest.importorskip("jinja2", reason="the extra chat is not installed")

from syllabary.chat import render

SPECIAL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<pad>"]


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    made = syllabary.train([CHATML + PLAIN] * 2, vocab_size=400, special_tokens=SPECIAL)
    return made.with_settings(bos_token="<s>", eos_token="</s>", chat_template=CHATML)


def test_a_conversation_is_rendered() -> None:
    found = render(CHATML, CONVERSATIONS["two"], add_generation_prompt=True)
    assert found.text == (
        "<|im_start|>user\nWie heißt der Fluss?  <|im_end|>\n"
        "<|im_start|>assistant\nDer Rhein, mein Freund 🌊<|im_end|>\n<|im_start|>assistant\n"
    )
    [(start, end)] = found.assistant
    assert found.text[start:end] == "Der Rhein, mein Freund 🌊<|im_end|>"


def test_blocks_are_trimmed_and_json_is_not_escaped() -> None:
    found = render(
        "{% if true %}\n  {% set x = 1 %}\na\n  {% endif %}\n{{ tools[0] | tojson }}", [ASKS], tools=[WEATHER]
    )
    assert found.text == "a\n" + json.dumps(WEATHER, ensure_ascii=False)


def test_variables_and_roles(tok: Tokenizer) -> None:
    text = tok.apply_chat_template([ASKS], chat_template=LLAMA_3, date_string="today", tokenize=False)
    assert text.startswith("<s><|start_header_id|>system<|end_header_id|>\n\nToday: today\n")
    assert tok.apply_chat_template([ASKS], chat_template=MISTRAL, bos_token="!", tokenize=False)[0] == "!"


def test_special_tokens_in_the_text_are_ids(tok: Tokenizer) -> None:
    ids = tok.apply_chat_template([ASKS, ANSWERS])
    assert ids == tok.encode(tok.apply_chat_template([ASKS, ANSWERS], tokenize=False), special="allow")
    assert ids.count(tok.special_tokens["<|im_start|>"]) == 2
    assert tok.decode(ids) == tok.apply_chat_template([ASKS, ANSWERS], tokenize=False)


def test_the_mask_is_exact(tok: Tokenizer) -> None:
    found = tok.apply_chat_template(
        [ASKS, ANSWERS, THANKS, ANSWERS], return_dict=True, return_assistant_tokens_mask=True
    )
    assert set(found) == {"input_ids", "attention_mask", "assistant_masks"}
    written = [one for one, mask in zip(found["input_ids"], found["assistant_masks"], strict=True) if mask]
    assert tok.decode(written) == (ANSWERS["content"] + "<|im_end|>") * 2


def test_a_token_that_reaches_into_the_span_counts() -> None:
    tok = syllabary.train(["ab ab ab"] * 4, vocab_size=258, split="none")
    template = "{% for m in messages %}a{% generation %}b{% endgeneration %}{% endfor %}"
    found = tok.apply_chat_template(
        [ASKS], chat_template=template, return_dict=True, return_assistant_tokens_mask=True
    )
    assert (tok.tokens("ab"), found["assistant_masks"]) == ([b"ab"], [1])


def test_several_conversations(tok: Tokenizer) -> None:
    both = [CONVERSATIONS["one"], CONVERSATIONS["two"]]
    assert tok.apply_chat_template(both) == [tok.apply_chat_template(one) for one in both]


def test_the_last_message_is_continued(tok: Tokenizer) -> None:
    text = tok.apply_chat_template([ASKS, ANSWERS], continue_final_message=True, tokenize=False)
    assert text.endswith("mein Freund 🌊")
    trimmed = render("{{ messages[-1].content | trim }}.", [THANKS], continue_final_message=True)
    assert trimmed.text == "谢谢 <|im_end|>"
    blocks = [{"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image"}]}]
    template = "{% for one in messages[0].content %}{{ one.text }}|{% endfor %}"
    assert render(template, blocks, continue_final_message=True).text == "Look"
    thinks = [{**ANSWERS, "reasoning": "So"}]
    assert render("{{ messages[0].thinking }}!", thinks, continue_final_message="reasoning").text == "So"


@pytest.mark.parametrize(
    "template, messages, options, said",
    [
        (CHATML, [ASKS], {"add_generation_prompt": True}, "either … or"),
        (CHATML, [{"role": "user"}], {}, "no 'content' to continue"),
        ("{{ messages[0].role }}", [ASKS], {}, "does not read 'content'"),
        ("{{ messages[0].content[:2] }}", [ASKS], {}, "changes or leaves out"),
        (CHATML, [{"role": "user", "content": [{"type": "image"}]}], {}, "no text to continue"),
    ],
)
def test_what_cannot_be_continued(template: str, messages: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ChatError, match=said):
        render(template, messages, continue_final_message=True, **options)


def test_messages_are_not_changed() -> None:
    message = {"role": "user", "content": "x", "reasoning": "r", "name": None}
    before = dict(message)
    render(CHATML, [message], continue_final_message=True)
    assert message == before


def test_values_become_plain() -> None:
    @dataclass
    class Message:
        role: str
        content: Any

    class Model:
        def model_dump(self) -> dict[str, Any]:
            return {"role": "user", "content": np.int64(7)}

    template = "{% for m in messages %}{{ m.role }} {{ m.content }};{% endfor %}"
    assert render(template, [Message("user", (np.float64(0.5), b"x")), Model()]).text == (
        "user (0.5, '<bytes>');user 7;"
    )


@pytest.mark.parametrize(
    "given, said",
    [
        ({"messages": []}, "empty"),
        ({"messages": "Hi"}, "messages is str"),
        ({"messages": {"role": "user"}}, "messages is dict"),
        ({"messages": ["Hi"]}, "message 0 is str"),
        ({"messages": [ASKS], "tools": [print]}, "tool 0 is builtin_function_or_method"),
        ({"messages": [ASKS], "documents": ["text"]}, "document 0 is str"),
        ({"messages": [ASKS], "documents": 5}, "documents is int: give a list of dicts"),
        ({"messages": [ASKS], "documents": "text"}, "documents is str: give a list"),
        ({"messages": [ASKS], "tools": WEATHER}, "tools is dict: give a list"),
    ],
)
def test_what_is_no_conversation(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ChatError, match=said):
        render(PLAIN, **given)


def test_tools_and_documents_may_come_once() -> None:
    template = "{{ tools | length }} {{ documents | length }}"
    assert (
        render(template, [ASKS], tools=iter([WEATHER]), documents=({"text": n} for n in "ab")).text == "1 2"
    )


def test_a_conversation_that_holds_itself() -> None:
    message: dict[str, Any] = {"role": "user"}
    message["content"] = [message]
    with pytest.raises(ChatError, match="holds itself"):
        render(PLAIN, [message])


def test_which_template(tok: Tokenizer) -> None:
    several = tok.with_settings(chat_template={"default": "d", "tool_use": "t", "rag": "r"})
    assert several.chat_template == "d"
    ask = {"messages": [ASKS], "tokenize": False}
    assert several.apply_chat_template(**ask) == "d"
    assert several.apply_chat_template(**ask, tools=[]) == "t"
    assert several.apply_chat_template(**ask, chat_template="rag") == "r"
    assert several.apply_chat_template(**ask, chat_template="{{ 1 }}") == "1"
    with pytest.raises(TypeError, match=r"^chat_template is 5: give a template or the name of one, or None"):
        several.apply_chat_template([ASKS], chat_template=5)  # type: ignore[arg-type]
    with pytest.raises(ChatError, match="name one of a, b"):
        tok.with_settings(chat_template={"a": "1", "b": "2"}).apply_chat_template([ASKS])
    with pytest.raises(ChatError, match="has no chat template"):
        tok.with_settings(chat_template=None).apply_chat_template([ASKS])


def test_options_that_do_not_fit(tok: Tokenizer) -> None:
    with pytest.raises(ChatError, match="needs return_dict=True"):
        tok.apply_chat_template([ASKS], return_assistant_tokens_mask=True)
    with pytest.raises(ChatError, match="either … or"):
        tok.apply_chat_template(
            [ASKS], return_dict=True, return_assistant_tokens_mask=True, continue_final_message=True
        )


def test_a_span_that_cannot_be_told() -> None:
    template = "a{% set x %}b{% generation %}c{% endgeneration %}{% endset %}{{ x }}"
    found = render(template, [ASKS])
    assert found.text == "abc"  # which needs no span
    with pytest.raises(ChatError, match="inside a macro"):
        _ = found.assistant


# ---- folders ----


def write(folder: Path, files: dict[str, Any]) -> Path:
    """A folder with a tokenizer and these files beside it."""
    syllabary.train(["a b"], vocab_size=261, special_tokens=SPECIAL).save(folder / "tokenizer.json")
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


BOS = {"__type": "AddedToken", "content": "<s>", "lstrip": False, "normalized": False, "special": True}


def test_a_folder_of_files_of_all_times(tmp_path: Path) -> None:
    config = {
        "bos_token": BOS,
        "eos_token": "<pad>",
        "unk_token": None,
        "image_token": "<|im_start|>",
        "additional_special_tokens": ["<|im_end|>", BOS],
        "model_max_length": 10**30,
        "padding_side": "left",
        "chat_template": [{"name": "default", "template": "d"}, {"name": "rag", "template": "r"}],
    }
    special = {"eos_token": {"content": "</s>", "lstrip": False}, "pad_token": "<pad>"}
    folder = write(tmp_path, {"tokenizer_config.json": config, "special_tokens_map.json": special})
    settings = syllabary.load(folder).settings
    assert settings.roles == {
        "bos_token": "<s>",
        "eos_token": "</s>",  # the map wins over the config
        "pad_token": "<pad>",
        "image_token": "<|im_start|>",
    }
    assert settings.extra == ("<|im_end|>", "<s>")
    assert settings.chat_templates == {"default": "d", "rag": "r"}
    assert (settings.model_max_length, settings.padding_side, settings.truncation_side) == (
        None,
        "left",
        "right",
    )


def test_template_files_win(tmp_path: Path) -> None:
    files = {
        "tokenizer_config.json": {"chat_template": "c", "model_max_length": 512, "added_tokens_decoder": {}},
        "special_tokens_map.json": {"bos_token": "<s>"},
        "chat_template.jinja": "j",
        "additional_chat_templates/rag.jinja": "r",
    }
    settings = syllabary.load(write(tmp_path, files)).settings
    assert settings.chat_templates == {"default": "j", "rag": "r"}
    assert settings.model_max_length == 512
    assert settings.roles == {}  # a config with added_tokens_decoder is all there is to read


def test_settings_go_along(tmp_path: Path) -> None:
    tok = syllabary.load(write(tmp_path, {"chat_template.jinja": PLAIN}))
    tok.save(tmp_path / "tok.syllabary.json")
    again = syllabary.load(tmp_path / "tok.syllabary.json")
    assert again.spec == tok.spec
    assert again.chat_template == PLAIN
    assert syllabary.load(tmp_path / "tokenizer.json").chat_template is None  # a file says what it says


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("tokenizer_config.json", "{", "not JSON"),
        ("tokenizer_config.json", "[]", "must be an object"),
        ("tokenizer_config.json", {"bos_token": 1}, r"\$.bos_token: must be a string"),
        ("tokenizer_config.json", {"bos_token": {"lstrip": True}}, "'content' is missing"),
        ("tokenizer_config.json", {"chat_template": 3}, "chat_template: must be a string"),
        ("tokenizer_config.json", {"chat_template": [{"name": "x"}]}, "'template' is missing"),
        ("tokenizer_config.json", {"chat_template": "x" * 2**21}, "longer than"),
        ("tokenizer_config.json", {"padding_side": "top"}, "must be one of right, left"),
        ("tokenizer_config.json", {"model_max_length": "long"}, "number of tokens"),
        ("tokenizer_config.json", {"model_max_length": -1}, "number of tokens"),
        ("special_tokens_map.json", {"pad_token": []}, "must be a string"),
        ("added_tokens.json", {"<x>": "7"}, "must be an integer"),
    ],
)
def test_damaged_files_are_named(name: str, content: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"{name}: .*{said}"):
        syllabary.load(write(tmp_path, {name: content}))


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    folder = write(tmp_path, {})
    (folder / "chat_template.jinja").write_bytes(b"a\xff")
    with pytest.raises(FormatError, match="not UTF-8 at byte offset 1"):
        syllabary.load(folder)


def test_settings_that_cannot_be(tok: Tokenizer) -> None:
    with pytest.raises(FormatError, match="'<nope>' is no special or added token"):
        tok.with_settings(pad_token="<nope>")
    with pytest.raises(FormatError, match=r"^answer: .* what tokenizer_config.*: .*set"):
        tok.with_settings(model_max_length=9, answer={42})
    with pytest.raises(FormatError, match=r"^score: .* what tokenizer_config.*: .*Out of range"):
        tok.with_settings(score=float("nan"))


def test_settings_keep_what_the_map_said(tmp_path: Path) -> None:
    tok = syllabary.load(write(tmp_path, {"special_tokens_map.json": {"bos_token": "<s>"}}))
    assert tok.with_settings(pad_token="<pad>").roles == {"bos_token": "<s>", "pad_token": "<pad>"}
    assert tok.with_settings(bos_token=None).roles == {}
