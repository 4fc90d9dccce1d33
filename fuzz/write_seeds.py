"""Write small files of every format to fuzz/seeds/FORMAT/: what the damage begins with.

Trains with syllabary, tokenizers and sentencepiece on a few lines; between them the files hold every part of
a format. Run again only when a format gains a part: `python fuzz/write_seeds.py`.
"""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import sentencepiece
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

import syllabary
from syllabary import formats
from syllabary.formats import gguf

HERE = Path(__file__).parent / "seeds"
LINES = ["low lower lowest newer newest widest", "μῆνιν ἄειδε θεὰ", "漢字かな 12 33", "a b c d e f g"] * 3
SPECIAL = ["<s>", "</s>", "<unk>"]


def put(form: str, name: str, data: bytes) -> None:
    """Write one seed."""
    path = HERE / form / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def ours() -> None:
    """Formats that syllabary writes, from tokenizers of its own."""
    few = {"vocab_size": 280, "min_frequency": 1}
    specs = {
        "bytes": syllabary.train(LINES, split="gpt2", special_tokens=SPECIAL, **few),
        "chars": syllabary.train(LINES, unit="char", end_of_word="</w>", split=r"\S+", **few),
        "words": syllabary.train(LINES, unit="word", fallback=True, vocab_size=320, min_frequency=1),
    }
    for name, tok in specs.items():
        for form in formats.FORMATS:
            if not form.writes:
                continue
            spec, _losses = form.reduce(tok.spec)
            suffix = form.suffixes[0] if form.suffixes else ""
            try:
                files = form.files(spec, Path(f"{name}{suffix}"))
            except syllabary.SyllabaryError:  # it holds no such tokenizer
                continue
            for path, data in files.items():
                if len(files) == 1:
                    put(form.name, path.name, data)


def hugging_face() -> None:
    """`tokenizer.json` with many components."""
    bpe = models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    tok = tokenizers.Tokenizer(bpe)
    tok.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Lowercase(),
            normalizers.Replace(tokenizers.Regex("x+"), "y"),
            normalizers.Prepend("▁"),
            normalizers.Strip(),
            normalizers.BertNormalizer(),
            normalizers.Nmt(),
        ]
    )
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(),
            pre_tokenizers.Digits(True),
            pre_tokenizers.Punctuation(),
            pre_tokenizers.Split(tokenizers.Regex(r"\d+"), "isolated"),
            pre_tokenizers.UnicodeScripts(),
        ]
    )
    tok.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    trainer = trainers.BpeTrainer(vocab_size=90, special_tokens=SPECIAL, show_progress=False)
    tok.train_from_iterator(LINES, trainer)
    tok.add_tokens([tokenizers.AddedToken("new token", lstrip=True, rstrip=True, single_word=True)])
    put("huggingface", "steps.json", tok.to_str().encode())
    plain = tokenizers.Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    plain.post_processor = processors.ByteLevel(trim_offsets=True)
    plain.train_from_iterator(LINES, trainers.BpeTrainer(vocab_size=60, show_progress=False))
    put("huggingface", "bytes.json", plain.to_str().encode())


def words() -> None:
    """Models that take words."""
    few = {"vocab_size": 60, "options": {"min_frequency": 1}}
    for model in ("wordpiece", "wordlevel"):
        spec = syllabary.train(LINES, model=model, special_tokens=["[CLS]", "[SEP]"], **few).spec
        put("huggingface", f"{model}.json", formats.format_of("tokenizer.json").files(spec, HERE)[HERE])
        put(
            "syllabary",
            f"{model}.syllabary.json",
            formats.format_of("x.syllabary.json").files(spec, HERE)[HERE],
        )
        if model == "wordpiece":
            put(
                "bert",
                "vocab.txt",
                formats.format_of("vocab.txt").files(spec, Path("vocab.txt"))[Path("vocab.txt")],
            )


def sentence_piece() -> None:
    """`.model` with byte pieces, user-defined and control symbols."""
    rules = HERE / "rules.tsv"  # a small map of characters: the usual one is 240 kB
    rules.write_text("FB01\t66 69\n41\t61\n212B\tC5\n", encoding="utf-8", newline="\n")
    for name, more in {
        "plain": {"vocab_size": 60, "normalization_rule_tsv": str(rules), "self_test_sample_size": 2},
        "bytes": {
            "vocab_size": 330,
            "byte_fallback": True,
            "user_defined_symbols": ["<sep>", "ab"],
            "control_symbols": ["<ctl>"],
            "normalization_rule_name": "identity",
        },
    }.items():
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(LINES * 4),
            model_writer=out,
            model_type="bpe",
            hard_vocab_limit=False,
            minloglevel=2,
            num_threads=1,
            **more,
        )
        put("sentencepiece", f"{name}.model", out.getvalue())
    rules.unlink()


