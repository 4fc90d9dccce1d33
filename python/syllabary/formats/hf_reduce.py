"""What Hugging Face's `tokenizer.json` has no words for, rule by rule: what is lost, and the rest of it.

Adds `reduce`: each rule takes a tokenizer that breaks it to the nearest one that keeps it, with a sentence
that says what is lost and whether ids can change; and `rewritten`, which says in their steps what
sentencepiece's normalizer does, where they do just that. Leaves out: what cannot be left out without
becoming another tokenizer (`hf_write` refuses that).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from syllabary.formats.extras import NO_IDS
from syllabary.formats.hf_reduce_unigram import found, spelling, weighed
from syllabary.formats.hf_reduce_words import frozen_words, known_words, never_words
from syllabary.formats.hf_scores import nearest_merges
from syllabary.formats.loss import Loss, joined
from syllabary.reference.symbols import they_are
from syllabary.spec import Matching, Step, StepValue, TokenizerSpec

SPACE = "\u2581"
IN_FRONT = r"\A +"
ALL = 2**31 - 1
Rule = Callable[[TokenizerSpec], tuple[TokenizerSpec, Loss | None] | None]


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """The nearest tokenizer that the file may hold, and one sentence for each thing lost."""
    return _reduced(spec, (*RULES, _record))


def reduce_all_but_record(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """The same, but for what stands beside the tokenizer: `record` and `carried` stay as they are."""
    return _reduced(spec, RULES)


def _reduced(spec: TokenizerSpec, rules: tuple[Rule, ...]) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    losses: list[Loss] = []
    for rule in rules:
        spec = rewritten(spec)
        if (found := rule(spec)) is not None:
            spec, loss = found
            losses += [] if loss is None else [loss]
    return spec, tuple(losses)


# ---- without a loss ----


def rewritten(spec: TokenizerSpec) -> TokenizerSpec:
    """The same tokenizer with steps of theirs for sentencepiece's normalizer, if that has no character map.

    Its models of words have a pattern that finds them (`hf_reduce_words`).
    Source: sentencepiece 0.2.3, `normalizer.cc`: spaces in front go, then the dummy prefix comes, then
    several spaces become one, and at the end all `▁` go, those of the text too.
    """
    spec = known_words(spec)
    if len(spec.normalizer) != 1 or spec.normalizer[0].kind != "SentencePiece":
        return spec
    options = spec.normalizer[0].options
    suffix = options["treat_whitespace_as_suffix"] and options["add_dummy_prefix"]
    if options["precompiled_charsmap"] or suffix:
        return spec
    return replace(spec, normalizer=steps_of(options))


def steps_of(options: Mapping[str, StepValue]) -> tuple[Step, ...]:
    """All that sentencepiece does but its character map, and a space at the end of the text."""
    escape = options["escape_whitespaces"]
    space = SPACE if escape else " "
    steps: list[Step] = []
    if options["remove_extra_whitespaces"]:
        steps += [_replace(IN_FRONT, ""), _replace(" {2,}", " ")]
    if options["add_dummy_prefix"] and not options["treat_whitespace_as_suffix"]:
        steps.append(Step("Prepend", {"prepend": space}))
    if escape:
        steps.append(Step("Replace", {"pattern": " ", "regex": False, "content": SPACE}))
    if options["remove_extra_whitespaces"]:
        steps.append(_replace(rf"{space}+\z", ""))
    return tuple(steps)


def _replace(pattern: str, content: str) -> Step:
    return Step("Replace", {"pattern": pattern, "regex": True, "content": content})


# ---- with a loss ----


def _character_map(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """sentencepiece looks for the longest rule anywhere, their Precompiled for one of a whole grapheme."""
    if len(spec.normalizer) != 1 or spec.normalizer[0].kind != "SentencePiece":
        return None
    options = spec.normalizer[0].options
    rules = options["precompiled_charsmap"]
    lost: list[Loss] = []
    if rules:
        sentence = (
            "how sentencepiece looks up its character map: ids can change where several characters that it "
            "replaces stand together"
        )
        lost.append(Loss(sentence, "some"))
    if options["treat_whitespace_as_suffix"] and options["add_dummy_prefix"]:
        lost.append(Loss("the space that sentencepiece adds at the end of a text: ids change", "all"))
    before = (Step("Precompiled", {"precompiled_charsmap": rules}),) if rules else ()
    return replace(spec, normalizer=(*before, *steps_of(options))), joined(lost)


def _scores(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss | None] | None:
    """With the list of merges, which is not looked for again when the file is written."""
    if spec.scores is None or spec.model != "bpe":
        return None
    merges, fault = nearest_merges(spec)
    if fault is None and not spec.unused:
        return replace(spec, scores=None, merges=merges), None
    lost = Loss(
        "scores, for which there is a list of merges: ids can change where two merges have one score", "some"
    )
    if spec.unused:
        lost = Loss(f"that {they_are(len(spec.unused), 'piece')} cut again once made: ids change", "all")
    return replace(spec, scores=None, unused=frozenset(), merges=merges), lost


def _never(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    names = [
        name
        for name, how in spec.matching.items()
        if how.stage == "never" and (name in spec.special_tokens or spec.unit != "byte")
    ]
    if not names or spec.model != "bpe":
        return None
    ids = {**spec.special_tokens, **spec.added_tokens}
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    change = "ids change where a whole piece of the text is one of them" if spec.whole_pieces else NO_IDS
    loss = Loss(
        f"that {', '.join(map(repr, names[:5]))}{more} are special: they keep their ids "
        f"as ordinary tokens that no text becomes; {change}",
        "some" if spec.whole_pieces else "same",
    )
    changed = replace(
        spec,
        tokens={**spec.tokens, **{ids[name]: name.encode() for name in names}},
        special_tokens={text: i for text, i in spec.special_tokens.items() if text not in names},
        added_tokens={text: i for text, i in spec.added_tokens.items() if text not in names},
        matching={text: how for text, how in spec.matching.items() if text not in names},
    )
    return changed, loss


def _frozen(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    names = [name for name, how in spec.matching.items() if how.stage == "frozen"]
    if not names:
        return None
    matching = {
        name: Matching("text", how.single_word, how.lstrip, how.rstrip) if name in names else how
        for name, how in spec.matching.items()
    }
    loss = Loss(
        f"that {they_are(len(names), 'token')} found in the normalized text: the text before one is "
        "normalized as if it ended there, the text after it as if it began there; ids can change there",
        "some",
    )
    return replace(spec, matching={name: how for name, how in matching.items() if how != Matching()}), loss


def _offsets(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    if not spec.surface_offsets:
        return None
    return replace(spec, surface_offsets=False), Loss(f"sentencepiece's offsets of bytes: {NO_IDS}", "same")


def _decoder(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """Theirs gives control tokens their names, and the unknown one its own.

    A space behind the text (`treat_whitespace_as_suffix`) stays in both; spaces in front go all the same.
    """
    if spec.decoder is None or [step.kind for step in spec.decoder] != ["SentencePiece"]:
        return None
    options = spec.decoder[0].options
    steps = [Step("Replace", {"pattern": SPACE, "regex": False, "content": " "})]
    steps += [Step("ByteFallback"), Step("Fuse")]
    if options["add_dummy_prefix"] or options["remove_extra_whitespaces"]:
        most = ALL if options["remove_extra_whitespaces"] else 1
        steps.append(Step("Strip", {"content": " ", "start": most, "stop": 0}))
    sentence = "how sentencepiece decodes control tokens, the unknown token and bytes that are no UTF-8"
    return replace(spec, decoder=tuple(steps)), Loss(f"{sentence}: {NO_IDS}", "same")


def _record(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    others = {name: value for name, value in spec.carried.items() if name != "huggingface"}
    if not spec.record and not others:
        return None
    carried = {name: value for name, value in spec.carried.items() if name == "huggingface"}
    loss = Loss(f"the record of training, and what other formats alone hold: {NO_IDS}", "same")
    return replace(spec, record={}, carried=carried), loss


RULES: tuple[Rule, ...] = (
    _character_map,
    _scores,
    _never,
    never_words,
    found,
    frozen_words,
    _frozen,
    spelling,
    weighed,
    _offsets,
    _decoder,
)
