"""The model `bert` of GGUF: WordPiece with BERT's normalizer, its tokens spelled with a mark before words.

    un  ##able  [UNK]    ->    ▁un  able  [UNK]

What begins a word has `▁` in front ("phantom space"), what goes on has nothing, control tokens stay as they
are. Which one is unknown is told by its id, whether text is put into lower case by
`tokenizer.ggml.normalizer.lowercase` (if it is not told, it is). Cutting and normalizing are those of the
`tokenizer.json` that such a file is made of; llama.cpp has its own tables for them. It has no limit to the
length of words, so none is read. Adds reading, the pairs of a file to be written, and what is lost.
Source: llama.cpp, `llama-vocab.cpp` (`llm_tokenizer_wpm_session`, `llama_vocab::impl::load`), and its
converter, `conversion/bert.py` (`BertModel.set_vocab`). Leaves out: the file (`gguf`, `gguf_write`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from syllabary.formats.bert_vocab import CUTTING, DECODER
from syllabary.formats.extras import NO_IDS
from syllabary.formats.gguf_container import Value, smallest
from syllabary.formats.gguf_file import (
    BYTE,
    CONTROL,
    NAME,
    NORMAL,
    PREFIX,
    UNUSED,
    USER_DEFINED,
    File,
    check_apart,
    named,
)
from syllabary.formats.loss import Loss
from syllabary.formats.record import cannot_hold
from syllabary.reference.added import PLAIN
from syllabary.spec import Matching, SplitSpec, Step, StepValue, TokenizerSpec

NEVER = Matching(stage="never")
SPACE, CONTINUING = "\u2581", "##"
UNKNOWN_ID = 100  # where the file does not say it
LOWER, STRIPS = "ggml.normalizer.lowercase", "ggml.normalizer.strip_accents"


def read_words(file: File, texts: list[str], kinds: list[int]) -> TokenizerSpec:
    """A tokenizer of the model `bert`; `FormatError` for one that is none."""
    if BYTE in kinds:
        raise file.error(f"ggml.token_type[{kinds.index(BYTE)}]", "a byte, in a vocabulary of the model bert")
    spelled = [text if kind == CONTROL else unmarked(text) for text, kind in zip(texts, kinds, strict=True)]
    first: dict[str, int] = {}
    for token_id, text in enumerate(spelled):
        if first.setdefault(text, token_id) != token_id:
            raise file.error(f"ggml.tokens[{token_id}]", f"{text!r} is that of id {first[text]} too")
    strips = file.flag(STRIPS, False) if PREFIX + STRIPS in file.pairs else None
    options = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": strips}
    hidden = (UNUSED, USER_DEFINED)
    return TokenizerSpec(
        unit="char",
        split=SplitSpec(None, name="none"),
        tokens={
            token_id: text.encode() for token_id, text in enumerate(spelled) if kinds[token_id] not in hidden
        },
        alphabet={},
        merges=None,
        normalizer=(Step("Bert", {**options, "lowercase": file.flag(LOWER, True)}),),
        pretokenizer=CUTTING,
        decoder=DECODER,
        unknown=file.id("ggml.unknown_token_id", UNKNOWN_ID, len(texts)),
        continuing_prefix=CONTINUING,
        model="wordpiece",
        **named(file, spelled, kinds),  # type: ignore[arg-type]
    )


def unmarked(text: str) -> str:
    """A token as WordPiece spells it.

    >>> unmarked("\u2581un"), unmarked("able")
    ('un', '##able')
    """
    return text[1:] if text.startswith(SPACE) else CONTINUING + text


def marked(text: str) -> str:
    """A token as the file spells it; `FormatError` for one that would be read as another."""
    found = text.removeprefix(CONTINUING) if text.startswith(CONTINUING) else SPACE + text
    if not found or unmarked(found) != text or text == "":
        raise cannot_hold(NAME, f"the token {text!r} of a WordPiece model: its mark {SPACE} would be misread")
    return found


def pairs(spec: TokenizerSpec) -> tuple[dict[str, tuple[str, Value]], dict[int, str], dict[int, int]]:
    """What a file says of a tokenizer but its tokens; id -> text, id -> type of these."""
    options = _options(spec)
    if spec.unknown is None:
        raise cannot_hold(NAME, "a WordPiece model without an unknown token")
    texts, kinds = _listed(spec)
    found: dict[str, tuple[str, Value]] = {
        "tokenizer.ggml.model": ("str", "bert"),
        "tokenizer.ggml.pre": ("str", "default"),
        "tokenizer.ggml.token_type_count": ("u32", 2),
        "tokenizer.ggml.unknown_token_id": ("u32", spec.unknown),
        PREFIX + LOWER: ("bool", bool(options["lowercase"])),
    }
    if options["strip_accents"] is not None:
        found[PREFIX + STRIPS] = ("bool", bool(options["strip_accents"]))
    carried = spec.carried.get(NAME, {})
    kept = carried if isinstance(carried, dict) else {}
    for key in ("ggml.pre", "ggml.token_type_count"):
        if key in kept and (kind := smallest(kept[key])):
            found[PREFIX + key] = (kind, kept[key])
    return found, texts, kinds


def _options(spec: TokenizerSpec) -> Mapping[str, StepValue]:
    """Those of BERT's normalizer; `FormatError` for other steps."""
    steps = [step.kind for step in spec.normalizer]
    options = spec.normalizer[0].options if steps == ["Bert"] else {}
    plain = options.get("clean_text") and options.get("handle_chinese_chars")
    if not plain or (spec.pretokenizer, spec.decoder) != (CUTTING, DECODER) or spec.split.pattern is not None:
        raise cannot_hold(NAME, "a WordPiece model with other steps or another split than BERT's")
    if spec.continuing_prefix != CONTINUING or spec.longest_piece is not None:
        raise cannot_hold(NAME, f"another prefix than {CONTINUING}, or a limit to the length of words")
    return options


