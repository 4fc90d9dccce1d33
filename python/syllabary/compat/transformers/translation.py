"""`TranslationTokenizer`, of a class that marks the language of a text: MBart, MBart50, Nllb, SeamlessM4T.

    tokenizer.src_lang = "fr_XX"                      the mark of texts from now on
    tokenizer(text, text_target=target)               that of `tgt_lang` beside the target

Adds what these classes have for translation; a change of language changes the template alone, and the engine
stays. A thread that encodes a target leaves the texts of others alone. Source: transformers 5.23. Leaves out:
the table of classes (`formats.transformers_classes`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from syllabary.compat.transformers.backend import TemplateProcessing
from syllabary.compat.transformers.state import Frame, Made
from syllabary.compat.transformers.tokenizer import SyllabaryTokenizer
from syllabary.formats.hf_framing import read_processors
from syllabary.formats.strict_json import Json
from syllabary.formats.transformers_classes import CLASSES, Class
from syllabary.formats.transformers_language import KEPT, is_language, written

# The usual languages of `prepare_seq2seq_batch`, in the classes that can do it.
PREPARED = {"NllbTokenizer": ("eng_Latn", "fra_Latn"), "SeamlessM4TTokenizer": ("eng", "fra")}
SHOWN = 8  # languages that a message lists


class Mark(NamedTuple):
    """What stands around a text. shape: as `Class.around`. names: its words -> tokens. ids: of these."""

    shape: str
    names: tuple[tuple[str, str], ...]
    ids: tuple[int, ...]

    def written(self) -> dict[str, object]:
        """The post-processor, as `tokenizer.json` has it."""
        names = dict(self.names)
        return written(self.shape, names, dict(zip(names.values(), self.ids, strict=True)))

    def sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The ids before a text and after it."""
        ids = dict(zip((word for word, _text in self.names), self.ids, strict=True))
        before, after = (tuple(ids[word] for word in part.split()) for part in self.shape.split("A"))
        return before, after


