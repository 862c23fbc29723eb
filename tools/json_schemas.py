#!/usr/bin/env python3
"""Checks the JSON Schemas of command output with --format json (docs/schema, docs/reports.md).

    tools/json_schemas.py --tutti build/release/bin/tutti            # checks outputs
    tools/json_schemas.py --tutti build/release/bin/tutti --write    # adds missing fields to schemas

The outputs are those of the commands in cases(): every shipped scenario with `simulate` and `plan`,
and one or more samples of each other command. --write derives types from the outputs, and takes
descriptions from the tables of docs/reports*.md; existing descriptions stay. A field that a sample
lacks becomes optional. Fields are never removed, since that is a change of `schema_version`: if a
required field is no longer in any sample, --write stops with an error unless --allow-removal is given.

The check validates with the package jsonschema (python3-jsonschema). It is stricter than the
schemas in one respect: a field that a command prints must be in its schema. Consumers must ignore
unknown fields, so the schemas themselves allow them.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

SOURCE = Path(__file__).resolve().parents[1]
SCHEMAS = SOURCE / "docs" / "schema"
REPORTS = [SOURCE / "docs" / name for name in ("reports.md", "reports-of-searches.md", "output-and-errors.md")]
SCENARIOS = SOURCE / "scenarios"
TRACES = SOURCE / "tests" / "data" / "traces"
WORKLOADS = SOURCE / "tests" / "data" / "execution_traces"

#: Objects whose keys are names instead of fields.
MAPS = {"set", "settings", "best_settings", "used", "incomplete", "ignored", "unknown", "transports"}

LOG = """# nThread 1 nGpus 1 minBytes 65536 maxBytes 4194304 step: 8(factor) warmup iters: 5 iters: 20
# size count type redop root time algbw busbw #wrong time algbw busbw #wrong
65536 16384 float sum -1 300.0 0.22 0.38 0 300.0 0.22 0.38 0
524288 131072 float sum -1 500.0 1.05 1.83 0 500.0 1.05 1.83 0
4194304 1048576 float sum -1 2400.0 1.75 3.06 0 2400.0 1.75 3.06 0
"""

#: Two measured tables: one that the model predicts, and one that it does not support.
TABLES = "table_id,size_bytes,time_us\nh100,1048576,30\nh100,67108864,300\namd,1024,9\n"
META = """[
 {"table_id": "h100", "collective": "all_reduce", "n_ranks": 8, "nodes": 1, "gpus_per_node": 8, "gpu_model": "H100-SXM5",
  "intra_node": {"intra": "NVLink4+NVSwitch", "links_per_gpu": 18, "link_gbytes_dir": 25, "nvswitch": true},
  "inter_node": {"nics_per_node": 0, "nic_gbps": null, "nic_type": "none"}, "nccl_version": "2.28.9", "dtype": "float",
  "env": {}, "healthy": true, "system": "x", "outlier_sizes": [], "config": "h"},
 {"table_id": "amd", "collective": "all_reduce", "n_ranks": 8, "nodes": 1, "gpus_per_node": 8, "gpu_model": "MI300X",
  "nccl_version": "RCCL", "healthy": true, "config": "m"}]"""


def operations() -> str:
    """Returns a log of operations: two ranks compute for 10 and 30 ms, and then reduce in 2 ms."""
    text = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id\n"
    for step in range(4):
        text += f"0,0,0,{step},forward-compute,{step}.000,0.010,0\n1,0,1,{step},forward-compute,{step}.000,0.030,0\n"
        text += f"0,0,0,{step},grads-all-reduce,{step}.010,0.022,0\n1,0,1,{step},grads-all-reduce,{step}.030,0.002,0\n"
    return text


def scenario(name: str) -> str:
    return str(next(SCENARIOS.glob(f"{name}_*.textproto")))


def cases(folder: Path) -> list[tuple[str, list[str]]]:
    """Returns pairs of a schema and the command whose output it describes.

    The commands have to run in this order in the folder.
    """
    (folder / "log.txt").write_text(LOG)
    (folder / "tables.csv").write_text(TABLES)
    (folder / "meta.json").write_text(META)
    (folder / "operations.csv").write_text(operations())
    (folder / "wrong.textproto").write_text('cluster { workers { machine: "none" } }\nrun { steps: 0 }\n')
    (folder / "old.textproto").write_text(
        'cluster { workers { machine: "dgx1-v100" } }\nworkload { model: "resnet50_torchvision" }\n'
        "strategy { mirrored { num_packs: 2 } }\n"
    )
    small = ["--set", "run.steps=2"]
    (folder / "unclosed.textproto").write_text("cluster {\n")
    shipped = [str(path) for path in sorted(SCENARIOS.glob("*.textproto"))]
    found = [(command, [command, path]) for command in ("simulate", "plan") for path in shipped]
    found += [
        ("simulate", ["simulate", scenario("02"), "--timeline", "a.tutti", *small]),
        ("simulate", ["simulate", scenario("02"), "--timeline", "b.tutti", *small, "--set", "strategy.launch_us=5"]),
        ("run", ["run", scenario("01"), "--timeline", "real.tutti", *small]),
        ("plan", ["plan", scenario("01"), "--schedule"]),
        ("compare", ["compare", "a.tutti", "b.tutti"]),
        ("explain", ["explain", scenario("04")]),
        ("explain", ["explain", scenario("06")]),
        *(("explain", ["explain", scenario(number)]) for number in ("17", "23", "25", "26")),
        ("explain_algorithm", ["explain", scenario("02"), "--algorithm"]),
        ("explain_trace", ["explain", str(TRACES / "kineto_rank0.json")]),
        ("explain_trace", ["explain", str(TRACES / "kineto_rank0.json"), str(TRACES / "kineto_rank1.json")]),
        ("explain_operations", ["explain", "operations.csv"]),
        ("validate_trace", ["validate", "--trace", str(TRACES / "kineto_rank0.json")]),
        ("sweep", ["sweep", scenario("01"), "--over", "strategy.algorithm=ring,nonsense", "-o", "s.sweep"]),
        ("sweep", ["sweep", scenario("10"), "--over", "run.seed=1,2,3", "-o", "seeds.sweep", *small]),
        ("tune", ["tune", scenario("04"), "--evaluations", "12", "--over", "strategy.bytes_per_pack=4MiB..64MiB*4"]),
        ("tune", ["tune", scenario("10"), "--evaluations", "6", "--over", "strategy.bytes_per_pack=4MiB,64MiB", "--over", "run.seed=1,2"]),
        ("perf", ["perf", scenario("02"), "-b", "1K", "-e", "64K", "-f", "8"]),
        ("perf", ["perf", scenario("02"), "-b", "1K", "-e", "1K", "--collective", "broadcast"]),
        ("perf", ["perf", "--cluster", "hgx-h100", "-b", "1M", "-e", "8M", "-f", "8", "--collective", "alltoall"]),
        ("perf", ["perf", scenario("01"), "-b", "1K", "-e", "4K", "-f", "4", "--backend", "tcp"]),
        ("perf", ["perf", "--cluster", "hgx-h100", "--nodes", "2", "-b", "1M", "-e", "64M", "-f", "8"]),
        ("perf", ["perf", "--cluster", "hgx-h100", "--nodes", "2", "-b", "1M", "-e", "1M", "--explain"]),
        ("perf", ["perf", "--cluster", "hgx-h100", "-b", "8K", "-e", "1M", "--buffers", "symmetric"]),
        ("calibrate", ["calibrate", scenario("02"), "--log", "log.txt"]),
        ("init", ["init", "--list"]),
        ("init", ["init", "--model", "vgg16_torchvision"]),
        ("init", ["init", "-o", "new.textproto"]),
        ("synthesize", ["synthesize", "--cluster", "dgx1-v100", "--collective", "all-gather", "--bytes", "1M"]),
        ("perf", ["perf", scenario("02"), "-b", "1M", "-e", "1M", "--algorithms", "ring,tf_ring"]),
        ("convert", ["convert", "old.textproto", "-o", "converted.textproto"]),
        ("export", ["export", "a.tutti", "--to", "svg", "-o", "a.svg"]),
        ("export", ["export", scenario("02"), "--to", "goal", "-o", "a.goal"]),
        ("report", ["report", "a.tutti", "-o", "a.html"]),
        ("import", ["import", str(TRACES / "kineto_rank0.json"), "-o", "imported.tutti"]),
        (
            "import_workload",
            ["import", str(WORKLOADS / "simai.txt"), "--machine", "dgx1-v100", "-o", "workload.textproto"],
        ),
        ("validate", ["validate", "--tables", "tables.csv", "--meta", "meta.json"]),
        ("doctor", ["doctor"]),
        ("error", ["simulate", "wrong.textproto"]),
        ("error", ["simulate", "--sed", "3"]),
        ("error", ["simulate", "unclosed.textproto"]),
        ("error", ["compare", "a.tutti", "log.txt"]),
    ]
    return found


def outputs(tutti: str) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    with tempfile.TemporaryDirectory() as name:
        for schema, words in cases(Path(name)):
            done = subprocess.run(
                [tutti, *words, "--format", "json"], cwd=name, capture_output=True, text=True, check=False
            )
            wrong = schema == "error"
            if (done.returncode != 0) != wrong:
                sys.exit(f"{' '.join(words)}: status {done.returncode}: {done.stderr}")
            found.setdefault(schema, []).append(json.loads(done.stdout))
    return found


def type_of(value: object) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return "null" if value is None else names[type(value)]


def closed(schema: dict) -> dict | bool:
    """Returns a stricter schema, which forbids fields and types that it does not mention."""
    if not schema:
        return False  # no sample had a value here
    made = dict(schema)
    if "properties" in schema:
        made["properties"] = {name: closed(one) for name, one in schema["properties"].items()}
    if "items" in schema:
        made["items"] = closed(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        made["additionalProperties"] = closed(schema["additionalProperties"])
    elif "object" in kinds_of(schema):
        made.setdefault("additionalProperties", False)
    return made


def kinds_of(schema: dict) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def problems(value: object, schema: dict, name: str) -> list[str]:
    """Returns the parts of the value that violate the schema, or are not described in it."""
    strict = closed(schema)
    jsonschema.Draft202012Validator.check_schema(strict)
    found: list[str] = []
    for error in jsonschema.Draft202012Validator(strict).iter_errors(value):
        # Without indices, equal problems of several elements are reported once.
        steps = "".join("[]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
        found.append(f"{name}{steps}: {error.message[:300]}")
    return found


def absent(schema: dict, values: list, path: str) -> list[str]:
    """Returns the required fields of the schema that are in none of the values."""
    found: list[str] = []
    objects = [value for value in values if isinstance(value, dict)]
    for name in schema.get("required", []):
        if objects and not any(name in value for value in objects):
            found.append(f"{path}.{name}")
    for name, one in schema.get("properties", {}).items():
        found += absent(one, [value[name] for value in objects if name in value], f"{path}.{name}")
    if isinstance(schema.get("additionalProperties"), dict):
        inner = [one for value in objects for one in value.values()]
        found += absent(schema["additionalProperties"], inner, f"{path}.*")
    if "items" in schema:
        inner = [one for value in values if isinstance(value, list) for one in value]
        found += absent(schema["items"], inner, f"{path}[]")
    return found


def check_itself() -> None:
    """Checks that problems() and absent() find what is wrong with small outputs."""
    schema: dict = {}
    sample = {"a": 1, "rows": [{"b": "x", "c": None}], "set": {"any.field": "2"}, "none": []}
    learn(schema, sample, "", {})
    assert problems(sample, schema, "s") == []
    more = {"b": "x", "c": None, "new": 1}
    wrong = {
        "s.rows[]: Additional properties are not allowed ('new' was unexpected)": {"rows": [more]},
        "s.rows[].b: 1 is not of type 'string'": {"rows": [{"b": 1, "c": None}]},
        "s.rows[]: 'c' is a required property": {"rows": [{"b": "x"}]},
        "s.set.any.field: 2 is not of type 'string'": {"set": {"any.field": 2}},
    }
    for problem, change in wrong.items():
        assert problem in problems({**sample, **change}, schema, "s"), problems({**sample, **change}, schema, "s")
    assert problems({**sample, "none": [1]}, schema, "s"), "no sample had an element"
    assert absent(schema, [sample, {"rows": [{"b": "x"}]}], "s") == []
    assert absent(schema, [{**sample, "rows": [{"b": "x"}]}], "s") == ["s.rows[].c"]
    learn(schema, {**sample, "rows": [{"b": "x"}]}, "", {})
    assert problems({**sample, "rows": [{"b": "x"}]}, schema, "s") == [], "c is optional now"
    named: dict = {}
    learn(named, {"b": 1, "rows": [{"b": 2}]}, "", {"b": "of the report", "rows.b": "of a row"})
    assert named["properties"]["b"]["description"] == "of the report"
    assert named["properties"]["rows"]["items"]["properties"]["b"]["description"] == "of a row"


def merged_type(old: object, kind: str) -> object:
    kinds = [old] if isinstance(old, str) else list(old or [])
    if kind == "integer" and "number" in kinds:
        return old
    if kind == "number" and "integer" in kinds:
        kinds.remove("integer")
    if kind not in kinds:
        kinds.append(kind)
    return kinds[0] if len(kinds) == 1 else kinds


def learn(schema: dict, value: object, name: str, words: dict[str, str], parent: str = "") -> None:
    """Adds the fields and types of the value that the schema lacks to the schema.

    `parent` is the name of the field that contains the value. The key "parent.name" of `words`
    precedes the key "name".
    """
    fresh = "type" not in schema
    for key in (f"{parent}.{name}", name):
        if fresh and key in words:
            schema.setdefault("description", words[key])
    schema["type"] = merged_type(schema.get("type"), type_of(value))
    if isinstance(value, dict) and name in MAPS:
        inner = schema.setdefault("additionalProperties", {})
        for one in value.values():
            learn(inner, one, "", words, name)
    elif isinstance(value, dict):
        fields = schema.setdefault("properties", {})
        if fresh:
            schema["required"] = list(value)
        schema["required"] = [field for field in schema.get("required", []) if field in value]
        for field, one in value.items():
            learn(fields.setdefault(field, {}), one, field, words, name or parent)
    elif isinstance(value, list):
        inner = schema.setdefault("items", {})
        for one in value:
            learn(inner, one, "", words, name)


def descriptions(schema: str) -> dict[str, str]:
    """Returns the descriptions of fields in the section of the pages of reports for this schema.

    A row of a table "field of `packs[]`" describes the field only inside `packs`. A row `advice.why`
    describes the field `why` only inside `advice`. Their keys are "packs.NAME" and "advice.why".
    """
    words: dict[str, str] = {
        "schema_version": "The version of the form of the output. It increases if a field is removed or changes its meaning.",
        "tutti_version": "The version of Tutti that wrote the report.",
        "notes": "Assumptions, and parts that were left out.",
    }
    command = "errors" if schema == "error" else schema.split("_")[0]
    section: list[str] = []
    of = ""
    for line in "\n".join(page.read_text(encoding="utf-8") for page in REPORTS).split("\n"):
        if line.startswith("## "):
            section = line.lower().split()
        if command not in section or "--promise" in section:
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| field"):
            found = re.search(r"`([a-z_]+)\[\]`", cells[0])
            of = f"{found[1]}." if found else ""
        if not line.startswith("| `") or len(cells) != 2:
            continue
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cells[1])
        for field in re.findall(r"`([a-z_]+(?:\.[a-z_]+)?)(?:\[\])?`", cells[0]):
            words.setdefault(of + field, text)
    return words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tutti", required=True, help="the program")
    parser.add_argument("--write", action="store_true", help="add fields that the schemas lack")
    parser.add_argument(
        "--allow-removal", action="store_true", help="with --write: accept that required fields are in no sample"
    )
    options = parser.parse_args()
    check_itself()
    wrong: list[str] = []
    missing: list[str] = []
    samples = outputs(str(Path(options.tutti).absolute()))
    if options.write and not options.allow_removal:
        removed: list[str] = []
        for name, values in samples.items():
            path = SCHEMAS / f"{name}.schema.json"
            if path.exists():
                removed += absent(json.loads(path.read_text(encoding="utf-8")), values, name)
        if removed:
            sys.exit(
                "required fields are in no sample; removing them changes schema_version "
                "(--allow-removal makes them optional):\n" + "\n".join(removed)
            )
    for name, values in samples.items():
        path = SCHEMAS / f"{name}.schema.json"
        if not path.exists() and not options.write:
            missing.append(f"{path} does not exist; create it with --write")
            continue
        schema = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if options.write:
            head = {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "title": f"tutti {name} --format json" if name != "error" else "an error with --format json",
            }
            schema = {**head, **schema}
            words = descriptions(name)
            for value in values:
                learn(schema, value, "", words)
            SCHEMAS.mkdir(exist_ok=True)
            path.write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        for value in values:
            wrong += problems(value, schema, name)
    if wrong or missing:
        sys.exit("\n".join(sorted(set(wrong)) + missing))
    print(f"{len(list(SCHEMAS.glob('*.json')))} schemas describe what the commands print")


if __name__ == "__main__":
    main()
