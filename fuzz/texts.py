"""Text to encode: snippets of many scripts and runs of awkward lengths, spliced and cut at random.

Adds `draw`, the same for the same random numbers. Leaves out: lone surrogates, which are no text, and what is
asked of the text (`encode`).
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable

# The opening lines of well-known works, public documents and plain code: what people write.
SNIPPETS = (
    "It was the best of times, it was the worst of times; we'll see what he's DON'T-ing, they'd said.",
    "Call me Ishmael. Some years ago--never mind how long precisely--having little or no money in my purse,",
    "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, atque hocine virumque neque.",
    "Μῆνιν ἄειδε, θεά, Πηληϊάδεω Ἀχιλῆος οὐλομένην, ἣ μυρί’ Ἀχαιοῖς ἄλγε’ ἔθηκε",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.",
    "Tous les êtres humains naissent libres et égaux ; l'été, où qu'il fût, çà et là — n’est-ce pas ?",
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Straße, GRÖẞE, Übermut.",
    "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. İstanbul ıssız IĞDIR",
    "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.",
    "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。ｶﾞｷﾞｸﾞー・ア",
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. ١٢٣٤٥ ، وَقَدْ وُهِبُوا عَقْلًا",
    "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. בְּרֵאשִׁית בָּרָא אֱלֹהִים",
    "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। १२३४",
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ๑๒๓",
    "ყველა ადამიანი იბადება თავისუფალი ᲗᲐᲕᲘᲡᲣᲤᲐᲚᲘ. Ամեն մարդ ծնվում է ազատ։",
    "மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; ሰው ሁሉ ነጻ ሆኖ ተወለደ።",
    "def f(x: int) -> dict[str, int]:\n    return {'a': x ** 2, \"b\": 0xFF_u8}  # HTTPServer\n\n aB",
    "\tfor (int i = 0; i < n; ++i) {\r\n\t\ta[i] += b[i] != 0 ? 1e-5 : -3.14;\r\n\t}\r\n",
    "https://example.org/a/b?q=1&r=%20#top user@host.example 2026-11-22T00:15:00Z 1,000,000.50 €99 №7 ½ ²³ Ⅷ",
    "| a | b |\n|---|:-:|\n| **1** | ~2~ |\n\n\n* item\n  * item…\n\n```sh\n$ ls -la ./*\n```\n",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽👍🏿 🇫🇷🇩🇪 ❤️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 😀😀😀 ☕️",
    "I'M you'RE we'Ve it'll 'twas o'clock rock'n'roll 'S ''s 's's 'ſ ’s ’LL d' '",
    "<|endoftext|> <s></s> [INST] ▁▁a </w> ##x <0x41> Ġthe <|end|><|end|",
)
# By kind, what a run repeats; some runs take one of a kind, some many.
KINDS = (
    "a",
    "abcdefghijklmnopqrstuvwxyz",
    "ABCXYZÉΣЖ",
    "aBcDeF",
    "0123456789",
    "٣९²½Ⅷ①𝟘",
    " ",
    " \t",
    "\n",
    "\r\n",
    " \n",
    "\x0b\x0c\x85\xa0\u1680\u2000\u2009\u2028\u2029\u202f\u3000",
    "'",
    "'’\"`",
    ".",
    "-=/_*#!?()[]{}<>|\\&%$@^~+",
    "\u0301",
    "\u0301\u0308\u0323\u0345\u0903\u093f\u20dd\ufe0f\U0001e944",
    "é",
    "éüñçå",
    "漢",
    "漢字人民的一是不了",
    "かなカナー・ﾊﾞ",
    "한글\u1112\u1161",
    "👍😀👩\u200d\U0001f3fd\ufe0f",
    "αβγΑΒΓςἄᾳ",
    "ждиЖД",
    "ابتثءֱאב",
    "กขคเแ",
    "ªʰⁿǅǈſKÅßﬁ",
    "\u200b\u200c\u200e\u2060\ufeff\xad\u180e\x1c\x1d\x1e\x1f",
    "\0\x01\x7f\x80\u0378\ue000\uffff\ufffd\U000e0001\U0010ffff",
    "𐐀𐐨𞤀𠀀𝔘",
    "▁",
)
FRAGMENTS = (
    *("'s", "'S", "'ſ", "'re", "'RE", "'vE", "'ll", "'d", "n't", "que", "ne", "\r\n", "  ", " \n ", "\n\n"),
    *(
        "123",
        "1234567",
        "://",
        "...",
        " the",
        "the",
        "e\u0301",
        "\u0301",
        "/\n",
        "!\r\n/",
        " \u0301a",
        "<|end|>",
    ),
)
LENGTHS = (1, 2, 3, 4, 7, 8, 14, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 66, 127, 128, 129, 255, 256, 257)
LONG = 1000
MOST = 1500  # characters

Change = Callable[[str, random.Random], str]


def draw(chance: random.Random) -> str:
    """One text of at most `MOST` characters, most of them much shorter."""
    text = part(chance)
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5, 8))):
        text = chance.choice(CHANGES)(text, chance)
    return text[:MOST]


def part(chance: random.Random) -> str:
    """A piece of a snippet, a run, or a fragment."""
    kind = chance.random()
    if kind < 0.45:
        start, end = sorted(_places(chance.choice(SNIPPETS), chance))
        return chance.choice(SNIPPETS)[start:end]
    return run(chance) if kind < 0.85 else chance.choice(FRAGMENTS)


def run(chance: random.Random) -> str:
    """Characters of one kind, about as many as some table or register holds; by characters or by bytes."""
    kind = chance.choice(KINDS)
    letters = kind if chance.random() < 0.5 else chance.choice(kind)
    length = LONG + chance.randrange(-2, 3) if chance.random() < 0.01 else chance.choice(LENGTHS)
    if chance.random() < 0.3:
        length = max(1, length // len(letters[0].encode()))
    if chance.random() < 0.3:
        return (letters * length)[:length]
    return "".join(chance.choices(letters, k=length))


def _places(text: str, chance: random.Random) -> tuple[int, int]:
    return chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)


def _append(text: str, chance: random.Random) -> str:
    return text + chance.choice(("", "", " ", "\n")) + part(chance)


def _insert(text: str, chance: random.Random) -> str:
    at, _ = _places(text, chance)
    return text[:at] + part(chance) + text[at:]


def _cut(text: str, chance: random.Random) -> str:
    start, end = sorted(_places(text, chance))
    return chance.choice((text[:start], text[start:], text[:start] + text[end:], text[start:end]))


def _splice(text: str, chance: random.Random) -> str:
    (end, start), other = _places(text, chance), part(chance)
    return text[:end] + other[chance.randrange(len(other) + 1) :] + text[start:]


def _copy(text: str, chance: random.Random) -> str:
    start, at = _places(text, chance)
    return text[:at] + text[start : start + chance.choice((1, 2, 5, 16, 64))] * 2 + text[at:]


def _change(text: str, chance: random.Random) -> str:
    """Some characters become others."""
    letters = list(text)
    for _ in range(chance.choice((1, 1, 2, 5)) if letters else 0):
        letters[chance.randrange(len(letters))] = chance.choice(
            (chance.choice(chance.choice(KINDS)), anything(chance))
        )
    return "".join(letters)


def anything(chance: random.Random) -> str:
    """Any character: of the first 0x3000 as often as of all."""
    code = chance.randrange(chance.choice((0x3000, 0x110000)))
    return chr(code) if not 0xD800 <= code < 0xE000 else " "


def _form(text: str, chance: random.Random) -> str:
    """A part in another case or normal form."""
    start, end = sorted(_places(text, chance))
    changes: tuple[Callable[[str], str], ...] = (
        str.upper,
        str.lower,
        str.title,
        lambda part: unicodedata.normalize("NFD", part),
        lambda part: part.replace("\n", "\r\n"),
        lambda part: part.replace(" ", ""),
    )
    return text[:start] + chance.choice(changes)(text[start:end]) + text[end:]


CHANGES: tuple[Change, ...] = (_append, _append, _insert, _insert, _cut, _splice, _copy, _change, _form)
