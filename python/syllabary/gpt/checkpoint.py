"""A checkpoint: weights, optimizer, random state, step and configs, in one safetensors file.

The file is written under another name, synced, and renamed: after a crash there is the old one or the new
one. Tensors go to the file from where they are, none is copied as a whole. Nothing is ever unpickled.

    model.<weight>               as named in `GPT`; a tied output layer is the embedding, stored once
    optimizer.<weight>.<name>    what the optimizer keeps of that weight (AdamW: step, exp_avg, exp_avg_sq)
    rng.<device>                 states of torch's generators, uint8
    metadata["syllabary"]        JSON: format, version, step, configs, extra

What is guaranteed: on one machine, with the same torch and number of threads, a model, an optimizer and the
generators that were saved and loaded go on bit by bit as those that were not. Other machines, numbers of
threads or GPU kernels add in another order and differ by rounding.
Leaves out: which checkpoints a run keeps, and where (`run`).
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from syllabary.errors import CheckpointError, ModelError
from syllabary.files import replace
from syllabary.gpt.backend import torch
from syllabary.gpt.config import ModelConfig, TrainConfig
from syllabary.gpt.leftovers import CHECKPOINT as FORMAT
from syllabary.gpt.model import GPT

VERSION = 1
PARTS = ("model", "optimizer", "rng")
WAY_OUT = "a run goes on from an older checkpoint once a damaged one is moved out of its folder"

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds. Tensors are on the CPU.

    configs: name -> plain JSON; "model" is always there. extra: what was given to `save`.
    model: weight -> tensor. optimizer: weight -> name -> tensor. rng: device -> state.
    """

    path: Path
    step: int
    configs: Mapping[str, Any]
    extra: Mapping[str, Any]
    model: Tensors
    optimizer: dict[str, Tensors]
    rng: Tensors

    @property
    def model_config(self) -> ModelConfig:
        """The model's shape."""
        try:
            return ModelConfig.from_json(self.configs.get("model"))
        except ModelError as error:
            raise CheckpointError(f"{self.path}: {error}") from error

    def build(self, device: str | torch.device = "cpu") -> GPT:
        """The model, with its weights, ready to be asked (`eval`)."""
        config = self.model_config
        embedding, layers = self.model.get("tokens.weight"), range(config.n_layer)
        if (  # before memory is taken for what the config says
            embedding is None
            or embedding.shape != (config.vocab_size, config.n_embd)
            or any(f"blocks.{layer}.norm_feed.weight" not in self.model for layer in layers)
        ):
            raise CheckpointError(f"{self.path}: its weights are not of the model that it says; {WAY_OUT}")
        model = GPT(config, seed=0)
        self.restore(model)
        return model.to(device).eval()

    def restore(self, model: GPT, optimizer: torch.optim.Optimizer | None = None) -> None:
        """Put the weights, and the optimizer's state, into those given, wherever they are.

        `CheckpointError` for a model of another config, and for tensors that are missing, unknown or of
        another shape; then nothing has been changed.
        """
        self._compare(model.config)
        weights = dict(model.named_parameters())
        self._fit("weight", self.model, {name: weight.shape for name, weight in weights.items()})
        state = None if optimizer is None else self._state(optimizer, weights)
        with torch.no_grad():
            for name, weight in weights.items():
                weight.copy_(self.model[name])
        if optimizer is not None:
            optimizer.load_state_dict(
                {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
            )

    def _compare(self, config: ModelConfig) -> None:
        mine, given = self.model_config.to_json(), config.to_json()
        differ = [f"{name} {mine[name]!r}, not {given[name]!r}" for name in mine if mine[name] != given[name]]
        if differ:
            raise CheckpointError(
                f"{self.path}: of another model: it has {'; '.join(differ)}. "
                "Give the run's own settings, or another folder"
            )

    def _state(self, optimizer: torch.optim.Optimizer, weights: Mapping[str, Any]) -> dict[int, Tensors]:
        """The optimizer's state by its own numbers of the weights."""
        names = {id(weight): name for name, weight in weights.items()}
        try:
            order = [names[id(each)] for group in optimizer.param_groups for each in group["params"]]
        except KeyError as error:
            raise CheckpointError(
                f"{self.path}: the optimizer given holds weights of another model"
            ) from error
        if not self.optimizer:
            if self.step == 0:
                return {}  # before the first step there is no state
            raise CheckpointError(
                f"{self.path}: weights without the optimizer's state: training cannot go on from it; "
                "give one of the run's checkpoint-<step>.safetensors"
            )
        self._fit("optimizer state of", self.optimizer, dict.fromkeys(order))
        for name, state in self.optimizer.items():
            shapes = {"step": (), **dict.fromkeys(("exp_avg", "exp_avg_sq"), weights[name].shape)}
            self._fit(f"optimizer state of {name},", state, shapes)
        return {number: self.optimizer[name] for number, name in enumerate(order)}

    def _fit(self, what: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        """Refuse other keys, or tensors of other shapes where `wanted` says one."""
        for name in wanted:
            if name not in found:
                raise CheckpointError(f"{self.path}: the {what} {name} is missing; {WAY_OUT}")
        for name in found:
            if name not in wanted:
                raise CheckpointError(f"{self.path}: unknown {what} {name}; {WAY_OUT}")
            shape = wanted[name]
            if shape is not None and tuple(found[name].shape) != tuple(shape):
                raise CheckpointError(
                    f"{self.path}: the {what} {name} has the shape {tuple(found[name].shape)}, "
                    f"not {tuple(shape)}; {WAY_OUT}"
                )


def save(
    path: str | os.PathLike[str],
    *,
    model: GPT,
    optimizer: torch.optim.Optimizer | None = None,
    step: int,
    configs: Mapping[str, ModelConfig | TrainConfig | Mapping[str, Any]] | None = None,
    rng: Mapping[str, torch.Tensor] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Write a checkpoint, whole or not at all; what was at `path` is replaced.

    configs: "model" is added where it is not given. rng: of `rng_state`. extra: plain JSON values.
    Raises `OSError` with the path.
    """
    tensors = {f"model.{name}": weight.detach() for name, weight in model.named_parameters()}
    if optimizer is not None:
        names = {id(weight): name for name, weight in model.named_parameters()}
        for weight, state in optimizer.state.items():
            for key, value in state.items():
                tensors[f"optimizer.{names[id(weight)]}.{key}"] = torch.as_tensor(value).detach()
    tensors.update({f"rng.{device}": state for device, state in (rng or {}).items()})
    plain = {"model": model.config, **(configs or {})}
    record = {
        "format": FORMAT,
        "version": VERSION,
        "step": step,
        "configs": {name: _plain(config) for name, config in plain.items()},
        "extra": dict(extra or {}),
    }
    write_tensors(Path(path), tensors, {"syllabary": json.dumps(record, ensure_ascii=False)})


def load(path: str | os.PathLike[str], parts: Collection[str] = PARTS) -> Checkpoint:
    """Read a checkpoint; only the tensors of `parts` ("model", "optimizer", "rng").

    Raises `OSError`, and `CheckpointError` for a file that is cut short, damaged, or no checkpoint.
    """
    file = Path(path)
    groups: dict[str, Tensors] = {part: {} for part in PARTS}
    with _opened(file) as data:
        record = _record(file, data.metadata())
        for name in data.keys():  # noqa: SIM118 (no mapping)
            part, _, rest = name.partition(".")
            if part not in groups or not rest:
                raise CheckpointError(f"{file}: unknown tensor {name}; {WAY_OUT}")
            if part in parts:
                # a copy: what the library gives may be the file itself, which can be replaced
                groups[part][rest] = data.get_tensor(name).clone()
    optimizer: dict[str, Tensors] = {}
    for name, value in groups["optimizer"].items():  # <weight>.<name>
        weight, _, key = name.rpartition(".")
        optimizer.setdefault(weight, {})[key] = value
    return Checkpoint(
        file, record["step"], record["configs"], record["extra"], groups["model"], optimizer, groups["rng"]
    )


def rng_state() -> dict[str, torch.Tensor]:
    """The states of torch's generators: of the CPU, and of each CUDA device there is."""
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states.update({f"cuda:{number}": each for number, each in enumerate(torch.cuda.get_rng_state_all())})
    return states


def set_rng_state(states: Mapping[str, torch.Tensor]) -> None:
    """The reverse of `rng_state`; a device that is not here is passed over.

    `CheckpointError` for what is no state of this torch.
    """
    here = rng_state()
    for device, state in states.items():
        if device in here and (state.dtype, state.shape) != (here[device].dtype, here[device].shape):
            raise CheckpointError(f"the random state of {device} is none of this torch's; {WAY_OUT}")
        if device == "cpu":
            torch.set_rng_state(state)
        elif device in here:
            torch.cuda.set_rng_state(state, device)


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str]) -> None:
    """A safetensors file, whole or not at all: another name in the same folder, fsync, rename."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    ready = {name: tensor.contiguous() for name, tensor in tensors.items()}
    try:
        if not target.parent.is_dir():
            raise FileNotFoundError(2, "no such folder", str(path.parent))
        with temporary.open("xb"):
            mode = (target if target.exists() else temporary).stat().st_mode
        _save_file(ready, temporary, dict(metadata))
        temporary.chmod(stat.S_IMODE(mode))  # the library's own is for the owner alone
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None
        raise


def _save_file(tensors: Mapping[str, torch.Tensor], path: Path, metadata: dict[str, str]) -> None:
    """The library's writer; its errors of input and output as `OSError`."""
    try:
        _safetensors("safetensors.torch").save_file(dict(tensors), path, metadata=metadata)
    except _safetensors("safetensors").SafetensorError as error:
        raise OSError(5, str(error), str(path)) from error


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """The library's reader, which checks the header against the file's length."""
    library = _safetensors("safetensors")
    if file.is_fifo():  # which cannot be mapped, and may wait for ever
        raise CheckpointError(f"{file}: is a pipe, not a file: save the checkpoint to a file first")
    with file.open("rb"):
        pass  # an OSError that names the file, which the library's does not
    try:
        with library.safe_open(file, framework="pt", device="cpu") as data:
            yield data
    except library.SafetensorError as error:
        raise CheckpointError(f"{file}: cut short, damaged, or no checkpoint ({error}); {WAY_OUT}") from error


def _record(file: Path, metadata: Mapping[str, str] | None) -> dict[str, Any]:
    """The JSON of the header, checked."""
    try:
        record = json.loads((metadata or {})["syllabary"])
    except (KeyError, ValueError, RecursionError) as error:
        raise CheckpointError(
            f"{file}: a safetensors file, but no checkpoint of syllabary; give one that `gpt train` wrote"
        ) from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise CheckpointError(f"{file}: not of the format {FORMAT}; give one that `gpt train` wrote")
    if record.get("version") != VERSION:
        raise CheckpointError(
            f"{file}: version {record.get('version')!r} of the format, and this syllabary reads {VERSION}: "
            "update it"
        )
    for key, kind in (("step", int), ("configs", dict), ("extra", dict)):
        if not isinstance(record.get(key), kind):
            raise CheckpointError(f"{file}: its header has no {key!r}; {WAY_OUT}")
    return record


def _plain(config: ModelConfig | TrainConfig | Mapping[str, Any]) -> dict[str, Any]:
    return config.to_json() if isinstance(config, (ModelConfig, TrainConfig)) else dict(config)


def check_installed() -> None:
    """`ModelError` now, and not when there is something to save, if the library is missing."""
    _safetensors("safetensors.torch")


def _safetensors(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelError(f"checkpoints need safetensors ({error}): pip install 'syllabary[gpt]'") from error
