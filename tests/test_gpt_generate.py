"""Drawing: the cache changes nothing, the options do what they say, no broken character comes out."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

import syllabary  # noqa: E402
from syllabary.errors import ModelError  # noqa: E402
from syllabary.gpt.config import ModelConfig  # noqa: E402
from syllabary.gpt.generate import Draw, generate, stream, window_start  # noqa: E402
from syllabary.gpt.model import GPT  # noqa: E402

GREEK = "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος οὐλομένην, ἣ μυρί᾽ Ἀχαιοῖς ἄλγε᾽ ἔθηκε 😀"


def shaken(**changes: Any) -> GPT:
    """An untrained model whose scores are far apart."""
    shape = {"vocab_size": 29, "block_size": 8, "n_layer": 2, "n_head": 2, "n_embd": 16}
    model = GPT(ModelConfig(**{**shape, **changes}), 1).eval()
    draws = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.empty(weight.shape).normal_(0, 0.3, generator=draws))
    return model


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    """Bytes and a few merges: most Greek letters are split."""
    return syllabary.train([GREEK], vocab_size=262, special_tokens=["<|end|>"])


@pytest.fixture(scope="module")
def abc() -> syllabary.Tokenizer:
    """Tokens of several letters."""
    return syllabary.train(["abcabcacbbacacbaabc bca cab"] * 3, vocab_size=262)


# ---- the window and the cache ----


@pytest.mark.parametrize("block", [1, 2, 3, 7, 8])
def test_the_window_is_between_half_a_block_and_a_block(block: int) -> None:
    starts = [window_start(length, block) for length in range(1, 60)]
    for length, start in enumerate(starts, 1):
        assert start == 0 if length <= block else block / 2 < length - start <= block
    moves = [after - before for before, after in itertools.pairwise(starts)]
    assert set(moves) == {0, max(1, block // 2)} or block < 4


@pytest.mark.parametrize("positions", ["learned", "rotary"])
@pytest.mark.parametrize("block", [1, 2, 5, 8])
@pytest.mark.parametrize("prompt", [1, 5, 8, 9, 30])
def test_with_and_without_cache_the_same_is_drawn(
    positions: str, block: int, prompt: int, prove: bool
) -> None:
    model = shaken(positions=positions, block_size=block)
    ids = [each % 29 for each in range(3, 3 + prompt)]
    both = ({"temperature": 0}, {"seed": 3})
    for options in both if prove else both[(block + prompt + len(positions)) % 2 :][:1]:
        given = {"max_tokens": 3 * block + 5, **options}
        with_cache = list(generate(model, ids, **given))
        assert with_cache == list(generate(model, ids, cache=False, **given))
        assert len(with_cache) == 3 * block + 5


def test_the_scores_of_each_step_are_those_of_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only the ids drawn: every score, past the block too, against the model on the window alone."""
    model, seen = shaken(positions="rotary"), []
    call = Draw.__call__

    def spy(self: Draw, scores: torch.Tensor) -> int:
        seen.append(scores)
        return call(self, scores)

    monkeypatch.setattr(Draw, "__call__", spy)
    ids = [5, 2, 7, *generate(model, [5, 2, 7], max_tokens=30, seed=0)]
    for number, scores in enumerate(seen):
        so_far = ids[: 3 + number]
        window = torch.tensor([so_far[window_start(len(so_far), 8) :]])
        torch.testing.assert_close(scores, model.logits(window)[0, -1], atol=1e-5, rtol=1e-5)


def test_the_models_mode_is_left_alone() -> None:
    model = shaken(dropout=0.5)
    wanted = list(generate(model, [1], max_tokens=9, seed=1))
    model.train()
    drawn = generate(model, [1], max_tokens=9, seed=1)
    first = next(drawn)
    assert model.training
    assert torch.is_grad_enabled()
    assert [first, *drawn] == wanted  # dropout is off


# ---- drawing ----

SCORES = torch.tensor([0.1, 0.4, 0.3, 0.2]).log()