def unigram() -> None:
    """Unigram in each of the formats that have it, with bytes and a user-defined symbol."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 4),
        model_writer=out,
        model_type="unigram",
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        vocab_size=310,
        byte_fallback=True,
        user_defined_symbols=["<sep>"],
        normalization_rule_name="identity",
    )
    put("sentencepiece", "unigram.model", out.getvalue())
    tok = syllabary.load(HERE / "sentencepiece" / "unigram.model")
    for form in formats.FORMATS:
        if form.name in ("huggingface", "syllabary"):
            path = Path("unigram.json" if form.name == "huggingface" else "unigram.syllabary.json")
            spec, _losses = form.reduce(tok.spec)
            put(form.name, path.name, form.files(spec, path)[path])


def of_words() -> None:
    """sentencepiece's models of words and characters; GGUF's of WordPiece and Unigram."""
    for kind in ("word", "char"):
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(LINES * 4),
            model_writer=out,
            model_type=kind,
            hard_vocab_limit=False,
            minloglevel=2,
            vocab_size=310,
            byte_fallback=kind == "word",
            user_defined_symbols=["<sep>"],
            normalization_rule_name="identity",
        )
        put("sentencepiece", f"{kind}.model", out.getvalue())
    form = next(form for form in formats.FORMATS if form.name == "gguf")
    options = {"special_tokens": ["[UNK]", "[CLS]"], "vocab_size": 80}
    bert = syllabary.train(LINES, model="wordpiece", like="huggingface", options=options)
    unigram = syllabary.load(HERE / "sentencepiece" / "unigram.model")
    for name, tok in (("bert.gguf", bert), ("t5.gguf", unigram)):
        put("gguf", name, form.files(form.reduce(tok.spec)[0], Path(name))[Path(name)])


def is_text(token: bytes) -> bool:
    """Whether the bytes are whole characters."""
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def tekken() -> None:
    """A small tekken.json: syllabary reads it and does not write it."""
    import base64

    tok = syllabary.train(LINES, split="gpt2", vocab_size=270, min_frequency=1)
    vocab = []
    for rank, token in tok.spec.tokens.items():
        text = token.decode() if is_text(token) else None
        vocab.append({"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": text})
    config = {
        "pattern": r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "num_vocab_tokens": len(vocab),
        "default_vocab_size": len(vocab) + 24,
        "default_num_special_tokens": 24,
        "version": "v3",
    }
    put("tekken", "tekken.json", json.dumps({"config": config, "vocab": vocab}, indent=1).encode())


def scores_in_gguf() -> None:
    """A GGUF file of the model `llama`."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 4),
        model_writer=out,
        model_type="bpe",
        vocab_size=330,
        hard_vocab_limit=False,
        byte_fallback=True,
        user_defined_symbols=["<sep>"],
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        minloglevel=2,
        num_threads=1,
    )
    path = HERE / "scores.model"
    path.write_bytes(out.getvalue())
    spec, _losses = gguf.reduce(formats.read(path))
    path.unlink()
    put("gguf", "scores.gguf", gguf.write(spec))


def you_token_to_me() -> None:
    """A model as YouTokenToMe writes it, of merges that syllabary learned."""
    spec = syllabary.train(["▁low ▁lower ▁lowest ▁漢字"] * 3, unit="char", split=r"\S+", num_merges=9).spec
    shift = 4  # the special tokens
    lines = [f"{len(spec.alphabet)} {len(spec.merges or ())}"]
    lines += [f"{ord(char.decode())} {token_id + shift}" for char, token_id in spec.alphabet.items()]
    lines += [" ".join(str(token_id + shift) for token_id in merge) for merge in spec.merges or ()]
    put("youtokentome", "chars.yttm", "\n".join([*lines, "1 0 2 3", ""]).encode())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for write in (
        ours,
        hugging_face,
        words,
        sentence_piece,
        unigram,
        tekken,
        of_words,
        scores_in_gguf,
        you_token_to_me,
    ):
        write()
    for path in sorted(HERE.glob("*/*")):
        print(f"{path.relative_to(HERE)}: {path.stat().st_size} bytes")
