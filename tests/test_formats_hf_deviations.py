"""Where we do not do as Hugging Face's library does with a file of its own, each by an example of both.

Leaves out: what is the same (`test_formats_hf`), and files that are refused (`test_formats_hf_bad_input`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hf_configurations import POST_PROCESSORS, added, level, metaspace
from implementations import Implementation, each
from tokenizers import Tokenizer

from syllabary import formats
from syllabary.errors import FormatError, UnknownSymbolError

NAME = "tokenizer.json"
LEVEL_DECODER = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
BYTES = {"Ġ": 0, "a": 1, "b": 2, "Ã": 3, "©": 4, "Ġa": 5}


def both(
    implementation: Implementation, folder: Path, vocab: dict[str, int], **changes: Any
) -> tuple[Any, Tokenizer]:
    """A small file, opened here and there."""
    model = {"type": "BPE", "vocab": vocab, "merges": changes.pop("merges", []), **changes.pop("model", {})}
    data = json.dumps({"version": "1.0", "model": model, "decoder": {"type": "Fuse"}, **changes})
    (folder / NAME).write_text(data, "utf-8")
    return implementation.tokenizer(formats.read(folder / NAME)), Tokenizer.from_str(data)


@each
def test_a_symbol_outside_the_alphabet_is_an_error(implementation: Implementation, tmp_path: Path) -> None:
    """They drop it, and the offsets of what follows are those of other text."""
    ours, theirs = both(implementation, tmp_path, {"a": 0, "b": 1})
    assert theirs.encode("axb").offsets == [(0, 1), (1, 2)]
    with pytest.raises(UnknownSymbolError, match="'x'"):
        ours.encode("axb")


@each
def test_truncation_and_padding_are_not_applied(implementation: Implementation, tmp_path: Path) -> None:
    """They are carried to the next file; a text has all of its ids."""
    truncation = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    ours, theirs = both(implementation, tmp_path, {"a": 0, "b": 1}, truncation=truncation)
    assert theirs.encode("abab").ids == [0, 1]
    assert list(ours.encode("abab")) == [0, 1, 0, 1]


@each
def test_unknown_symbols_keep_their_place(implementation: Implementation, tmp_path: Path) -> None:
    """Where a fallback lacks bytes, they put the unknown token behind the bytes of what follows it."""
    vocab = {"<unk>": 0, "<0xC3>": 1, "<0xA9>": 2}
    options = {"unk_token": "<unk>", "byte_fallback": True}
    ours, theirs = both(implementation, tmp_path, vocab, model=options)
    assert theirs.encode("日é").ids == [1, 2, 0]
    assert list(ours.encode("日é")) == [0, 1, 2]


@each
def test_text_that_looks_like_a_byte_is_text(implementation: Implementation, tmp_path: Path) -> None:
    """With `ignore_merges`, they take the text `<0x41>` for the byte of an A."""
    vocab = {**{char: place for place, char in enumerate("<0x41>A")}, "<0x41>": 7}
    options = {"byte_fallback": True, "ignore_merges": True}
    ours, theirs = both(implementation, tmp_path, vocab, model=options)
    assert theirs.encode("<0x41>").ids == [7]
    assert list(ours.encode("<0x41>")) == [vocab[char] for char in "<0x41>"]


@each
def test_unigram_needs_no_unknown_token_where_all_is_known(
    implementation: Implementation, tmp_path: Path
) -> None:
    """They ask for one at every character that is no token, though `ab` covers it, or its bytes are there."""
    vocab = [["ab", -1.0], ["c", -1.0], *([f"<0x{byte:02X}>", 0.0] for byte in range(256))]
    model = {"type": "Unigram", "unk_id": None, "vocab": vocab, "byte_fallback": True}
    data = json.dumps({"version": "1.0", "model": model})
    (tmp_path / NAME).write_text(data, "utf-8")
    ours, theirs = implementation.tokenizer(formats.read(tmp_path / NAME)), Tokenizer.from_str(data)
    assert theirs.encode("c").ids == [1]
    for text, ids in (("ab", [0]), ("é", [2 + 0xC3, 2 + 0xA9])):
        with pytest.raises(Exception, match="`unk_id` is missing"):
            theirs.encode(text)
        assert list(ours.encode(text)) == ids


@each
def test_an_added_token_is_decoded_as_its_text(implementation: Implementation, tmp_path: Path) -> None:
    """They take the `é` of an added token for byte 0xE9."""
    ours, theirs = both(
        implementation,
        tmp_path,
        BYTES,
        pre_tokenizer=level(),
        decoder=LEVEL_DECODER,
        added_tokens=[added("<é>", 6, special=True)],
    )
    assert list(ours.encode("<é>", special="allow")) == theirs.encode("<é>").ids == [6]
    assert theirs.decode([6], skip_special_tokens=False) == "<\ufffd>"
    assert ours.decode([6]) == "<é>"


@each
def test_the_space_that_was_put_in_front_has_no_width(implementation: Implementation, tmp_path: Path) -> None:
    """Not told of `add_prefix_space` in the post-processor, they take a letter off the offsets instead."""
    ours, theirs = both(
        implementation,
        tmp_path,
        BYTES,
        merges=["Ġ a"],
        pre_tokenizer=level(True),
        decoder=LEVEL_DECODER,
        post_processor=POST_PROCESSORS[3],
    )
    assert theirs.encode("a", add_special_tokens=False).offsets == [(1, 1)]
    assert [tuple(span) for span in ours.offsets("a")] == [(0, 1)]


@each
def test_white_space_is_taken_once(implementation: Implementation, tmp_path: Path) -> None:
    """They find a token again in the white space that one with `rstrip` has taken."""
    entries = [added("x", 2, rstrip=True), added(" ", 3)]
    ours, theirs = both(implementation, tmp_path, {"a": 0, "b": 1}, added_tokens=entries)
    assert theirs.encode("ax b").ids == [0, 2, 3, 1]
    assert list(ours.encode("ax b")) == [0, 2, 1]


def test_components_and_keys_that_they_pass_over(tmp_path: Path) -> None:
    """They guess the component by its members, and ignore the others: here both are refused."""
    vocab = {"a": 0}
    for key, value, message in [
        ("normalizer", {"type": "Foo", "prepend": "x"}, "unknown normalizer 'Foo'"),
        ("pre_tokenizer", {**metaspace("always"), "foo": 1}, "unknown key 'foo'"),
        ("added_tokens", [added("a", 5)], "should be 0, which their library would give it"),
    ]:
        document = {"model": {"type": "BPE", "vocab": vocab, "merges": []}, key: value}
        assert Tokenizer.from_str(json.dumps(document)).token_to_id("a") == 0
        (tmp_path / NAME).write_text(json.dumps(document), "utf-8")
        with pytest.raises(FormatError, match=message):
            formats.read(tmp_path / NAME)


@each
def test_bytes_that_are_no_text_are_decoded_as_utf8_is(
    implementation: Implementation, tmp_path: Path
) -> None:
    """They give one U+FFFD for each byte of a run that is not whole, its good characters too."""
    vocab = {"a": 0, **{f"<0x{byte:02X}>": 1 + byte for byte in range(256)}}
    decoder = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
    ours, theirs = both(implementation, tmp_path, vocab, model={"byte_fallback": True}, decoder=decoder)
    ids = [0, *(1 + byte for byte in "é".encode()), 1 + 0xE6]
    assert theirs.decode(ids) == "a\ufffd\ufffd\ufffd"
    assert ours.decode(ids) == "aé\ufffd"
    assert ours.decode(ids[:3]) == theirs.decode(ids[:3]) == "aé"


@each
def test_a_special_token_of_one_symbol_as_text(implementation: Implementation, tmp_path: Path) -> None:
    """Their vocabulary makes it of the text; here it is no symbol of the alphabet, unless a merge has it."""
    vocab = {"<unk>": 0, "a": 1, "x": 2, "b": 3, "ab": 4, "xa": 5}
    changes: dict[str, Any] = {"model": {"unk_token": "<unk>"}, "added_tokens": [added("x", 2, special=True)]}
    for merges, want in (([["a", "b"]], [4, 0, 1]), ([["a", "b"], ["x", "a"]], [4, 5])):
        ours, theirs = both(implementation, tmp_path, vocab, merges=merges, **changes)
        theirs.encode_special_tokens = True
        assert theirs.encode("abxa").ids == ([4, 2, 1] if len(merges) == 1 else want)
        assert ours.encode("abxa", special="text") == want
        assert ours.encode("abxa", special="allow") == [4, 2, 1]
