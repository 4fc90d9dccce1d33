"""sentencepiece's named normalization rules, `nmt_nfkc` and its like, made from Unicode's data as it does.

NFKC as a list of rules: each character that NFKC changes, and each sequence that it would compose, in every
spelling whose characters are compatible ones. Rules that shorter rules make needless are left out. `nmt` adds
spaces and control characters, `cf` folds case. Unicode 17, as the rules in sentencepiece 0.2.3 are: the
tables here are what `unicode.rewriting` (which is older, as tokenizers is) does not know.
Source: sentencepiece 0.2.3, `builder.cc` (`BuildNFKCMap`, `RemoveRedundantMap`, `MergeNmtMap`,
`MergeUnicodeCaseFoldMap`). Adds `named_rules`, which takes some seconds. Leaves out: compiling them
(`train_sentencepiece_rules`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from syllabary.unicode import rewriting

RULE_NAMES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")
SPACES = "\t\n\f\r\u061c\u1680\u200b\u200c\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"  # `nmt`: each a space
NOTHING = [*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F]  # `nmt`: nothing is left of these
WIDE_TILDE = "\uff5e"  # `nmt`: stays, as Japanese has another use for it


def named_rules(name: str) -> dict[str, str]:
    """Text -> what it becomes, by the rules of a name; `{}` for `"identity"`."""
    if name == "identity":
        return {}
    rules = without_needless(nfkc_rules())
    if name.startswith("nmt_"):
        rules |= dict.fromkeys(SPACES, " ") | dict.fromkeys(map(chr, NOTHING), "")
        rules.pop(WIDE_TILDE)
        rules = without_needless(rules)
    if name.endswith("_cf"):
        folds = _table(FOLDS)
        rules = {text: "".join(folds.get(char, char) for char in result) for text, result in rules.items()}
        rules = without_needless(folds | rules)
    return rules


def nfkc_rules() -> dict[str, str]:
    """Every character, and every sequence that is not composed yet, that NFKC makes another text of."""
    data = Data()
    rules = dict[str, str]()
    spellings: dict[str, list[str]] = {}  # what single characters become -> it and those characters
    sequences = set[str]()
    for char, text in data.decompositions():
        composed = data.compose(text)
        if composed != char:
            rules[char] = composed
        if len(text) == 1:
            spellings.setdefault(text, [text]).append(char)
        else:
            sequences.add(text)
    for text in sequences:
        composed = data.compose(text)
        if composed != text:
            for spelling in product(*(spellings.get(char, char) for char in text)):
                if (spelled := "".join(spelling)) != composed:
                    rules[spelled] = composed
    return rules


def without_needless(rules: Mapping[str, str]) -> dict[str, str]:
    """The rules of one character, and longer ones that do something else than shorter ones do.

    >>> without_needless({"a": "b", "aa": "bb", "ab": "c"})
    {'a': 'b', 'ab': 'c'}
    """
    kept = {text: result for text, result in rules.items() if len(text) == 1}
    for length in range(2, max(map(len, rules)) + 1):
        kept |= {
            text: result
            for text, result in rules.items()
            if len(text) == length and result != _rewritten(text, kept, length - 1)
        }
    return kept


def _rewritten(text: str, rules: Mapping[str, str], longest: int) -> str:
    """What rules of up to so many characters make of a text, the longest first."""
    parts, at = list[str](), 0
    while at < len(text):
        size = next((n for n in range(longest, 0, -1) if text[at : at + n] in rules), 0)
        parts.append(rules[text[at : at + size]] if size else text[at])
        at += size or 1
    return "".join(parts)


class Data:
    """Decompositions and compositions of Unicode 17."""

    def __init__(self) -> None:
        canonical = _table(CANONICAL)
        whole = {
            char: "".join(canonical.get(part, part) for part in text) for char, text in canonical.items()
        }
        self.newer = whole | _table(COMPATIBLE)
        self.pairs = {text: char for char, text in canonical.items()}
        self.classes = rewriting.combining_classes()

    def decompositions(self) -> Iterator[tuple[str, str]]:
        """Each character that NFKD changes, with what it becomes."""
        for code in range(0x80, 0x30000):
            char = chr(code)
            if 0xD800 <= code < 0xE000:
                continue
            text = self.newer.get(char) or rewriting.decomposed(char, True)
            if text != char:
                yield char, text

    def compose(self, text: str) -> str:
        """A text in NFKD -> in NFKC."""
        found, starter, highest = list[str](), -1, 0
        for char in text:
            kind = self.classes.get(char, 0)
            whole = None
            if starter >= 0 and (starter == len(found) - 1 or highest < kind):
                whole = self.pairs.get(found[starter] + char) or rewriting.composed(found[starter], char)
            if whole is not None:
                found[starter] = whole
                continue
            if kind == 0:
                starter, highest = len(found), 0
            else:
                highest = kind
            found.append(char)
        return "".join(found)


def _table(text: str) -> dict[str, str]:
    """`41=61+62`: A becomes ab. `41-43=61`: A to C become a to c. `100-104/2=101`: each second one."""
    found = {}
    for entry in text.split():
        source, _, target = entry.partition("=")
        span, _, step = source.partition("/")
        first, _, last = span.partition("-")
        codes = range(int(first, 16), int(last or first, 16) + 1, int(step or 1))
        result = [int(code, 16) for code in target.split("+")]
        for code in codes:
            found[chr(code)] = "".join(map(chr, [*result[:-1], result[-1] + code - codes[0]]))
    return found


# Which pairs make canonical characters younger than the tables of `unicode.rewriting`.
CANONICAL = """
105C9=105D2+307 105E4=105DA+307 11383=11382+113C9 11385=11384+113BB 1138E=1138B+113C2 11391=11390+113C9
113C5=113C2+113C2 113C7=113C2+113B8 113C8=113C2+113C9 11938=11935+11930 16121=1611E+1611E 16122=1611E+16129
16123=1611E+1611F 16124=16129+1611F 16125=1611E+16120 16D68=16D67+16D67 16D69=16D63+16D67
16126=16121+1611F 16127=16122+1611F 16128=16121+16120 16D6A=16D69+16D67
"""
# What compatible characters become that are younger.
COMPATIBLE = """
32FF=4EE4+548C A7F1=53 A7F2=43 A7F3=46 A7F4=51 AB69=28D 10781-10782=2D0 10783=E6 10784=299 10785=253
10787=2A3 10788=AB66 10789=2A5 1078A=2A4 1078B-1078C=256 1078D=1D91 1078E=258 1078F=25E 10790=2A9 10791=264
10792=262 10793=260 10794=29B 10795=127 10796=29C 10797=267 10798=284 10799-1079A=2AA 1079B=26C 1079C=1DF04
1079D=A78E 1079E=26E 1079F=1DF05 107A0=28E 107A1=1DF06 107A2=F8 107A3-107A4=276 107A5=71 107A6=27A
107A7=1DF08 107A8-107A9=27D 107AA=280 107AB=2A8 107AC=2A6 107AD=AB67 107AE=2A7 107AF=288 107B0=2C71
107B2=28F 107B3-107B4=2A1 107B5=298 107B6-107B8=1C0 107B9=1DF0A 107BA=1DF1E 1CCD6-1CCEF=41 1CCF0-1CCF9=30
1E030-1E038=430 1E039-1E03B=43A 1E03C-1E046=43E 1E047=44B 1E048-1E049=44D 1E04A=A689 1E04B=4D9 1E04C=456
1E04D=458 1E04E=4E9 1E04F=4AF 1E050=4CF 1E051-1E059=430 1E05A-1E05B=43A 1E05C-1E05D=43E 1E05E=441
1E05F-1E064=443 1E065-1E066=44A 1E067=491 1E068=456 1E069=455 1E06A=45F 1E06B=4AB 1E06C=A651 1E06D=4B1
1F16C=4D+52 1FBF0-1FBF9=30
"""
# Simple case folding, of characters that NFKC does not change.
FOLDS = """
41-5A=61 C0-D6=E0 D8-DE=F8 100-12E/2=101 134-136/2=135 139-13D/2=13A 141-147/2=142 14A-176/2=14B 178=FF
179-17D/2=17A 181=253 182-184/2=183 186=254 187=188 189-18A=256 18B=18C 18E=1DD 18F=259 190=25B 191=192
193=260 194=263 196=269 197=268 198=199 19C=26F 19D=272 19F=275 1A0-1A4/2=1A1 1A6=280 1A7=1A8 1A9=283
1AC=1AD 1AE=288 1AF=1B0 1B1-1B2=28A 1B3-1B5/2=1B4 1B7=292 1B8=1B9 1BC=1BD 1CD-1DB/2=1CE 1DE-1EE/2=1DF
1F4=1F5 1F6=195 1F7=1BF 1F8-21E/2=1F9 220=19E 222-232/2=223 23A=2C65 23B=23C 23D=19A 23E=2C66 241=242
243=180 244=289 245=28C 246-24E/2=247 345=3B9 370-372/2=371 376=377 37F=3F3 386=3AC 388-38A=3AD 38C=3CC
38E-38F=3CD 391-3A1=3B1 3A3-3AB=3C3 3C2=3C3 3CF=3D7 3D8-3EE/2=3D9 3F7=3F8 3FA=3FB 3FD-3FF=37B 400-40F=450
410-42F=430 460-480/2=461 48A-4BE/2=48B 4C0=4CF 4C1-4CD/2=4C2 4D0-52E/2=4D1 531-556=561 10A0-10C5=2D00
10C7=2D27 10CD=2D2D 13F8-13FD=13F0 1C80=432 1C81=434 1C82=43E 1C83-1C84=441 1C85=442 1C86=44A 1C87=463
1C88=A64B 1C89=1C8A 1C90-1CBA=10D0 1CBD-1CBF=10FD 1E00-1E94/2=1E01 1E9E=DF 1EA0-1EFE/2=1EA1 1F08-1F0F=1F00
1F18-1F1D=1F10 1F28-1F2F=1F20 1F38-1F3F=1F30 1F48-1F4D=1F40 1F59-1F5F/2=1F51 1F68-1F6F=1F60 1F88-1F8F=1F80
1F98-1F9F=1F90 1FA8-1FAF=1FA0 1FB8-1FB9=1FB0 1FBA=1F70 1FBC=1FB3 1FC8-1FCA/2=1F72 1FCC=1FC3 1FD8-1FD9=1FD0
1FDA=1F76 1FE8-1FE9=1FE0 1FEA=1F7A 1FEC=1FE5 1FF8=1F78 1FFA=1F7C 1FFC=1FF3 2132=214E 2183=2184
2C00-2C2F=2C30 2C60=2C61 2C62=26B 2C63=1D7D 2C64=27D 2C67-2C6B/2=2C68 2C6D=251 2C6E=271 2C6F=250 2C70=252
2C72=2C73 2C75=2C76 2C7E-2C7F=23F 2C80-2CE2/2=2C81 2CEB-2CED/2=2CEC 2CF2=2CF3 A640-A66C/2=A641
A680-A69A/2=A681 A722-A72E/2=A723 A732-A76E/2=A733 A779-A77B/2=A77A A77D=1D79 A77E-A786/2=A77F A78B=A78C
A78D=265 A790-A792/2=A791 A796-A7A8/2=A797 A7AA=266 A7AB=25C A7AC=261 A7AD=26C A7AE=26A A7B0=29E A7B1=287
A7B2=29D A7B3=AB53 A7B4-A7C2/2=A7B5 A7C4=A794 A7C5=282 A7C6=1D8E A7C7-A7C9/2=A7C8 A7CB=264 A7CC-A7DA/2=A7CD
A7DC=19B A7F5=A7F6 AB70-ABBF=13A0 10400-10427=10428 104B0-104D3=104D8 10570-1057A=10597 1057C-1058A=105A3
1058C-10592=105B3 10594-10595=105BB 10C80-10CB2=10CC0 10D50-10D65=10D70 118A0-118BF=118C0 16E40-16E5F=16E60
16EA0-16EB8=16EBB 1E900-1E921=1E922
"""
