"""The language of TEI's elements, as ISO 639-3: by their attributes, the header, the name of the file.

Adds the rule, and the table of what files call languages: `xml:lang` (P5) or `lang` (P4, often a name, as
`"greek"`) of the element or the nearest one around it, up to `text`; else what the header's `langUsage`
names, if that is one language; else Perseus' convention for names of files (`hom.il_gk.xml`,
`phi0448.phi001.perseus-lat2.xml`); else `xml:lang` of the root, which speaks for the header as well.
Leaves out: guessing a language from its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from syllabary.corpus.xml_parse import XML, name_of

GREEK = frozenset({"grc", "ell"})

# ISO 639-1 and the other 639-2 codes -> ISO 639-3 (https://iso639-3.sil.org/code_tables/639/data).
# "gre", which 639-2 gives to Modern Greek, is so read here.
SHORT = dict(
    pair.split("=")
    for pair in (
        "aa=aar ab=abk ae=ave af=afr ak=aka am=amh an=arg ar=ara as=asm av=ava ay=aym az=aze ba=bak be=bel "
        "bg=bul bi=bis bm=bam bn=ben bo=bod br=bre bs=bos ca=cat ce=che ch=cha co=cos cr=cre cs=ces cu=chu "
        "cv=chv cy=cym da=dan de=deu dv=div dz=dzo ee=ewe el=ell en=eng eo=epo es=spa et=est eu=eus fa=fas "
        "ff=ful fi=fin fj=fij fo=fao fr=fra fy=fry ga=gle gd=gla gl=glg gn=grn gu=guj gv=glv ha=hau he=heb "
        "hi=hin ho=hmo hr=hrv ht=hat hu=hun hy=hye hz=her ia=ina id=ind ie=ile ig=ibo ii=iii ik=ipk io=ido "
        "is=isl it=ita iu=iku ja=jpn jv=jav ka=kat kg=kon ki=kik kj=kua kk=kaz kl=kal km=khm kn=kan ko=kor "
        "kr=kau ks=kas ku=kur kv=kom kw=cor ky=kir la=lat lb=ltz lg=lug li=lim ln=lin lo=lao lt=lit lu=lub "
        "lv=lav mg=mlg mh=mah mi=mri mk=mkd ml=mal mn=mon mr=mar ms=msa mt=mlt my=mya na=nau nb=nob nd=nde "
        "ne=nep ng=ndo nl=nld nn=nno no=nor nr=nbl nv=nav ny=nya oc=oci oj=oji om=orm or=ori os=oss pa=pan "
        "pi=pli pl=pol ps=pus pt=por qu=que rm=roh rn=run ro=ron ru=rus rw=kin sa=san sc=srd sd=snd se=sme "
        "sg=sag sh=hbs si=sin sk=slk sl=slv sm=smo sn=sna so=som sq=sqi sr=srp ss=ssw st=sot su=sun sv=swe "
        "sw=swa ta=tam te=tel tg=tgk th=tha ti=tir tk=tuk tl=tgl tn=tsn to=ton tr=tur ts=tso tt=tat tw=twi "
        "ty=tah ug=uig uk=ukr ur=urd uz=uzb ve=ven vi=vie vo=vol wa=wln wo=wol xh=xho yi=yid yo=yor za=zha "
        "zh=zho zu=zul alb=sqi arm=hye baq=eus bur=mya chi=zho cze=ces dut=nld fre=fra geo=kat ger=deu "
        "gre=ell ice=isl mac=mkd mao=mri may=msa per=fas rum=ron slo=slk tib=bod wel=cym "
        "gk=grc grk=grc ancientgreek=grc greek=grc moderngreek=ell latin=lat english=eng oldenglish=ang "
        "middleenglish=enm german=deu french=fra oldfrench=fro italian=ita spanish=spa portuguese=por "
        "dutch=nld hebrew=heb arabic=ara aramaic=arc syriac=syr coptic=cop sanskrit=san "
        "persian=fas armenian=hye gothic=got oldnorse=non russian=rus chinese=zho japanese=jpn"
    ).split()
)

FILE_NAME = re.compile(r"(?:_(gk|grc|lat|eng|ger|fre|ita)|-([a-z]{3})\d+)\.(?:xml|tei)$")


def code(tag: str, names: Mapping[str, str] | None = None) -> str | None:
    """What a file calls a language -> ISO 639-3; None for what is no code and no name in the table.

    names: what the header says of its languages' ids, for a `tag` that is only such an id.

    >>> [code(tag) for tag in ("greek", "grc-Latn", "la", "Ancient Greek", "Klingonish")]
    ['grc', 'grc', 'lat', 'grc', None]
    """
    plain = tag.strip().lower()
    primary = re.split(r"[-_]", plain)[0]
    known = SHORT.get(re.sub(r"[^a-z]", "", plain)) or SHORT.get(primary)
    if known is None and names is not None and tag in names:
        return code(names[tag])
    if known is None and re.fullmatch(r"[a-z]{3}", primary):
        return primary
    return known


def of_file_name(name: str) -> str | None:
    """The language that a file's name tells by the conventions of Perseus.

    >>> [of_file_name(name) for name in ("hom.il_gk.xml", "phi0448.phi001.perseus-lat2.xml", "a.xml")]
    ['grc', 'lat', None]
    """
    match = FILE_NAME.search(name.lower())
    return None if match is None else code(match[1] or match[2])


class Languages:
    """The languages of one TEI element (`TEI`, `TEI.2` or what stands for it) and of what it holds."""

    def __init__(self, root: Any, file_name: str) -> None:
        usage = [
            (element.get("ident") or element.get("id") or "", "".join(element.itertext()).strip())
            for element in root.iterfind("{*}teiHeader//{*}langUsage/{*}language")
        ]
        self.names = dict(usage)
        named = {code(tag, self.names) for tag, _ in usage}
        single = named.pop() if len(named) == 1 else None
        self.default = single or of_file_name(file_name) or self.declared(root)

    def tag(self, element: Any) -> str | None:
        """What the element itself says, as it is written."""
        tag: str | None = element.get(f"{XML}lang") or element.get("lang")
        return tag

    def declared(self, element: Any) -> str | None:
        """What the element itself says."""
        tag = self.tag(element)
        return None if tag is None else code(tag, self.names)

    def of(self, element: Any) -> str | None:
        """The element's own, else the nearest one's around it up to `text`, else the default."""
        tag = self.nearest(element)
        return self.default if tag is None else code(tag, self.names)

    def nearest(self, element: Any) -> str | None:
        """The tag that holds for an element; None where the default does."""
        while element is not None and name_of(element) not in {"TEI", "TEI.2", "teiCorpus", "teiCorpus.2"}:
            tag = self.tag(element)
            if tag is not None:
                return tag
            element = element.getparent()
        return None

    def is_greek(self, tag: str | None) -> bool:
        """Whether a tag (None: the default) means Greek in an alphabet that beta code may stand for."""
        language = self.default if tag is None else code(tag, self.names)
        return language in GREEK and (tag is None or "latn" not in tag.lower())
