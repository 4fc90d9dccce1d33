"""The part of `Tokenizer` that speaks as `transformers` does: roles of special tokens, chat templates.

Adds the ids of a conversation and the mask of the assistant's tokens, exact by offsets. Leaves out: rendering
(`chat`), what a folder says (`formats.transformers_folder`), the object itself (`compat.transformers`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from syllabary.chat.choosing import DEFAULT, choose
from syllabary.errors import ChatError
from syllabary.on_demand import later
from syllabary.spec import TokenizerSpec

if TYPE_CHECKING:
    from syllabary.formats import transformers_folder, transformers_language, transformers_text
else:
    later(
        globals(),
        transformers_folder="syllabary.formats.transformers_folder",
        transformers_language="syllabary.formats.transformers_language",
        transformers_text="syllabary.formats.transformers_text",
    )

Given = TypeVar("Given", bound="Conversing")
# Arguments of transformers that no template can read there, and that mean nothing here.
THEIRS = (
    *("padding", "truncation", "max_length", "return_tensors", "tokenizer_kwargs"),
    "sanitize_control_tokens",
)
GENERATION = re.compile(r"\{%[-+]?\s*generation\s*[-+]?%\}")


class Conversing:
    """Roles, chat templates and `as_transformers`: what a folder says beside the tokenizer."""

    _opened_as: str = ""  # the path, or the id of the Hub, that `load` was given

    @property
    def spec(self) -> TokenizerSpec:
        """The tokenizer as plain data."""
        raise NotImplementedError

    @property
    def settings(self) -> transformers_folder.Settings:
        """What `tokenizer_config.json` and its neighbours say: roles, chat templates, the model's length."""
        return transformers_folder.settings(self.spec)

    @property
    def roles(self) -> dict[str, str]:
        """Role -> text of the special tokens that have one, by the names that templates read.

        >>> import syllabary
        >>> tok = syllabary.train(["a b"], vocab_size=258, special_tokens=["<s>", "</s>"])
        >>> tok.with_settings(bos_token="<s>", eos_token="</s>").roles
        {'bos_token': '<s>', 'eos_token': '</s>'}
        """
        return dict(self.settings.roles)

    @property
    def chat_template(self) -> str | None:
        """The chat template that is used where none is named, or `None`."""
        return self.settings.chat_templates.get(DEFAULT)

    def with_settings(self: Given, **settings: Any) -> Given:
        """The same with other settings, by the names of `tokenizer_config.json`; `None` takes one out.

        `chat_template`: a template, or name -> template. `bos_token` and the like: a token of this tokenizer.
        `src_lang`: of MBart, MBart50, Nllb, SeamlessM4T: the language whose token is beside a text then.
        `add_prefix_space`, `do_lower_case`, `split_by_punct`: what the class of the folder does to text.
        Saved in `.syllabary.json`, and by `as_transformers().save_pretrained(folder)`.

        Raises `FormatError` for a role or a language that is no token, and for a value that no JSON holds.
        """
        spec = transformers_folder.with_settings(self.spec, settings)
        spec = transformers_text.with_text(transformers_language.with_language(spec, settings), settings)
        made = type(self)(spec)  # type: ignore[call-arg]
        made._opened_as = self._opened_as
        return made

    def apply_chat_template(
        self,
        messages: Sequence[Any],
        *,
        chat_template: str | None = None,
        tools: Sequence[Any] | None = None,
        documents: Sequence[Any] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: bool = True,
        return_dict: bool = False,
        return_assistant_tokens_mask: bool = False,
        **variables: Any,
    ) -> Any:
        """A conversation as ids, `list[int]`; of several conversations, a list of what each gives.

        messages: `{"role": …, "content": …}` each. chat_template: a template or the name of one, else the
        tokenizer's. tools, documents: plain dictionaries for the template. add_generation_prompt: end with
        the opening of the assistant's turn. continue_final_message: leave the last message open. variables:
        what else the template reads; the roles of special tokens are there already.

        tokenize: `False` gives the text. return_dict: `{"input_ids", "attention_mask"}`, and with
        return_assistant_tokens_mask `"assistant_masks"`: 1 for each token that holds a character of a
        `{% generation %}` block; without one in the template, `ChatError`.

        Special tokens in the text become their ids, whoever wrote them. Raises `ChatError` for a template
        that is missing, wrong or unsafe, and for messages that it refuses.

        >>> import syllabary
        >>> template = "{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}"
        >>> tok = syllabary.train(["user: hello"], vocab_size=257, special_tokens=["</s>"])
        >>> tok = tok.with_settings(eos_token="</s>", chat_template=template)
        >>> tok.apply_chat_template([{"role": "user", "content": "hello"}], tokenize=False)
        'user: hello</s>'
        """
        if return_assistant_tokens_mask and not (return_dict and tokenize):
            raise ChatError("return_assistant_tokens_mask needs return_dict=True and tokenize=True")
        if return_assistant_tokens_mask and continue_final_message:
            raise ChatError("return_assistant_tokens_mask and continue_final_message are either … or")
        for name in THEIRS:
            if variables.pop(name, None) not in (None, False):
                raise TypeError(
                    f"{name} is not an argument here: tok.as_transformers().apply_chat_template takes it"
                )
        template = choose(self.settings.chat_templates, chat_template, tools)
        if return_assistant_tokens_mask and not GENERATION.search(template):
            raise ChatError(
                "the chat template has no {% generation %} block: it does not tell what the assistant wrote"
            )
        several = (
            isinstance(messages, (list, tuple)) and bool(messages) and isinstance(messages[0], (list, tuple))
        )
        render = import_module("syllabary.chat.rendering").render
        found = []
        for conversation in messages if several else [messages]:
            rendered = render(
                template,
                conversation,
                tools=tools,
                documents=documents,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=continue_final_message,
                variables={**self.settings.roles, **variables},
            )
            found.append(
                self._as_asked(rendered, return_dict, return_assistant_tokens_mask)
                if tokenize
                else rendered.text
            )
        return found if several else found[0]

    def as_transformers(self, **settings: Any) -> Any:
        """A tokenizer that code for `transformers` takes as one of its own (`compat.transformers`).

        settings: what to change of `tokenizer_config.json`: `pad_token="<pad>"`, `padding_side="left"`.
        `name_or_path` is what `load` was given, if that was a path or an id of the Hub, or else empty.

        Of a sentencepiece model a `LossWarning` names what changes there; text without special tokens keeps
        its ids, numbered as the class of its folder does, but where the warning says otherwise. Raises
        `FormatError` for another tokenizer that `tokenizer.json` cannot hold, and where `transformers` is not
        installed.
        """
        return import_module("syllabary.compat.transformers").wrap(
            self, {"name_or_path": self._opened_as, **settings}
        )

    def _as_asked(self: Any, rendered: Any, as_dict: bool, mask: bool) -> list[int] | dict[str, list[int]]:
        if not as_dict:
            return self.encode(rendered.text, "allow")  # type: ignore[no-any-return]
        # Offsets are without dropout, so with a mask the ids are too.
        ids = self.encode(rendered.text, "allow", **({"dropout": 0.0} if mask else {}))
        found = {"input_ids": ids, "attention_mask": [1] * len(ids)}
        if mask:
            found["assistant_masks"] = _mask(self.offsets(rendered.text, special="allow"), rendered.assistant)
        return found


def _mask(offsets: np.ndarray[Any, Any], spans: Sequence[tuple[int, int]]) -> list[int]:
    """1 for each token that shares a character with one of the spans. offsets: (n, 2), in characters."""
    mask = np.zeros(len(offsets), dtype=bool)
    for start, end in spans:
        mask |= (offsets[:, 0] < end) & (offsets[:, 1] > start)
    return [int(one) for one in mask]
