"""A model as a Hugging Face GPT-2 folder, which `transformers` opens and which gives the same logits.

    config.json, model.safetensors       GPT2LMHeadModel
    tokenizer.json, tokenizer_config.json   where the tokenizer can be one

GPT-2 knows learned positions, one scale of attention and biases everywhere: another scale is folded into the
queries, biases that are not there are written as zeros, and rotary positions are refused. Leaves out: other
architectures, and reading such a folder.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syllabary.convert import convert
from syllabary.errors import FormatError, ModelError
from syllabary.files import check_folder, read_bounded, remove, replace, write_atomic
from syllabary.gpt import run as runs
from syllabary.gpt.backend import torch
from syllabary.gpt.checkpoint import write_tensors
from syllabary.gpt.config import ModelConfig
from syllabary.gpt.model import GPT
from syllabary.gpt.trained import open_trained
from syllabary.tokenizer import Tokenizer

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
FILES = (CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS)
NORM_EPSILON = 1e-5  # torch's own

# Ours -> theirs, of one layer. Theirs are Conv1D, (in, out), where ours are linear, (out, in).
LAYER = {
    "norm_attention": "ln_1",
    "attention.qkv": "attn.c_attn",
    "attention.out": "attn.c_proj",
    "norm_feed": "ln_2",
    "feed.wide": "mlp.c_fc",
    "feed.out": "mlp.c_proj",
}


@dataclass(frozen=True, slots=True)
class Export:
    """What was written, and what the folder does not hold: a sentence each."""

    files: tuple[Path, ...]
    losses: tuple[str, ...]


def to_transformers(
    source: str | os.PathLike[str], folder: str | os.PathLike[str], checkpoint: str | None = None
) -> Export:
    """Write the model of a run, or of one checkpoint, as a folder for `transformers`.

    source: a run's folder (its best weights, or else its newest checkpoint) or a checkpoint's file. The
        tokenizer is the one that lies beside it. folder: made if it is not there; an earlier export in it is
        replaced once all of the new one is written, and `config.json` comes last.

    Raises `ModelError` for rotary positions, `CheckpointError`, `OSError`: `FileExistsError` if the folder
    has files of these names that are no earlier export.
    """
    trained, target = open_trained(source, checkpoint), Path(folder)
    tensors = weights(trained.model)
    if (target / runs.TOKENIZER).exists():  # a run would lose its config.json
        raise ModelError(
            f"{target}: holds a run, or shards ({runs.TOKENIZER}): give another folder to export to"
        )
    told = config(trained.model.config, trained.end)
    with _aside(target) as aside:
        _check_place(target, told)
        names = [WEIGHTS]
        write_tensors(aside / WEIGHTS, tensors, {"format": "pt"})  # the format's word for "made by torch"
        losses = [f"no tokenizer: none lies beside {trained.path.name}"]
        if trained.tok is not None:
            losses = _tokenizer(trained.tok, aside, trained.model.config, trained.end, names)
        names.append(CONFIG)
        write_atomic(aside / CONFIG, _json(told))
        _replace(target, aside, names)
    losses = [loss.replace(str(aside), str(target)) for loss in losses]
    return Export(tuple(target / name for name in names), tuple(losses))


@contextlib.contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    """A folder in `folder`, which is made if it is new; gone in the end, as a new one is after a failure.

    An `OSError` about a file in it names the one that this would become.
    """
    new = not folder.exists()
    runs.make_folder(folder)
    try:
        check_folder(folder)
        with tempfile.TemporaryDirectory(".tmp", ".export.", folder, ignore_cleanup_errors=True) as name:
            yield Path(name)
    except BaseException as error:
        if new:
            with contextlib.suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError) and Path(str(error.filename)).parent.name.startswith(".export."):
            error.filename = str(folder / Path(str(error.filename)).name)
        raise


def _replace(folder: Path, aside: Path, names: Sequence[str]) -> None:
    """Put the new files, the last of which makes them a model, in the places of the old ones."""
    remove(folder / CONFIG)  # without which it is none meanwhile
    for name in FILES:
        if name not in names:
            remove(folder / name)
    for name in names:
        replace(aside / name, folder / name)


def weights(model: GPT) -> dict[str, torch.Tensor]:
    """The weights by GPT-2's names and shapes, float32 on the CPU."""
    shape = model.config
    if model.places is None:
        raise ModelError(
            "the model has rotary positions: GPT-2 adds a learned vector for each place, and cannot turn "
            'queries and keys; train with positions="learned" to export it'
        )
    ours = {name: weight.detach().float().cpu() for name, weight in model.named_parameters()}
    found = {"transformer.wte.weight": ours["tokens.weight"], "transformer.wpe.weight": ours["places.weight"]}
    for number in range(shape.n_layer):
        for mine, theirs in LAYER.items():
            name, other = f"blocks.{number}.{mine}", f"transformer.h.{number}.{theirs}"
            weight = ours[f"{name}.weight"]  # (out, in), or (C,) of a norm
            bias = ours.get(f"{name}.bias", torch.zeros(weight.shape[0]))
            if mine == "attention.qkv":
                weight, bias = _folded(weight, shape), _folded(bias, shape)
            found[f"{other}.weight"] = weight.t().contiguous()  # of a norm: as it is
            found[f"{other}.bias"] = bias
    norm = ours["norm.weight"]
    found["transformer.ln_f.weight"] = norm
    found["transformer.ln_f.bias"] = ours.get("norm.bias", torch.zeros_like(norm))
    if model.head is not None:
        found["lm_head.weight"] = ours["head.weight"]
    return found