def _listed(spec: TokenizerSpec) -> tuple[dict[int, str], dict[int, int]]:
    """id -> text, and id -> type, of every token; `FormatError` for one that has no place in the list."""
    kinds = dict.fromkeys(spec.tokens, NORMAL) | dict.fromkeys(spec.special_tokens.values(), CONTROL)
    kinds |= dict.fromkeys(spec.added_tokens.values(), USER_DEFINED)
    for text, found_as in spec.matching.items():
        if found_as == NEVER and text in spec.special_tokens:
            kinds[spec.special_tokens[text]] = UNUSED
        elif found_as != PLAIN:
            raise cannot_hold(NAME, f"how the token {text!r} is found: it is the text alone, anywhere")
    texts = {token_id: token.decode() for token_id, token in spec.tokens.items()}
    texts |= {at: text for text, at in (*spec.special_tokens.items(), *spec.added_tokens.items())}
    check_apart(texts)  # as they are read
    texts = {at: text if kinds[at] == CONTROL else marked(text) for at, text in sorted(texts.items())}
    check_apart(texts)
    return texts, kinds


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, list[Loss]]:
    """The nearest tokenizer that such a file can hold, and what is lost."""
    lost: list[Loss] = []
    if spec.longest_piece is not None:
        sentence = f"that words of more than {spec.longest_piece} characters are unknown; "
        lost.append(Loss(sentence + "ids can change where there is one", "some"))
        spec = replace(spec, longest_piece=None)
    missing = {
        token_id: text.encode()
        for text, token_id in spec.special_tokens.items()
        if token_id not in spec.tokens
    }
    if missing:
        sentence = "that special tokens are no words; ids can change where a word of a text is spelled as one"
        lost.append(Loss(sentence, "some"))
        spec = replace(spec, tokens={**spec.tokens, **missing})
    twice = {*spec.added_tokens.values()} & spec.tokens.keys()
    if twice:
        lost.append(Loss(f"that added tokens are words too; {NO_IDS}", "same"))
        spec = replace(spec, tokens={i: token for i, token in spec.tokens.items() if i not in twice})
    if spec.decoder != DECODER and [step.kind for step in spec.decoder or ()] in ([], ["WordPiece"]):
        lost.append(Loss(f"the decoder, which becomes BERT's own; {NO_IDS}", "same"))
        spec = replace(spec, decoder=DECODER)
    return spec, lost