def shares(draws: int = 2500, **options: Any) -> dict[int, float]:
    draw = Draw(seed=0, **options)
    counts = Counter(draw(SCORES) for _ in range(draws))
    return {each: counts[each] / draws for each in sorted(counts)}


def test_the_shares_are_those_of_the_scores() -> None:
    near = {"abs": 0.03}
    assert shares() == pytest.approx({0: 0.1, 1: 0.4, 2: 0.3, 3: 0.2}, **near)
    assert shares(temperature=0.5) == pytest.approx({0: 1 / 30, 1: 16 / 30, 2: 9 / 30, 3: 4 / 30}, **near)
    assert shares(top_k=2) == pytest.approx({1: 4 / 7, 2: 3 / 7}, **near)
    assert shares(top_p=0.65) == pytest.approx({1: 4 / 7, 2: 3 / 7}, **near)
    assert shares(top_p=0.75) == pytest.approx({1: 4 / 9, 2: 3 / 9, 3: 2 / 9}, **near)
    assert shares(top_k=3, top_p=0.5) == pytest.approx({1: 4 / 7, 2: 3 / 7}, **near)
    assert shares(never=[1]) == pytest.approx({0: 1 / 6, 2: 3 / 6, 3: 2 / 6}, **near)


def test_options_that_leave_one() -> None:
    for options in ({"temperature": 0}, {"top_k": 1}, {"top_p": 1e-9}, {"temperature": 1e-4}):
        assert shares(20, **options) == {1: 1.0}
    assert shares(20, temperature=0, never=[1]) == {2: 1.0}


def test_options_that_leave_all_change_nothing() -> None:
    plain = [Draw(seed=seed)(SCORES) for seed in range(50)]
    for options in ({"top_k": 4}, {"top_k": 100}, {"top_p": 1.0}):
        assert [Draw(seed=seed, **options)(SCORES) for seed in range(50)] == plain


def test_of_equals_the_lowest_id() -> None:
    scores = torch.zeros(300)
    assert Draw(temperature=0)(scores) == 0
    assert {Draw(seed=seed, top_k=2)(scores) for seed in range(40)} == {0, 1}


def test_the_seed_alone_says_what_is_drawn() -> None:
    model = shaken()
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = list(generate(model, [1], max_tokens=20, seed=7))
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(1)
    assert list(generate(model, [1], max_tokens=20, seed=7)) == first
    assert list(generate(model, [1], max_tokens=20, seed=8)) != first
    unseeded = {tuple(generate(model, [1], max_tokens=20)) for _ in range(3)}
    assert len(unseeded) == 3


def test_a_stop_id_ends_it_and_is_not_given() -> None:
    model = shaken()
    whole = list(generate(model, [1], max_tokens=40, seed=7))
    stop = whole[10]
    assert list(generate(model, [1], max_tokens=40, seed=7, stop=[stop])) == whole[: whole.index(stop)]
    assert list(generate(model, [1], max_tokens=0)) == []


BAD = [
    ({"temperature": -1}, "temperature is -1"),
    ({"temperature": float("nan")}, "temperature is nan"),
    ({"temperature": float("inf")}, "temperature is inf"),
    ({"top_k": 0}, "top_k is 0"),
    ({"top_p": 0}, "top_p is 0"),
    ({"top_p": 1.5}, "top_p is 1.5"),
    ({"seed": -1}, "seed is -1"),
    ({"max_tokens": -1}, "max_tokens is -1"),
    ({"ids": []}, "no ids"),
    ({"ids": [1, 29]}, "id 29 is outside the model's vocabulary of 29"),
    ({"never": [-1]}, "id -1 is outside"),
    ({"never": range(29)}, "never holds the whole vocabulary"),
]


