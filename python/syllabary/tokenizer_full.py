"""Full encodings, as methods of `Tokenizer`: what a model wants to know beside the ids.

Adds the arguments, their checks and their defaults, which are what the tokenizer's file says. Leaves out: the
rows (the engine, `reference.full`), and what is made of them (`full.batch`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from syllabary._engine import FullRows
from syllabary._engine import Tokenizer as Engine
from syllabary.arguments import flag, thread_count
from syllabary.cached import cached_property
from syllabary.errors import SyllabaryError
from syllabary.on_demand import later
from syllabary.spec import TokenizerSpec

if TYPE_CHECKING:
    from syllabary import framing as frames
    from syllabary.formats import hf_framing, transformers_folder
    from syllabary.full import arguments as framing_arguments
    from syllabary.full import batch as full_batch
    from syllabary.full import layout as full_layout
    from syllabary.full import plan as framing_plan
    from syllabary.full import rows as full_rows
    from syllabary.reference import encoding, postprocess
    from syllabary.reference import truncation as cutting
else:
    later(
        globals(),
        cutting="syllabary.reference.truncation",
        encoding="syllabary.reference.encoding",
        frames="syllabary.framing",
        framing_arguments="syllabary.full.arguments",
        framing_plan="syllabary.full.plan",
        full_batch="syllabary.full.batch",
        full_layout="syllabary.full.layout",
        full_rows="syllabary.full.rows",
        hf_framing="syllabary.formats.hf_framing",
        postprocess="syllabary.reference.postprocess",
        transformers_folder="syllabary.formats.transformers_folder",
    )

Special = Literal["raise", "allow", "text"] | Collection[str]
OffsetUnit = Literal["char", "byte"]
Words = Sequence[str]
Given = Sequence[tuple[Any, Any]]  # each text and its pair, or None
Asked = tuple[Any, Any, Any, bool]  # post-processors, truncation, padding, whether special tokens are added


class FullEncoding:
    """The part of `Tokenizer` that gives full encodings.

    Arguments of all of them, beside those of `encode`:

    add_special_tokens: whether the post-processor puts its tokens around the texts.
    padding: `None`: as the tokenizer says; `False`: none; `True` or `"longest"`: to the longest row, with the
        tokenizer's pad token (of its framing, else of its settings); an `int`: to so many tokens; or a
        `Padding`.
    truncation: `None`: as the tokenizer says; `False`: none; an `int`: to so many tokens; or a `Truncation`.
    post_processor: `None`: as the tokenizer says; else steps in their order, `()` for none.
    is_pretokenized: each text is a list of words, whose offsets each begin at 0.
    dropout, seed: as in `encode`; all fields are of one draw. Texts, pairs and words are numbered in a row.
    """

    if TYPE_CHECKING:

        @property
        def spec(self) -> TokenizerSpec:
            """The tokenizer as plain data."""

        _engine: Engine

        def _batch(self, run: Callable[..., Any], texts: Any, special: Any, *more: Any) -> Any: ...

        def _coins(self, dropout: float | None, seed: int | None) -> tuple[float, int] | tuple[()]: ...

    @property
    def framing(self) -> frames.Framing:
        """What the tokenizer's file says of post-processors, truncation and padding."""
        return self._framing

    def with_framing(self, framing: frames.Framing) -> Any:
        """A tokenizer with the same ids whose file says this of post-processors, truncation and padding.

        >>> import syllabary
        >>> from syllabary.framing import Framing, Padding
        >>> tok = syllabary.train(["low lower"], vocab_size=257, special_tokens=["<pad>"])
        >>> tok = tok.with_framing(Framing(padding=Padding(pad_id=256, pad_token="<pad>")))
        >>> tok.encode_full_batch(["low", "lo"]).ids.tolist()
        [[108, 111, 119], [108, 111, 256]]
        """
        return type(self)(hf_framing.with_framing(self.spec, framing_arguments.checked_framing(framing)))  # type: ignore[call-arg]

    def encode_full(
        self,
        text: str | Words,
        pair: str | Words | None = None,
        *,
        special: Special = "raise",
        add_special_tokens: bool = True,
        padding: bool | int | str | frames.Padding | None = None,
        truncation: bool | int | frames.Truncation | None = None,
        post_processor: Sequence[frames.PostProcessor] | None = None,
        is_pretokenized: bool = False,
        offsets: OffsetUnit = "char",
        dropout: float | None = None,
        seed: int | None = None,
    ) -> encoding.Encoding:
        """The full encoding of a text, or of a text and its pair; parts that are cut off: its `overflowing`.

        pair: the second text. special: as in `encode`. add_special_tokens: whether the post-processor puts
        its tokens around them. padding, truncation, post_processor: `None` is what the tokenizer says,
        `False` (`()` of post-processors) none; else a length, `"longest"`, or records of `syllabary.framing`.
        is_pretokenized: text and pair are lists of words, whose offsets each begin at 0. offsets: their unit.
        dropout, seed: as in `encode`, and the ids are the same.

        Raises what `encode` does, and `ValueError` where truncation, padding and tokens do not go together.

        >>> import syllabary
        >>> tok = syllabary.train(["low lower"], vocab_size=258)
        >>> tok.encode_full("low lo").offsets, tok.encode_full("low lo", truncation=1).tokens
        ([(0, 3), (3, 4), (4, 6)], ['low'])
        """
        words = flag("is_pretokenized", is_pretokenized)
        for name, one in (("text", text), ("pair", pair)):
            if not (words or isinstance(one, str) or (one is None and name == "pair")):
                raise TypeError(
                    f"{name} must be a str, not {type(one).__name__}; words go with is_pretokenized=True"
                )
        try:
            given = framing_arguments.read_texts([text], [pair], True) if words else [(text, pair)]
            asked = (post_processor, truncation, padding, add_special_tokens)
            drawn = self._coins(dropout, seed)
            return self._encodings(given, words, asked, special, offsets, drawn, True, 1)[0]
        except SyllabaryError as error:
            raise type(error)(str(error).replace(" 0 of the batch", "", 1)) from None

    def encode_full_batch(
        self,
        texts: Iterable[str | Words],
        pairs: Iterable[str | Words | None] | None = None,
        *,
        special: Special = "raise",
        add_special_tokens: bool = True,
        padding: bool | int | str | frames.Padding | None = None,
        truncation: bool | int | frames.Truncation | None = None,
        post_processor: Sequence[frames.PostProcessor] | None = None,
        is_pretokenized: bool = False,
        offsets: OffsetUnit | None = None,
        overflow: bool = False,
        threads: int | None = None,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> full_batch.EncodingBatch:
        """The full encodings of many texts, or pairs, in arrays; the same for any number of threads.

        Arguments are those of `encode_full`, and:
        pairs: one for each text, `None` for a text without. threads: one a core if it is not told.
        offsets: the unit of offsets, which are then computed along with the ids. `None`: offsets and word ids
        are computed, in characters, when they are first asked for, at the cost of encoding again.
        overflow: parts that truncation cuts off are rows of their own.
        """
        words, overflow = flag("is_pretokenized", is_pretokenized), flag("overflow", overflow)
        given = framing_arguments.read_texts(texts, pairs, words)
        if threads is not None:
            thread_count(threads)
        asked = (post_processor, truncation, padding, add_special_tokens)
        drawn = self._coins(dropout, seed)
        return self._encodings(given, words, asked, special, offsets, drawn, overflow, threads)

    def num_special_tokens(self, pair: bool = False) -> int:
        """How many tokens the tokenizer's post-processor puts around a text, or around a pair."""
        return self._plan(self._framing.post_processor, 1 + bool(pair), True).added

    # ---- inside ----

    def _framed(self, framing: frames.Framing) -> Any:
        """As `with_framing`, of checked parts; the engine is shared, where offsets stay as they are."""
        spec = hf_framing.with_framing(self.spec, framing)
        if spec.trim_offsets != self.spec.trim_offsets:
            return type(self)(spec)  # type: ignore[call-arg]
        made: Any = type(self).__new__(type(self))
        made._spec, made._engine = spec, self._engine
        if "_spelled" in self.__dict__:
            made._spelled = self._spelled
        if not spec.dropout:
            made._call(self._engine)
        return made

    @cached_property
    def _framing(self) -> frames.Framing:
        return hf_framing.framing(self.spec)

    @cached_property
    def _spelled(self) -> full_layout.Spellings:
        return full_layout.Spellings(self.spec)

    @cached_property
    def _own_plans(self) -> dict[tuple[int, bool], framing_plan.Plan]:
        return {}

    @cached_property
    def _layouts(self) -> dict[tuple[bool, bool, bool], tuple[Any, Any, full_layout.Layout]]:
        """The last layouts: by whether special tokens are added, to texts alone, and to pairs."""
        return {}

    def _encodings(
        self, given: Given, words: bool, asked: Asked, special: Any, unit: OffsetUnit | None, *how: Any
    ) -> full_batch.EncodingBatch:
        """The full encodings of texts and pairs. how: coins, whether parts cut off are rows, the threads."""
        drawn, overflow, threads = how
        if unit not in (None, "char", "byte"):
            raise ValueError(f'offsets={unit!r}: they are counted in "char" or "byte", or None for later')
        layout = self._layout(given, *asked)

        def rows(unit: OffsetUnit | None) -> full_rows.EngineRows:
            def run(texts: Any, policy: Any, count: int) -> FullRows:
                return self._engine.full_rows(texts, policy, unit or "ids", count, *drawn)

            try:
                found = self._batch(run, full_rows.flat_texts(given, words), special, threads)
            except SyllabaryError as error:
                raise full_rows.named(error, given, words) from None
            return full_rows.EngineRows(found, given, words, layout, overflow, unit == "byte")

        other = None if unit else lambda: rows("char")
        return full_batch.EncodingBatch(rows(unit), layout, given, unit or "char", other)

    def _layout(
        self, given: Given, processors: Any, truncation: Any, padding: Any, add: bool
    ) -> full_layout.Layout:
        """How the rows are laid out; what was asked for last is at hand still."""
        paired = {pair is not None for _text, pair in given}
        kind = bool(add), False in paired, True in paired
        last = self._layouts.get(kind)
        if processors is None and last is not None and last[0] is truncation and last[1] is padding:
            return last[2]
        pads = partial(transformers_folder.role_padding, self.spec)
        framing = framing_arguments.asked_framing(self._framing, processors, truncation, padding, pads)
        if isinstance(truncation, frames.Truncation):
            count = postprocess.added(framing.post_processor, 1) if add else 0
            cutting.check_stride(truncation, count)
        one, two = (
            self._plan(framing.post_processor, texts, kind[0]) if there else None
            for texts, there in zip((1, 2), kind[1:], strict=True)
        )
        layout = full_layout.Layout.of(framing, (one, two), self._spelled)
        if processors is None:
            self._layouts[kind] = truncation, padding, layout
        return layout

    def _plan(self, processors: Sequence[frames.PostProcessor], texts: int, add: bool) -> framing_plan.Plan:
        """The plan for so many texts; that of the tokenizer's own processors is made once."""
        if processors is not self._framing.post_processor:
            return framing_plan.plan(processors, texts, add)
        known = self._own_plans
        if (texts, add) not in known:
            known[texts, add] = framing_plan.plan(processors, texts, add)
        return known[texts, add]
