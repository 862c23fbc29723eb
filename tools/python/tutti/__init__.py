"""Tutti predicts the step times of distributed training, before anyone rents the cluster.

    import tutti

    scenario = tutti.load("scenarios/04_resnet50_ring.textproto")
    result = scenario.simulate(timeline=True)
    result.step_time_us, result.packs.to_pandas()
    scenario.sweep({"strategy.bytes_per_pack": "4MiB..64MiB*2"}).points.to_pandas()
    scenario.tune().best_settings

docs/python.md is the guide. Functions, methods and keyword arguments are named like the commands
and options of the program `tutti`. Reports have the fields of `--format json`.
"""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence, Union

from . import _core
from .algorithm import (
    Algorithm,
    Value,
    call,
    choose,
    chunks,
    gpu,
    gpus,
    load_algorithm,
    node,
    nodes,
    rank,
    ranks,
    root,
)
from .commands import Progress, data_folder, file_name
from .commands import run as _run
from .errors import Error, FieldError, Interrupted, Problem, RequestError, RunError
from .fields import Elements, Fields
from .result import Comparison, Explanation, Perf, Plan, Report, Result, compare, open_timeline
from .scenario import Scenario, load, parse
from .sweep import Sweep, Tuning
from .table import Table
from .window import Window

__version__: str = _core.__version__

__all__ = [
    "Algorithm", "Comparison", "Elements", "Error", "Explanation", "FieldError", "Fields",
    "Interrupted", "Perf", "Plan", "Problem", "Progress", "Report", "RequestError", "Result",
    "RunError", "Scenario", "Sweep", "Table", "Tuning", "Value", "Window", "calibrate", "call", "choose",
    "chunks", "compare", "data_folder", "gpu", "gpus", "import_trace", "init", "load",
    "load_algorithm", "names", "node", "nodes", "open_timeline", "parse", "perf", "rank", "ranks",
    "root", "validate",
]

_Path = Union[str, "os.PathLike[str]"]


def _scenario(scenario: Union[Scenario, _Path, None]) -> tuple[list[str], dict[str, str]]:
    """Returns the argument that names a scenario, and texts that replace files."""
    if scenario is None:
        return [], {}
    if isinstance(scenario, Scenario):
        file = scenario._location()
        return [file], {file: scenario.to_text()}
    return [file_name(scenario, "a scenario or the path of one")], {}


def _many(files: Union[None, _Path, Sequence[_Path]]) -> list[_Path]:
    if files is None:
        return []
    return [files] if isinstance(files, (str, os.PathLike)) else list(files)


def perf(
    scenario: Union[Scenario, _Path, None] = None,
    *,
    cluster: Optional[str] = None,
    nodes: Optional[int] = None,
    collective: Optional[str] = None,
    minbytes: Union[int, str, None] = None,
    maxbytes: Union[int, str, None] = None,
    stepfactor: Optional[float] = None,
    backend: str = "sim",
    set: Optional[Mapping[str, Any]] = None,
    progress: Progress = None,
    **options: Any,
) -> Perf:
    """Returns a table in the form of nccl-tests, predicted or (with `backend="tcp"`) measured.

    With a scenario, the table has the times of the scenario's algorithm on the scenario's cluster.
    With `cluster=` instead of a scenario, the table has the times of the algorithms that NCCL
    chooses on a cluster of `nodes` machines of this kind. Further options are those of
    `tutti perf`.
    """
    arguments, texts = _scenario(scenario)
    options.update(
        cluster=cluster, nodes=nodes, collective=collective, minbytes=minbytes, maxbytes=maxbytes,
        stepfactor=stepfactor, backend=backend, set=set,
    )
    outcome = _run("perf", arguments, options, scenarios=texts, progress=progress)
    outcome.stopped(Perf(outcome.json()) if outcome.out else None)
    return Perf(outcome.json())


def calibrate(
    scenario: Union[Scenario, _Path, None] = None,
    *,
    log: Union[None, _Path, Sequence[_Path]] = None,
    run: Union[None, _Path, Sequence[_Path]] = None,
    cluster: Optional[str] = None,
    nodes: Optional[int] = None,
    output: Optional[_Path] = None,
    set: Optional[Mapping[str, Any]] = None,
    progress: Progress = None,
    **options: Any,
) -> Report:
    """Fits a scenario's cluster, or NCCL's times on a machine (`cluster=`), to measurements.

    `log`: output files of nccl-tests or `tutti perf`. `run`: timelines of real runs. `output`: the
    file to write the fitted cluster to. Further options are those of `tutti calibrate`.
    """
    arguments, texts = _scenario(scenario)
    options.update(
        log=_many(log), run=_many(run), cluster=cluster, nodes=nodes, output=output, set=set
    )
    outcome = _run("calibrate", arguments, options, scenarios=texts, progress=progress)
    outcome.stopped()
    return Report(outcome.json())


def import_trace(
    files: Union[_Path, Sequence[_Path]],
    *,
    output: Union[None, _Path, Sequence[_Path]] = None,
    progress: Progress = None,
    **options: Any,
) -> Report:
    """Reads traces and logs of a training job, and reports their content.

    `output`: the files to write: a timeline (NAME.tutti), a scenario (NAME.textproto) or times of
    collectives (NAME.log). Further options are those of `tutti import`.
    """
    options.update(output=_many(output))
    outcome = _run("import", [file_name(one) for one in _many(files)], options, progress=progress)
    outcome.stopped()
    return Report(outcome.json())


def validate(tables: _Path, meta: _Path, *, progress: Progress = None, **options: Any) -> Report:
    """Predicts measured nccl-tests tables (`tutti validate`), and reports the errors."""
    options.update(tables=tables, meta=meta)
    outcome = _run("validate", [], options, progress=progress)
    outcome.stopped()
    return Report(outcome.json())


def init(
    model: str = "resnet50_torchvision", machine: str = "dgx1-v100", nodes: int = 2, **options: Any
) -> Scenario:
    """Returns a new scenario to start from. Options are those of `tutti init`."""
    options.update(model=model, machine=machine, nodes=nodes)
    return parse(_run("init", [], options).json()["scenario"])


def names() -> Report:
    """Returns the names of the shipped machines, links, models and algorithms."""
    return Report(_run("init", [], {"list": True}).json())
