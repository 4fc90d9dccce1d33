"""Perseus' files, as they are: documents, divisions, languages, Greek from beta code."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tei_files import texts

from syllabary import splits
from syllabary.corpus import read
from syllabary.errors import CorpusError
from syllabary.reference.split import pieces

mixed = pytest.mark.filterwarnings("ignore:the corpus mixes normal forms")  # as Perseus' own editions do


@pytest.fixture(scope="module")
def perseus(shared: Path) -> Path:
    return shared / "corpora" / "perseus"


def test_the_letters_to_atticus(perseus: Path) -> None:
    letters = list(read(perseus / "cic.att_lat.xml.xz", beta_code=False))
    assert len(letters) == 446
    assert letters[0].text.startswith(
        "Scr. Romae m. Quint. a. 689 (65). CICERO ATTICO SAL. petitionis nostrae"
    )
    assert (letters[0].meta["n"], letters[0].meta["type"], letters[-1].meta["n"]) == (
        "1.1",
        "letter",
        "16.16F",
    )
    assert sum(len(letter.text) for letter in letters) == 827_325
    text = "".join(letter.text for letter in letters)
    assert "acciderim†" in text
    assert "&c;" in text  # an entity that has no standard name stays as it is written
    assert "de Aufidio" in text  # tags with white space between them do not glue words together
    for absent in ("\n", "\t", "  ", "Machine readable", "LIBER PRIMVS"):
        assert absent not in text
    cut = [piece for letter in letters for piece in pieces(letter.text, splits.get("latin"))]
    assert (len(cut), len(set(cut))) == pytest.approx((161_000, 20_500), rel=0.05)


@mixed
@pytest.mark.parametrize(
    "name, documents, first",
    [
        ("cic.att_lat", 446, "Scr. Romae m. Quint. a. 689 (65). CICERO ATTICO SAL. petitionis nostrae"),
        ("hom.il_gk", 24, "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος οὐλομένην, ἣ μυρί’ Ἀχαιοῖς ἄλγε’ ἔθηκε,"),
        ("phi0448.phi001.perseus-lat2", 404, "Gallia est omnis divisa in partes tres, quarum unam incolunt"),
        ("phi0474.phi057.perseus-lat1", 446, "Scr. Romae m. Quint. a. 689 (65). CICERO ATTICO salutem"),
        ("phi0690.phi003.perseus-lat2", 12, "Arma virumque cano, Troiae qui primus ab oris Italiam, fato"),
        ("phi0959.phi006.perseus-lat2", 15, "In nova fert animus mutatas dicere formas corpora; di,"),
        ("plat.tet1_gk", 4, "Εὐθύφρων Εὐθύφρων Σωκράτης Εὐθύφρων τί νεώτερον, ὦ Σώκρατες, γέγονεν,"),
    ],
)
def test_perseus(perseus: Path, name: str, documents: int, first: str) -> None:
    found = list(read(perseus / f"{name}.xml.xz"))
    assert len(found) == documents
    assert found[0].text.startswith(first)
    assert all(document.text == " ".join(document.text.split()) for document in found)


@mixed
def test_languages_select(perseus: Path) -> None:
    greek = Counter(Path(str(d.meta["path"])).name for d in read(perseus, select={"lang": "grc"}))
    assert greek == {"hom.il_gk.xml.xz": 24, "plat.tet1_gk.xml.xz": 4}
    latin = Counter(Path(str(d.meta["path"])).name for d in read(perseus, select={"lang": "lat"}))
    assert latin == {
        "cic.att_lat.xml.xz": 446,
        "phi0448.phi001.perseus-lat2.xml.xz": 404,
        "phi0474.phi057.perseus-lat1.xml.xz": 446,
        "phi0690.phi003.perseus-lat2.xml.xz": 12,
        "phi0959.phi006.perseus-lat2.xml.xz": 15,
    }


def test_greek_of_the_iliad(perseus: Path) -> None:
    books = list(read(perseus / "hom.il_gk.xml.xz"))
    assert [book.meta["n"] for book in books] == [str(n) for n in range(1, 25)]
    assert {(b.meta["author"], b.meta["lang"], b.meta["type"]) for b in books} == {("Homer", "grc", "Book")}
    text = " ".join(book.text for book in books)
    assert text.endswith("ὣς οἵ γ’ ἀμφίεπον τάφον Ἕκτορος ἱπποδάμοιο.")
    assert unicodedata.is_normalized("NFC", text)
    signs = {c for c in text if not ("\u0370" <= c <= "\u03ff" or "\u1f00" <= c <= "\u1fff")}
    assert signs == set(" ,.;·’")
    assert not re.search(r"ς\w|\wσ(?![\w’])", text)  # sigma is final at the end of words, and nowhere else
    for word in ("Ἀτρεΐδης", "Ἄϊδι", "Ἥρη", "ᾤμωξεν", "Ῥήνη", "ὀΐω", "ἐϋκνήμιδες", "νήεσσ’"):
        assert word in text, word


def test_greek_of_plato(perseus: Path) -> None:
    works = list(read(perseus / "plat.tet1_gk.xml.xz"))
    assert [work.meta["n"] for work in works] == ["Euthyph.", "Apol.", "Crito", "Phaedo"]
    text = " ".join(work.text for work in works)
    letters = re.findall("[A-Za-z]+", text)
    # The editors' references (`bibl`) are in Latin letters in the file as well.
    assert letters == "Stasinus Cypria Fr Hom Il Hom Od Hom Il".split()
    assert "‘μεθ’ Ἕκτορα πότμος ἑτοῖμος’ —ὁ δὲ" in text  # a closing quotation mark is no apostrophe
    assert "ἐπιτυχόντος [ὀρθῶς] αὐτὸ" in text  # &lsqb;
    assert "ὦ ἄνδρες Ἀθηναῖοι, <οἱ> ταύτην" in text
    assert "Stasinus Cypria Fr. 20 ἐγὼ οὖν" in text


@mixed
def test_greek_within_latin(perseus: Path) -> None:
    """Both editions of the letters have the same Greek: in beta code in P4, in Unicode in P5.

    Most words are equal. The rest is Perseus' own conversion, which forgot final sigmas (`τῆσ`), apostrophes
    and blanks.
    """

    def greek(name: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for letter in read(perseus / name, normalize="NFC"):
            found.update(re.findall("[\u0370-\u03ff\u1f00-\u1fff]+", letter.text))
        return found

    converted, theirs = greek("cic.att_lat.xml.xz"), greek("phi0474.phi057.perseus-lat1.xml.xz")
    assert sum((converted & theirs).values()) > 1100
    assert "τῆς" in converted
    assert "τῆσ" in theirs
    mended: Counter[str] = Counter()
    for word, count in theirs.items():
        mended[re.sub("σ$", "ς", word)] += count
    assert sum((converted & mended).values()) > 1300
    assert sum(mended.values()) < 1550
    letters = texts(perseus / "cic.att_lat.xml.xz")
    assert len(letters) == 446
    assert "quod quaeris" in "".join(letters)
    # Two quotations are not marked as Greek in the file; no other beta code is left.
    unmarked = [letter for letter in letters if re.search(r"[a-z][)(][/=\\]", letter)]
    assert len(unmarked) == 2
    assert "oi)=sq' o(/ti memigme/nai a)na/gkais." in unmarked[0]
    assert "a)ll' ou) daito\\s e)phra/tou e)/rga me/mhlen" in unmarked[1]


@pytest.mark.parametrize(
    "name, division, documents, first_n",
    [
        ("cic.att_lat", "chapter", 446, "1.1"),
        ("cic.att_lat", "letter", 446, "1.1"),
        ("cic.att_lat", "work", 1, None),
        ("hom.il_gk", "chapter", 24, "1"),
        ("hom.il_gk", "work", 1, None),
        ("phi0448.phi001.perseus-lat2", "chapter", 404, "1.1"),
        ("phi0448.phi001.perseus-lat2", "work", 1, None),
        ("phi0690.phi003.perseus-lat2", "chapter", 12, "1"),
        ("plat.tet1_gk", "chapter", 4, "Euthyph."),
        ("plat.tet1_gk", "work", 4, "Euthyph."),
    ],
)
def test_divisions_of_perseus(
    perseus: Path, name: str, division: Any, documents: int, first_n: str | None
) -> None:
    found = list(read(perseus / f"{name}.xml.xz", division=division))
    assert (len(found), found[0].meta.get("n")) == (documents, first_n)
    assert {document.meta["lang"] for document in found} == {"grc" if name.endswith("gk") else "lat"}


def test_a_file_without_letters(perseus: Path) -> None:
    path = perseus / "hom.il_gk.xml.xz"
    with pytest.raises(CorpusError, match=r"no division is a letter, but book \(24\); choose another"):
        texts(path, division="letter")
