"""Text to try a tokenizer on: many scripts, spaces and marks, and its own tokens in a random order.

Adds `trial_texts`, the same for equal tokenizers on any day. Leaves out: real text, which only the user has.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from syllabary.tokenizer import Tokenizer

# A line a kind of text; between them they hold most things that tokenizers treat apart.
LINES = (
    "The quick brown fox jumps over the lazy dog.",
    "Arma virumque cano, Troiae qui primus ab oris",
    "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος",
    "天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。",
    "いろはにほへと ちりぬるを カタカナもあります。",
    "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
    "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם",
    "بِسْمِ ٱللَّهِ ٱلرَّحْمَٰنِ ٱلرَّحِيمِ",
    "สวัสดีชาวโลก नमस्ते दुनिया 안녕하세요",
    "I'll say it's DON'T, we've 'quoted' — O'Neill’s",
    "def f(x):\n\treturn {'a': x**2, \"b\": [1, 22, 333, 4444]}  # done\n\n\n",
    "3.14159 1,000,000 ½ Ⅷ ٣ x² 2026-11-21T10:00:00Z",
    "  two  spaces   three\u00a0no-break\u3000wide\u2003em \t tab\r\nnext ",
    "e\u0301 é ﬁ Å ﷺ ① ｆｕｌｌ ß ǆ İ ı",
    "👩‍👩‍👧‍👦 🇫🇷 👍🏽 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "a\u0000b \u200b\u200d\ufeff\u2581▁ \ufffd",
    'https://example.org/a_b-c?d=e&f=%20 <tag attr="x">&amp;</tag> ##x @@ </w>',
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" * 8,
    "",
)
RANDOM_TEXTS = 200
TOKENS_A_TEXT = 12


def trial_texts(tok: Tokenizer) -> Iterator[str]:
    """The lines above, then texts of random tokens of the vocabulary, then its special tokens in text."""
    yield from LINES
    special = set(tok.special_tokens.values())
    ids = [token_id for token_id in tok.vocab if token_id not in special]
    chance = random.Random(0)
    if ids:
        for _ in range(RANDOM_TEXTS):
            yield tok.decode(chance.choices(ids, k=TOKENS_A_TEXT), errors="ignore")
    for text in list(tok.special_tokens)[:RANDOM_TEXTS]:
        yield f"a {text} b{text}"
