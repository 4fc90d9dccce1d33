"""What components of `syllabary.compat.tokenizers` are made of, beside the library: arguments, attributes.

Leaves out: what they do (`test_compat_tokenizers_parts`).
"""

from __future__ import annotations

import copy
import json
import pickle
from operator import attrgetter
from typing import Any

import pytest
import tokenizers as theirs

from syllabary.compat import tokenizers as ours
from syllabary.errors import FormatError, VocabularyError

LIBRARIES = (theirs, ours)
TRAINERS = ["BpeTrainer", "WordPieceTrainer", "WordLevelTrainer", "UnigramTrainer"]


@pytest.mark.parametrize("name", TRAINERS)
@pytest.mark.parametrize(
    "options",
    [
        {"unk_token": "<unk>", "vocab_size": 9},
        {"foo": 1, "words": {}, "bar": None},
        {"max_token_length": 3, "n_sub_iterations": 1},
        {"progress_format": "json", "special_tokens": ["a"], "end_of_word_suffix": "x"},
    ],
)
def test_trainers_say_which_options_they_pass_over(
    name: str, options: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    said = []
    for t in LIBRARIES:
        trainer = getattr(t.trainers, name)(**options)
        said.append((capfd.readouterr().out, repr(trainer)))
    assert said[1] == said[0]


@pytest.mark.parametrize("damaged", [b"", b"ab", b"abcd", [1, 2], b"\0\0\0\0\xff\xfe"], ids=repr)
def test_a_damaged_character_map_is_refused_when_built(damaged: Any) -> None:
    """As theirs does; a file with it could not be opened."""
    for t, kind in ((theirs, Exception), (ours, FormatError)):
        with pytest.raises(kind, match=r"precompiled[ _](?:map|charsmap)"):
            t.normalizers.Precompiled(damaged)


@pytest.mark.parametrize("damaged", [b"\0\0\0\0", b"\4\0\0\0abcd", b"\4\0\0\0\0\0\0\0"], ids=repr)
def test_a_character_map_that_leads_outside_itself_is_refused_when_used(damaged: bytes) -> None:
    """Theirs builds it, and panics then."""
    made = ours.normalizers.Precompiled(damaged)
    assert repr(made) == repr(theirs.normalizers.Precompiled(damaged))
    with pytest.raises(VocabularyError, match="character map of the normalizer is damaged"):
        made.normalize_str("a")


# ---- sequences in sequences ----


def part(t: Any, place: str) -> Any:
    """A component of a place, which can be told from another."""
    names = {"normalizers": "Prepend", "pre_tokenizers": "Punctuation", "processors": "ByteLevel"}
    return getattr(getattr(t, place), names.get(place, "Fuse"))()


@pytest.mark.parametrize("place", ["normalizers", "pre_tokenizers", "processors", "decoders"])
def test_a_sequence_in_a_sequence_is_its_items(place: str) -> None:
    """For decoders it is one item; a file keeps it, wherever it is."""
    seen = []
    for t in LIBRARIES:
        sequence = getattr(t, place).Sequence
        made = sequence([part(t, place), sequence([sequence([part(t, place)]), sequence([])])])
        state = made.__getstate__()
        found = [repr(made), str(made), state, repr(pickle.loads(pickle.dumps(made)))]
        (listed,) = json.loads(state).keys() - {"type"}
        outer = sequence([])
        outer.__setstate__(json.dumps({"type": "Sequence", listed: [json.loads(state)]}).encode())
        found += [repr(outer), repr(sequence([outer, part(t, place)]))]
        if place != "decoders":
            found += [repr(one) for one in made]
            found += [repr(outer[0]), repr(made[1])]
            with pytest.raises(IndexError, match="Index not found"):
                made[2]
            with pytest.raises(Exception, match="should not be a sequence") as caught:
                made[0] = sequence([])
            found.append(repr(caught.value))
        seen.append(found)
    assert seen[1] == seen[0]


def test_the_items_of_a_sequence_are_shared() -> None:
    """What is changed or replaced in one is so in the other, and in what they do."""
    seen = []
    for t in LIBRARIES:
        n = t.normalizers
        first = n.Prepend("a")
        inner = n.Sequence([n.Sequence([first]), n.Lowercase()])
        outer = n.Sequence([n.NFC(), inner])
        found = [outer.normalize_str("X")]
        first.prepend = "b"
        found += [str(outer), outer.normalize_str("X")]
        inner[1] = n.Strip()
        found += [str(outer), outer.normalize_str("X ")]
        outer[1] = n.Prepend("c")
        found += [str(inner), inner.normalize_str("X "), str(len(outer)), str(len(inner))]
        seen.append(found)
    assert seen[1] == seen[0]


# ---- attributes ----

MODELS = ["BPE", "WordPiece", "WordLevel", "Unigram"]
NAMES = [
    "foo", "dropuot", "kind", "tokenize", "vocab", "merges", "dropout", "unk_token", "unk_id", "fuse_unk",
    "byte_fallback", "ignore_merges", "continuing_subword_prefix", "end_of_word_suffix", "alpha",
    "nbest_size", "max_input_chars_per_word", "min_frequency", "vocab_size", "show_progress",
    "progress_format", "special_tokens", "limit_alphabet", "initial_alphabet", "max_token_length",
    "n_sub_iterations", "shrinking_factor", "max_piece_length", "seed_size", "words", "special_token",
]  # fmt: skip


def setting(component: Any, name: str) -> str:
    """What comes of it; a value that is none is a matter of its own."""
    try:
        setattr(component, name, True)
    except AttributeError as error:
        return str(error)
    except (TypeError, ValueError):
        pass
    return "set"


@pytest.mark.parametrize(
    "path", [*(f"models.{name}" for name in MODELS), *(f"trainers.{name}" for name in TRAINERS)]
)
def test_models_and_trainers_have_no_other_attributes(path: str) -> None:
    seen = []
    for t in LIBRARIES:
        component = attrgetter(path)(t)()
        seen.append({name: setting(component, name) for name in NAMES})
    assert seen[1] == seen[0]
    assert "no attribute 'foo'" in seen[1]["foo"]


def test_classes_of_the_caller_and_the_rest_have_what_they_are_given() -> None:
    for t in LIBRARIES:
        made = type("Own", (t.models.Model,), {"__init__": lambda self: None})()
        for one in (made, t.Tokenizer(t.models.BPE()), t.normalizers.NFC(), t.decoders.Fuse()):
            one.foo = 1
            assert one.foo == 1


class Idle:
    """Code of the caller's that does nothing."""

    def normalize(self, _text: Any) -> None: ...
    def pre_tokenize(self, _text: Any) -> None: ...
    def decode_chain(self, tokens: list[str]) -> list[str]:
        return tokens


@pytest.mark.parametrize(
    "place, kind, listed",
    [
        ("normalizer", "Normalizer", False),
        ("normalizer", "Normalizer", True),
        ("pre_tokenizer", "PreTokenizer", False),
        ("pre_tokenizer", "PreTokenizer", True),
        ("decoder", "Decoder", False),  # a list of them is a panic there
    ],
)
def test_code_of_the_caller_is_in_no_file_and_no_pickle(place: str, kind: str, listed: bool) -> None:
    found = []
    for library in (ours, theirs):
        module = getattr(library, f"{place}s")
        made = alone = getattr(module, kind).custom(Idle())
        if listed:
            made = module.Sequence([alone])
        tokenizer = library.Tokenizer(library.models.BPE({"a": 0}, []))
        setattr(tokenizer, place, made)
        runs: list[Any] = [
            lambda t=tokenizer: pickle.dumps(t),
            lambda t=tokenizer: copy.deepcopy(t),
            lambda t=tokenizer: t.to_str(),
            lambda t=tokenizer: repr(t),
            lambda one=made: pickle.dumps(one),
            lambda one=alone: copy.deepcopy(one),
            lambda one=alone: one.__getstate__(),
            lambda one=made: str(one),
        ]
        found.append([])
        for run in runs:
            with pytest.raises(Exception) as caught:  # noqa: PT011 (theirs raises nothing narrower)
                run()
            found[-1].append((type(caught.value), str(caught.value)))
    assert found[0] == found[1]