@pytest.mark.parametrize("changes, message", BAD)
def test_bad_options_are_refused_before_anything_is_drawn(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        generate(shaken(), **{"ids": [1], "max_tokens": 3, **changes})


def test_damaged_weights_are_said() -> None:
    model = shaken()
    with torch.no_grad():
        model.norm.weight[3] = float("nan")
    with pytest.raises(ModelError, match="scores are no numbers"):
        next(generate(model, [1], max_tokens=1))


# ---- text ----


def test_no_broken_character_comes_out(tok: syllabary.Tokenizer) -> None:
    """An untrained model draws bytes at random: most of them are no UTF-8."""
    model = shaken(vocab_size=tok.vocab_size)
    prompt = tok.encode(GREEK)
    broken = 0
    for seed in range(20):
        ids = list(generate(model, prompt, max_tokens=60, seed=seed))
        parts = list(stream(tok, ids, prompt=prompt))
        assert "\ufffd" not in "".join(parts)
        assert all(parts)
        assert "".join(parts) == tok.decode(ids, errors="ignore")
        replaced = "".join(stream(tok, ids, prompt=prompt, errors="replace"))
        assert replaced == tok.decode(ids, errors="replace")
        broken += "\ufffd" in replaced
    assert broken > 10  # it did draw what could have been shown broken


def test_split_letters_come_whole_and_as_soon_as_they_are(tok: syllabary.Tokenizer) -> None:
    ids = [token_id for byte in "ῆα😀".encode() for token_id in [tok.token_to_id(bytes([byte]))]]
    shown: list[str] = []

    def counted() -> Iterator[int]:
        for number, token_id in enumerate(ids):
            shown.append(f"{number}")
            yield token_id

    shown += [part for part in stream(tok, counted()) if not shown.append(part)]
    assert "".join(shown[: len(ids) + 3]) == "012ῆ34α5678😀"


def test_a_character_cut_off_at_the_end_is_left_out(tok: syllabary.Tokenizer) -> None:
    ids = [*tok.encode("ab"), tok.token_to_id(b"\xe1")]
    assert "".join(stream(tok, ids)) == "ab"
    assert "".join(stream(tok, ids, errors="replace")) == "ab\ufffd"


def cut(text: str, stops: list[str]) -> str:
    """Naive: read character by character until a stop text is complete."""
    for end in range(len(text) + 1):
        found = [end - len(stop) for stop in stops if text[:end].endswith(stop)]
        if found:
            return text[: min(found)]
    return text


@given(
    text=st.text("abc", max_size=30),
    stops=st.lists(st.text("abc", min_size=1, max_size=4), max_size=3),
    data=st.data(),
)
def test_stop_texts_are_found_across_tokens(
    abc: syllabary.Tokenizer, text: str, stops: list[str], data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6).map(sorted))
    ids = [
        each
        for start, end in itertools.pairwise([0, *cuts, len(text)])
        for each in abc.encode(text[start:end])
    ]
    assert "".join(stream(abc, ids, stop=stops)) == cut(text, stops)


def test_nothing_is_drawn_after_a_stop_text(tok: syllabary.Tokenizer) -> None:
    drawn: list[int] = []
    ids = (drawn.append(each) or each for each in tok.encode("one. two. three."))
    assert "".join(stream(tok, ids, stop=[". t"])) == "one"
    assert len(drawn) < len(tok.encode("one. two. three."))
    with pytest.raises(ModelError, match="stop text is empty"):
        stream(tok, [], stop=["a", ""])


def test_a_stop_text_in_the_prompt_does_not_count(tok: syllabary.Tokenizer) -> None:
    prompt, ids = tok.encode("one. tw"), tok.encode("o. t")
    assert "".join(stream(tok, ids, prompt=prompt, stop=["."])) == "o"


def test_a_decoder_by_steps_knows_the_prompt(shared: Path) -> None:
    """Sentencepiece leaves out the space that begins a text: not that of its continuation."""
    tok = syllabary.load(shared / "vocabs" / "mistral_v1.model")
    prompt, ids = tok.encode("Hello"), tok.encode("world")
    assert tok.decode(ids) == "world"
    assert "".join(stream(tok, ids, prompt=prompt)) == tok.decode(prompt + ids).removeprefix("Hello")
    cut_off = [*ids, tok.token_to_id(b"\xe1")]
    assert tok.decode(cut_off).endswith("\ufffd")
    assert "".join(stream(tok, cut_off, prompt=prompt)) == " world"
