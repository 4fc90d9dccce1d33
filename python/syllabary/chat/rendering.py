"""A chat template and a conversation -> the text that a model reads, and what the assistant wrote in it.

Adds the open end for a message to be continued, and every way to fail as a
`ChatError` with the template's line. Source of the rules: transformers 5.23. Leaves out: the environment
(`sandbox`); which of several templates (`choosing`); tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from syllabary.chat import bounds, sandbox
from syllabary.chat.backend import jinja2
from syllabary.chat.plain import REASONING, conversation, plain, schemas, texts
from syllabary.errors import ChatError

# A template that trims takes its last space away. It is theirs: one that shows a message twice shows it.
END = "CONTINUE_FINAL_MESSAGE_TAG "


@dataclass(frozen=True, slots=True)
class Rendered:
    """text: what the template made. blocks: of each generation block where it starts, in characters, and what
    it made; inside a macro or a `{% set %}`, where it would start if that were put out where it stands."""

    text: str
    blocks: tuple[tuple[int, str], ...]

    @property
    def assistant(self) -> tuple[tuple[int, int], ...]:
        """Start and end, in characters, of each block; `ChatError` where one is not where it was made."""
        if any(self.text[start : start + len(body)] != body for start, body in self.blocks):
            raise ChatError(
                "the chat template has {% generation %} inside a macro or a {% set %}: where it ends up in "
                "the text cannot be told"
            )
        return tuple((start, start + len(body)) for start, body in self.blocks)


def render(
    template: str,
    messages: Any,
    *,
    tools: Any = None,
    documents: Any = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    variables: Mapping[str, Any] | None = None,
) -> Rendered:
    """The text of a conversation, and where in it the assistant wrote.

    template: Jinja2. messages: a list of dictionaries (`role`, `content`, and what else the template reads).
    add_generation_prompt: told to the template, which ends with the opening of the assistant's turn.
    continue_final_message: leave the last message open; a string names the member to continue.
    variables: what else the template reads, `bos_token` for one.

    Raises `ChatError`: a template that is wrong, unsafe, too slow or too large, one that refuses the
    conversation, messages of another form.

    >>> messages = [{"role": "user", "content": "Hi"}]
    >>> render("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}", messages)
    Rendered(text='<user>Hi', blocks=())
    """
    chat = _guarded(conversation, messages)
    if continue_final_message:
        if add_generation_prompt:
            raise ChatError("continue_final_message and add_generation_prompt are either … or")
        name = continue_final_message if isinstance(continue_final_message, str) else "content"
        last = _open_end(chat[-1], name, template)
    given = {
        "messages": chat,
        "tools": schemas(tools),
        "documents": texts(documents),
        "add_generation_prompt": add_generation_prompt,
        **_guarded(plain, dict(variables or {})),
    }
    found = _run(template, given)
    return Rendered(_cut(found.text, last), ()) if continue_final_message else found


def _guarded(build: Any, value: Any) -> Any:
    try:
        return build(value)
    except RecursionError as error:
        raise ChatError("the conversation holds itself, or is nested too deeply") from error


def _run(template: str, given: Mapping[str, Any]) -> Rendered:
    """What a template makes of its variables."""
    try:
        program = sandbox.compiled(template)
        with bounds.running() as run:
            parts = []
            for part in program.generate(given):
                bounds.written(part)
                parts.append(part)
    except jinja2.TemplateSyntaxError as error:
        raise ChatError(f"the chat template, line {error.lineno}: {error.message}") from error
    except sandbox.RefusedError as error:
        raise ChatError(f"the chat template refuses the conversation: {error}") from error
    except jinja2.exceptions.SecurityError as error:
        raise ChatError(f"the chat template{_line(error)} reaches out of its sandbox: {error}") from error
    except bounds.ExceededError as error:
        raise ChatError(f"the chat template{_line(error)} {error}, which no conversation needs") from error
    except (RecursionError, MemoryError) as error:
        raise ChatError("the chat template is nested too deeply, or calls itself without end") from error
    except Exception as error:
        raise ChatError(f"the chat template{_line(error)} fails: {type(error).__name__}: {error}") from error
    text = "".join(parts)
    return Rendered(text, tuple(run.spans))


def _line(error: BaseException) -> str:
    """The line of the template that was run last, if any was."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f", line {line}," if line else ""


def _open_end(message: dict[str, Any], name: str, template: str) -> str:
    """Mark the end of a message's text, and give the text; `ChatError` if there is none to continue."""
    text = message.get(name)
    if text is None:
        raise ChatError(f"continue_final_message: the last message has no {name!r} to continue")
    names = [name] if name not in REASONING else [one for one in REASONING if message.get(one) == text]
    if not any(one in template for one in names):
        raise ChatError(f"continue_final_message: the chat template does not read {name!r}")
    if isinstance(text, list):
        for block in reversed(text):
            if isinstance(block, dict) and "text" in block:
                text = block["text"]
                block["text"] = f"{text}{END}"
                return str(text)
        raise ChatError("continue_final_message: the last message has no text to continue")
    if not isinstance(text, str):
        raise ChatError(f"continue_final_message: {name!r} of the last message is no text to continue")
    for one in names:
        message[one] = f"{text}{END}"
    return str(text)


def _cut(text: str, last: str) -> str:
    """The text up to the end of the last message; without whitespace there, where the template trims."""
    if last.strip() not in text or END.strip() not in text:
        raise ChatError(
            "continue_final_message: the chat template changes or leaves out the last message, so its end "
            "cannot be found"
        )
    place = text.rindex(END.strip())
    kept = text[:place]
    return kept if text[place : place + len(END)] == END else kept.rstrip()
