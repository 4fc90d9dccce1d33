"""The engine for a `tokenizers.Tokenizer` as it stands: made when first needed, anew when that changed.

Adds `Made`, which is the engine and what is put around a text. Leaves out: encoding (`encode`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from syllabary.cached import cached_property
from syllabary.formats.hf_framing import read_processors
from syllabary.formats.hf_grown import Entries, entries, grown
from syllabary.formats.hf_read import read_document
from syllabary.formats.hidden import hidden
from syllabary.formats.strict_json import Json, parse
from syllabary.full.arguments import check_processors
from syllabary.reference.spellings import spellings
from syllabary.spec import TokenizerSpec
from syllabary.tokenizer import Tokenizer

COMPONENTS = ("normalizer", "pre_tokenizer", "decoder")
TRIED = 20  # added tokens that are asked about, at most
OPTIONS = (
    *("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk"),
    *("byte_fallback", "ignore_merges", "max_input_chars_per_word", "unk_id", "alpha", "nbest_size"),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """What the post-processor puts around one text: ids before and after it, and type ids of all three."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    types: tuple[tuple[int, ...], int, tuple[int, ...]] = ((), 0, ())

    def __len__(self) -> int:
        return len(self.before) + len(self.after)


class State(NamedTuple):
    """What ids depend on and can be changed in place: the model and what is done to text before and after,
    the vocabulary by its size alone; the post-processor; the added tokens."""

    model: object
    processor: bytes | None
    added: object


@dataclass
class Made:
    """tok: our tokenizer. state: what it was made of. frame: around one text; `None`: not simply that.

    draws: whether one of several ways is drawn by its score (Unigram's `alpha`), which theirs does. marked:
    the same with other templates, by what they are for.
    """

    tok: Tokenizer
    state: State
    frame: Frame | None
    special: frozenset[int] = field(default_factory=frozenset)
    added: Entries = field(default_factory=dict)
    draws: bool = False
    marked: dict[object, Made] = field(default_factory=dict)

    @cached_property
    def known(self) -> frozenset[int]:
        """Every id."""
        return frozenset(self.tok.vocab)


def make(theirs: Any, last: Made | None = None) -> Made:
    """The engine for a `tokenizers.Tokenizer`; `FormatError` names a component that we do not have.

    `VocabularyError` for a template that names an unknown token: asked about, theirs panics.
    last: what was made of it before: where tokens were only added, they are added to that, and where only the
    post-processor is another one, the engine stays.
    """
    now = state(theirs)
    if last is not None and now._replace(processor=last.state.processor) == last.state:
        return replace(last, tok=_reframed(last.tok, now), state=now, frame=_frame(theirs))
    added, spec = _added(theirs), None
    if last is not None and now.model == last.state.model:
        spec = grown(last.tok.spec, last.added, added, theirs.get_vocab_size(False))
    if spec is not None and last is not None:
        tok = last.tok._grown(spec)
        tok = tok if now.processor == last.state.processor else _reframed(tok, now)
    else:
        tok = Tokenizer(read_document(_document(theirs, added)))
    check_processors(tok.framing.post_processor)
    draws = getattr(theirs.model, "alpha", None) is not None
    return Made(tok, now, _frame(theirs), _special(tok.spec), added, draws)


def _reframed(tok: Tokenizer, now: State) -> Tokenizer:
    """The same with the post-processor as it is now."""
    text = b"null" if now.processor is None else now.processor
    processors = read_processors(parse(text, Path("post_processor")))
    check_processors(processors)
    framed: Tokenizer = tok._framed(replace(tok.framing, post_processor=processors))
    return framed


def _added(theirs: Any) -> Entries:
    """The added tokens. One that was special once is left out and split as such, whatever it says now.

    Theirs remembers the text, and tells nobody: asked about is whether decoding leaves it out.
    """
    found = entries(theirs.get_added_tokens_decoder())
    asked = [number for number, one in found.items() if not one.special]
    ids = [[number] for number in asked]
    kept, left = (theirs.decode_batch(ids, skip_special_tokens=skip) for skip in (False, True))
    once = [
        number
        for number, text, other in zip(asked, kept, left, strict=True)
        if text != other or _is_split(theirs, number, found[number].content)
    ]
    return found | {number: found[number]._replace(special=True) for number in once}


def _is_split(theirs: Any, number: int, content: str) -> bool:
    """The same of a token that decodes to what its text is normalized to, which is never left out."""
    if theirs.id_to_token(number) == content:
        return False
    was = theirs.encode_special_tokens
    try:
        ways = []
        for splits in (False, True):
            theirs.encode_special_tokens = splits
            ways.append(theirs.encode(content, add_special_tokens=False).ids)
    except Exception:  # noqa: BLE001 (theirs has no classes: the pieces of this text are no tokens)
        return True
    finally:
        theirs.encode_special_tokens = was
    return bool(ways[0] != ways[1])


def _document(theirs: Any, added: Entries) -> Json:
    """Its `tokenizer.json`, with the added tokens as given."""
    root = parse(theirs.to_str().encode("utf-8"), Path("tokenizer.json"))
    members = {key: one.value for key, one in root.object().items()}
    tokens = [{"id": number, **one._asdict()} for number, one in sorted(added.items())]
    return Json({**members, "added_tokens": tokens}, root.where, root.path)


def _special(spec: TokenizerSpec) -> frozenset[int]:
    """The ids that decoding may leave out: those spelled as a special token is named.

    So `[MASK]`, found in normalized text as `[mask]`, stays, and ids that only decode go.
    """
    named = spellings(replace(spec, tokens={})) | hidden(spec)
    return frozenset(token_id for token_id, name in named.items() if name in spec.special_tokens)


def state(theirs: Any) -> State:
    """As it stands now."""
    parts = [getattr(theirs, name) for name in COMPONENTS]
    model, processor = theirs.model, theirs.post_processor
    of_model = (
        [None if part is None else part.__getstate__() for part in parts],
        [getattr(model, name, None) for name in OPTIONS],
        (type(model).__name__, theirs.get_vocab_size(False)),
    )
    added = theirs.get_vocab_size(True), repr(theirs.get_added_tokens_decoder())
    return State(of_model, None if processor is None else processor.__getstate__(), added)


def _frame(theirs: Any) -> Frame | None:
    """By asking the post-processor about a token that it does not add; `None` where theirs encodes none."""
    if theirs.post_processor is None:
        return Frame()
    added = [token.content for token in theirs.get_added_tokens_decoder().values()]
    for text in [*added[:TRIED], "a"]:
        try:
            inner = theirs.encode(text, add_special_tokens=False)
        except Exception:  # noqa: BLE001 (theirs has no classes: no token, or a truncation of pairs alone)
            continue
        whole = theirs.post_processor.process(inner, None, True)
        if len(inner.ids) == 1 and whole.ids.count(inner.ids[0]) == 1:
            break  # no token that is put around texts: where it stands is certain, whatever a chain says
    else:
        return None
    size, places = len(inner.ids), whole.sequence_ids
    if len(theirs.post_processor.process(inner, None, False).ids) != size:
        return None  # the text stands in several places
    if not size or places.count(0) != size:
        return Frame() if size and whole.ids == inner.ids and not any(whole.type_ids) else None
    start = places.index(0)
    ids, types = tuple(whole.ids), tuple(whole.type_ids)
    if ids[start : start + size] != tuple(inner.ids) or types[start] != 0:
        return None
    end = start + size
    return Frame(ids[:start], ids[end:], (types[:start], types[start], types[end:]))
