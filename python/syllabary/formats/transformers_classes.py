"""What a class of `transformers` says where a folder that names it does not: roles, padding, languages.

Adds the table, and which class a file of options names. Source: transformers 5.23, the signatures of the
classes, their `model_input_names`, which make of the mask token, given as text, one that takes the white
space before it, and which put the language of the text around it. Leaves out: what else a class does to text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

ENDED = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "</s>", "pad": "<pad>", "cls": "<s>"}
WHOLE = ("input_ids", "token_type_ids", "attention_mask")
IN_FRONT, BEHIND = "language A eos", "A eos language"


@dataclass(frozen=True, slots=True)
class Class:
    """roles: without `_token` -> text. inputs: `model_input_names`. strips: whether the mask token, where it
    is no more than a text, takes the white space before it. side: of padding. extra: other special tokens, a
    pattern. language: that of text where `src_lang` says none, of a class that marks it. around: where the
    mark stands, A being one text or two; legacy: with `legacy_behaviour`, of a class that reads that; target:
    around a target, if that is otherwise, and into: the usual language of one then. code: how a language is
    spelled that is told by its name alone."""

    roles: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ("input_ids", "attention_mask")
    strips: bool = False
    side: str = "right"
    extra: str = ""
    language: str | None = None
    around: str = IN_FRONT
    legacy: str = ""
    target: str = ""
    into: str | None = None
    code: str = "{}"

    def spelled(self, language: str) -> str:
        """The text of a language's token."""
        return language if "__" in language else self.code.format(language)

    def named(self) -> dict[str, str]:
        """The roles by their whole names."""
        return {f"{name}_token": text for name, text in self.roles.items()}


BERT = Class({"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}, WHOLE)
ROBERTA = Class({**ENDED, "mask": "<mask>"})
GPT2 = Class(dict.fromkeys(("bos", "eos", "unk"), "<|endoftext|>"))
ALBERT = Class(
    {"bos": "[CLS]", "eos": "[SEP]", "unk": "<unk>", "sep": "[SEP]", "pad": "<pad>", "cls": "[CLS]"}
    | {"mask": "[MASK]"}
)
BIGBIRD = Class({**ENDED, "sep": "[SEP]", "cls": "[CLS]", "mask": "[MASK]"}, strips=True)
CAMEMBERT = Class(ROBERTA.roles, strips=True)
DEBERTA = Class(
    {**BERT.roles, "bos": "[CLS]", "eos": "[SEP]"}, ("input_ids", "attention_mask", "token_type_ids")
)
CODES = r"[a-z]{2,3}_[A-Z][A-Za-z]{1,3}"  # of languages: `en_XX`, `eng_Latn`
MBART = Class(ROBERTA.roles, strips=True, extra=CODES, language="en_XX", around=BEHIND)
MBART50 = replace(
    MBART,
    roles={name: text for name, text in ROBERTA.roles.items() if name != "bos"},
    around=IN_FRONT,
)
NLLB = Class(ROBERTA.roles, strips=True, extra=CODES, language="eng_Latn", legacy=BEHIND)
SEAMLESS = Class(
    ENDED,
    extra=r"__[a-z]{2,3}(_[A-Z][a-z]{3})?__",
    language="__eng__",
    target="eos language A eos",
    into="__fra__",
    code="__{}__",
)
XLNET = Class({**ROBERTA.roles, "sep": "<sep>", "cls": "<cls>"}, strips=True, side="left", extra="<eo[pd]>")
T5 = Class({name: ENDED[name] for name in ("eos", "unk", "pad")})
PEGASUS = Class({**T5.roles, "mask": "<mask_2>"}, extra=r"<mask_1>|<unk_\d+>")
GEMMA = Class({"bos": "<bos>", "eos": "<eos>", "unk": "<unk>", "pad": "<pad>", "mask": "<mask>"}, side="left")

# Each is also known with `Fast` at the end.
CLASSES: Mapping[str, Class] = {
    "AlbertTokenizer": ALBERT,
    "BartTokenizer": ROBERTA,
    "BarthezTokenizer": CAMEMBERT,
    "BertTokenizer": BERT,
    "BigBirdTokenizer": BIGBIRD,
    "BlenderbotTokenizer": CAMEMBERT,
    "CamembertTokenizer": CAMEMBERT,
    "DebertaTokenizer": DEBERTA,
    "DebertaV2Tokenizer": DEBERTA,
    "DistilBertTokenizer": Class(BERT.roles),
    "ElectraTokenizer": BERT,
    "GemmaTokenizer": GEMMA,
    "GPT2Tokenizer": GPT2,
    "LayoutLMTokenizer": BERT,
    "LongformerTokenizer": ROBERTA,
    "MBart50Tokenizer": MBART50,
    "MBartTokenizer": MBART,
    "MobileBertTokenizer": BERT,
    "MPNetTokenizer": Class({**ROBERTA.roles, "unk": "[UNK]"}, strips=True),
    "NllbTokenizer": NLLB,
    "PegasusTokenizer": PEGASUS,
    "RobertaTokenizer": ROBERTA,
    "SeamlessM4TTokenizer": SEAMLESS,
    "T5Tokenizer": T5,
    "XLMRobertaTokenizer": ROBERTA,
    "XLNetTokenizer": XLNET,
}


def class_named(name: object) -> Class | None:
    """The class of a `tokenizer_class`, if it is in the table.

    >>> class_named("T5TokenizerFast").named()
    {'eos_token': '</s>', 'unk_token': '<unk>', 'pad_token': '<pad>'}
    >>> class_named("PreTrainedTokenizerFast") is None
    True
    """
    return CLASSES.get(name.removesuffix("Fast")) if isinstance(name, str) else None