def config(shape: ModelConfig, end: int | None = None) -> dict[str, Any]:
    """What `config.json` says: a GPT2Config."""
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": shape.vocab_size,
        "n_positions": shape.block_size,
        "n_embd": shape.n_embd,
        "n_layer": shape.n_layer,
        "n_head": shape.n_head,
        "n_inner": None,
        "activation_function": "gelu_new" if shape.activation == "gelu" else "relu",
        "resid_pdrop": shape.dropout,
        "embd_pdrop": shape.dropout,
        "attn_pdrop": shape.dropout,
        "layer_norm_epsilon": NORM_EPSILON,
        "scale_attn_weights": True,
        "tie_word_embeddings": shape.tie_weights,
        "bos_token_id": end,
        "eos_token_id": end,
        "torch_dtype": "float32",
    }


def _check_place(folder: Path, new: dict[str, Any]) -> None:
    """`FileExistsError` if something else than an earlier export would be replaced.

    An export is known by the members of its `config.json`, those of `new`; what `transformers` saves has
    more.
    """
    found = [folder / name for name in FILES if (folder / name).exists()]
    try:
        old = json.loads(read_bounded(folder / CONFIG))
    except (OSError, FormatError, ValueError, RecursionError):
        old = None
    if found and (not isinstance(old, dict) or old.keys() != new.keys()):
        raise FileExistsError(
            errno.EEXIST, "is there already, and of no earlier export: give another folder", str(found[0])
        )


def _folded(qkv: torch.Tensor, shape: ModelConfig) -> torch.Tensor:
    """(3C, C) or (3C,) with the queries times what our scale of the scores is of GPT-2's."""
    factor = shape.score_scale * shape.head_size**0.5  # 1 for "head"
    return torch.cat([qkv[: shape.n_embd] * factor, qkv[shape.n_embd :]])


def _tokenizer(
    tok: Tokenizer, folder: Path, shape: ModelConfig, end: int | None, names: list[str]
) -> list[str]:
    """Write the tokenizer as far as it can be, add the names of its files; what was lost."""
    try:
        report = convert(tok, folder / TOKENIZER, "huggingface")
    except FormatError as error:
        return [f"no {TOKENIZER}: {error}"]
    settings: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",  # else transformers builds GPT-2's own from it
        "model_max_length": shape.block_size,
        "clean_up_tokenization_spaces": False,
    }
    special = {number: name for name, number in tok.special_tokens.items()}
    if end is not None and end in special:
        settings.update(eos_token=special[end], bos_token=special[end])
    write_atomic(folder / TOKENIZER_CONFIG, _json(settings))
    names += [TOKENIZER, TOKENIZER_CONFIG]
    return list(report.losses)


def _json(data: dict[str, Any]) -> bytes:
    return json.dumps(data, indent=2, ensure_ascii=False).encode() + b"\n"