class TranslationTokenizer(SyllabaryTokenizer):
    """A `SyllabaryTokenizer` whose texts are marked with a language, as `src_lang` and `tgt_lang` say.

    Both may be set at any time; where `tgt_lang` is `None`, it becomes `src_lang` when the first target is
    encoded, as there. `ValueError` for a language that has no token here, where theirs takes the unknown one.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = self._class
        told = {"src_lang": None, "tgt_lang": None} | ({"legacy_behaviour": False} if known.legacy else {})
        for name, value in told.items():
            self.init_kwargs.setdefault(name, value)
        self.legacy_behaviour = bool(self.init_kwargs.get("legacy_behaviour"))
        source, there = self.init_kwargs["src_lang"], known.language in self.get_vocab()
        self._src_lang = known.language if there else None
        into = self.init_kwargs["tgt_lang"] or known.into
        self._tgt_lang: str | None = None if into is None else known.spelled(into)
        if source is not None:
            self._src_lang = self._checked("src_lang", source)
        self._mark_files()
        if known.target:  # `encode` is of targets at first, as there
            self._held.thread.mark = known.target, self._tgt_lang

    @property
    def _class(self) -> Class:
        return CLASSES[self.init_kwargs[KEPT]]

    # ---- languages ----

    @property
    def src_lang(self) -> str | None:
        """The language of texts; `None` where the usual one of the class has no token, and none was told."""
        return self._src_lang

    @src_lang.setter
    def src_lang(self, language: str) -> None:
        self._src_lang = self._checked("src_lang", language)
        self._switch_to_input_mode()
        self._mark_files()

    @property
    def tgt_lang(self) -> str | None:
        """The language of targets."""
        return self._held.into if self._tgt_lang is None else self._tgt_lang

    @tgt_lang.setter
    def tgt_lang(self, language: str | None) -> None:
        self._tgt_lang = None if language is None else self._checked("tgt_lang", language)
        self._held.into = None
        if self._class.target:
            self._switch_to_target_mode()

    @property
    def lang_code_to_id(self) -> dict[str, int]:
        """Language -> id of its token, of all that are here."""
        tokens = sorted(self.added_tokens_decoder.items())
        ids = {str(token): token_id for token_id, token in tokens}
        return {text: token_id for text, token_id in ids.items() if is_language(self._class, text, ids, ())}

    @property
    def id_to_lang_code(self) -> dict[int, str]:
        """The same by id."""
        return {token_id: text for text, token_id in self.lang_code_to_id.items()}

    @property
    def fairseq_tokens_to_ids(self) -> dict[str, int]:
        """Token -> id of the first four, the languages and the mask."""
        ids = self.get_vocab()
        first = [text for text in ("<s>", "<pad>", "</s>", "<unk>", "<mask>") if text in ids]
        return {**{text: ids[text] for text in first}, **self.lang_code_to_id}

    @property
    def fairseq_ids_to_tokens(self) -> dict[int, str]:
        """The same by id."""
        return {token_id: text for text, token_id in self.fairseq_tokens_to_ids.items()}

    @property
    def cur_lang_code(self) -> int | None:
        """The id of the language that stands beside a text now."""
        mark = self._mark()
        return None if mark is None else dict(zip(dict(mark.names), mark.ids, strict=True))["language"]

    cur_lang_code_id = cur_lang_code

    @property
    def prefix_tokens(self) -> list[int]:
        """The ids that stand before a text now."""
        mark = self._mark()
        return [] if mark is None else list(mark.sides()[0])

    @property
    def suffix_tokens(self) -> list[int]:
        """The ids that stand after a text now."""
        mark = self._mark()
        return [] if mark is None else list(mark.sides()[1])

    def _checked(self, name: str, language: Any) -> str:
        """The language as its token is spelled; `ValueError` for one that has none."""
        text = self._class.spelled(language) if isinstance(language, str) else ""
        there = () if self.__dict__["_theirs"].token_to_id(text) is None else (text,)
        if is_language(self._class, text, there, ()) or text in map(str, self.added_tokens_decoder.values()):
            return text
        known = [*self.lang_code_to_id]
        more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
        raise ValueError(
            f"{name}={language!r} is no language of this tokenizer: it has {', '.join(known[:SHOWN])}{more}"
        )

    # ---- what stands around a text ----

    def set_src_lang_special_tokens(self, src_lang: str) -> None:
        """Mark texts with this language in this thread, until the next call or `src_lang`."""
        self._held.thread.mark = self._class.around, self._checked("src_lang", src_lang)

    def set_tgt_lang_special_tokens(self, lang: str) -> None:
        """Mark what is encoded as a target in this language, in this thread, until the next call."""
        known = self._class
        self._held.thread.mark = known.target or known.around, self._checked("tgt_lang", lang)

    def _switch_to_input_mode(self) -> None:
        self._held.thread.mark = None

    def _switch_to_target_mode(self) -> None:
        if self.tgt_lang is None:
            self._held.into = self._src_lang
        if self.tgt_lang is not None:
            self.set_tgt_lang_special_tokens(self.tgt_lang)

    def __call__(self, *args: Any, **asked: Any) -> Any:
        """The texts encoded. SeamlessM4T's `src_lang` and `tgt_lang`, where they are given, are set first."""
        if self._class.target:
            for name in ("src_lang", "tgt_lang"):
                if (language := asked.pop(name, None)) is not None:
                    setattr(self, name, language)
        return super().__call__(*args, **asked)

    def _build_translation_inputs(
        self, raw_inputs: Any, return_tensors: str, src_lang: str | None, tgt_lang: str | None, **more: Any
    ) -> Any:
        """What a model's `generate` is given: the texts, and the language to begin with."""
        if src_lang is None or tgt_lang is None:
            raise ValueError("Translation requires a `src_lang` and a `tgt_lang` for this model")
        target = self._checked("tgt_lang", tgt_lang)
        self.src_lang = src_lang
        inputs = self(raw_inputs, add_special_tokens=True, return_tensors=return_tensors, **more)
        inputs["forced_bos_token_id"] = self.convert_tokens_to_ids(target)
        return inputs

    def prepare_seq2seq_batch(
        self,
        src_texts: list[str],
        src_lang: str | None = None,
        tgt_texts: list[str] | None = None,
        tgt_lang: str | None = None,
        max_length: int | None = None,
        max_target_length: int | None = None,
        padding: bool | str = "longest",
        return_tensors: str | None = None,
        truncation: bool | str = True,
        **asked: Any,
    ) -> Any:
        """Texts, and targets as `labels`, of Nllb and SeamlessM4T; both marked as texts are, as there."""
        usual = PREPARED.get(self.init_kwargs[KEPT])
        if usual is None:
            raise AttributeError(f"{self.init_kwargs[KEPT]} has no prepare_seq2seq_batch")
        self.src_lang, self.tgt_lang = src_lang or usual[0], tgt_lang or usual[1]
        most = self.model_max_length if max_length is None else max_length
        asked |= {"padding": padding, "truncation": truncation, "return_tensors": return_tensors}
        batch = self(src_texts, max_length=most, **asked)
        if tgt_texts is not None:
            most = most if max_target_length is None else max_target_length
            batch["labels"] = self(tgt_texts, max_length=most, **asked)["input_ids"]
        return batch

    def _mark(self, now: bool = True) -> Mark | None:
        """What stands around a text, now or usually; `None`: as the file says, for lack of a token."""
        known = self._class
        switched = getattr(self._held.thread, "mark", None) if now else None
        shape, language = switched or (known.around, self._src_lang)
        if language is None:
            return None
        if self.legacy_behaviour and known.legacy:
            shape = known.legacy
        names = {"language": known.spelled(language), "eos": self.eos_token or known.roles["eos"]}
        ids = [self.__dict__["_theirs"].token_to_id(text) for text in names.values()]
        return None if None in ids else Mark(shape, tuple(names.items()), tuple(ids))

    def _mark_files(self) -> None:
        """Have `tokenizer.json` say so too, what the inherited ways and `save_pretrained` read."""
        mark = self._mark(now=False)
        if mark is not None:
            self.__dict__["_theirs"].post_processor = _processor(mark)

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many tokens are put around a text now, or around a pair."""
        mark = self._mark()
        return super().num_special_tokens_to_add(pair) if mark is None else len(mark.shape.split()) - 1

    def _engine(self) -> Made:
        made, mark = super()._engine(), self._mark()
        if mark is None:
            return made
        found = made.marked.get(mark)
        if found is None:
            processors = read_processors(Json(mark.written(), "$", Path(KEPT)))
            tok = made.tok._framed(replace(made.tok.framing, post_processor=processors))
            before, after = mark.sides()
            frame = Frame(before, after, ((0,) * len(before), 0, (0,) * len(after)))
            found = made.marked[mark] = replace(made, tok=tok, frame=frame, marked={})
        return found

    def _inherited(self, text: Any, text_pair: Any, asked: dict[str, Any]) -> Any:
        """What the inherited way gives, with this mark."""
        theirs, mark = self.__dict__["_theirs"], self._mark()
        before = theirs.post_processor
        if mark is not None:
            theirs.post_processor = _processor(mark)
        try:
            return super()._inherited(text, text_pair, asked)
        finally:
            theirs.post_processor = before

    def save_pretrained(self, *args: Any, **kwargs: Any) -> Any:
        """Write the folder, with the languages as they are; see `SyllabaryTokenizer`."""
        self._mark_files()
        return super().save_pretrained(*args, **kwargs)


def _processor(mark: Mark) -> Any:
    """As `tokenizers` has it."""
    made = TemplateProcessing.__new__(TemplateProcessing)
    made.__setstate__(json.dumps(mark.written()).encode())
    return made
