#!/usr/bin/env python3
"""Predicts published tables of NCCL that are in no fit, and prints the errors by system.

    tools/nccl_held_out.py                                               # prints the tables in Markdown
    tools/nccl_held_out.py --write docs/validation/nccl-held-out.md      # replaces the tables there
    tools/nccl_held_out.py --check docs/validation/nccl-held-out.md      # status 1 if they are outdated

The measurements and their sources are in tools/nccl_fit/held_out. The errors are those of
`tutti validate`.
"""

import argparse
import collections
import csv
import json
import pathlib
import subprocess
import tempfile

from page_section import has_section, replace_section

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tools" / "nccl_fit" / "held_out"
NAMES = {"alltoall": "all-to-all", "sendrecv": "send-receive"}  # other names only have hyphens


def validate(tutti, records, rows):
    """Returns the report of `tutti validate` on the tables of these records."""
    with tempfile.TemporaryDirectory() as folder:
        meta, tables = pathlib.Path(folder, "meta.json"), pathlib.Path(folder, "tables.csv")
        meta.write_text(json.dumps(records))
        with tables.open("w") as file:
            out = csv.writer(file)
            out.writerow(["table_id", "size_bytes", "time_us"])
            for record in records:
                out.writerows(rows[record["table_id"]])
        command = [tutti, "validate", "--tables", tables, "--meta", meta, "--format", "json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def percent(share, digits=0):
    return f"{100 * share:.{digits}f} %"


def errors(report):
    """Returns four cells of the table: median error, 90th percentile, bias, and share in the bands."""
    return [percent(report["median_error"], 1), percent(report["p90_error"], 1),
            f"{100 * report['bias']:+.0f} %", percent(report["coverage"])]


def by_group(tutti, records, rows):
    """Yields the rows of the table over all systems."""
    second = [r for r in records if r["collected"] == "second"]
    groups = [("first collection", [r for r in records if r["collected"] == "first"]),
              ("second collection, not examined", [r for r in second if r["half"] == "B"])]
    for collective in ("all_reduce", "broadcast"):
        groups.append((f"second collection, ABCI, {collective.replace('_', '-')} (examined)",
                       [r for r in second if r["half"] == "A" and r["collective"] == collective]))
    groups.append(("all", records))
    for name, chosen in groups:
        report = validate(tutti, chosen, rows)["overall"]
        systems = len({r["system"] for r in chosen})
        yield [name, str(systems), f"{report['modelled_rows']:,}", *errors(report), f"{report['interval_score']:.2f}"]


def by_system(tutti, records, rows):
    """Yields the rows of the table by system, number of nodes and collective."""
    groups = collections.defaultdict(list)
    for r in records:
        groups[r["system"], r["nodes"], r["collective"]].append(r)
    for (system, nodes, collective), chosen in groups.items():
        report = validate(tutti, chosen, rows)
        name = NAMES.get(collective, collective.replace("_", "-"))
        refused = all(table["median_error"] is None for table in report["tables"])
        cells = ["refused", "", "", ""] if refused else errors(report["overall"])
        yield [system, str(nodes), name, chosen[0]["half"], *cells]


def table(head, lines):
    """Returns a table in Markdown; columns of numbers are aligned to the right."""
    texts = ("tables", "system", "collective", "half")
    rule = "|" + "|".join("---" if name in texts else "---:" for name in head) + "|"
    head, *lines = ("| " + " | ".join(line) + " |" for line in [head, *lines])
    return "\n".join([head, rule, *lines])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutti", default=str(ROOT / "build/release/bin/tutti"), help="the program (build/release/bin/tutti)")
    parser.add_argument("--write", metavar="FILE", help="replace the section of this file between the marks of this script")
    parser.add_argument("--check", metavar="FILE", help="end with status 1 if the section of this file is outdated")
    options = parser.parse_args()
    records = json.loads((FOLDER / "meta.json").read_text())
    rows = collections.defaultdict(list)
    with (FOLDER / "tables.csv").open() as file:
        for row in csv.DictReader(file):
            rows[row["table_id"]].append([row["table_id"], row["size_bytes"], row["time_us"]])
    columns = ["median", "90th percentile", "bias", "in band"]
    script = pathlib.Path(__file__).name
    text = f"`tools/{script}` writes this section.\n\n" + \
        table(["tables", "systems", "rows", *columns, "interval score"], by_group(options.tutti, records, rows)) + "\n\n" + \
        table(["system", "nodes", "collective", "half", *columns], by_system(options.tutti, records, rows))
    if options.write:
        replace_section(options.write, script, text)
    elif options.check:
        if not has_section(options.check, script, text):
            raise SystemExit(f"{script}: {options.check} is outdated; run tools/{script} --write {options.check}")
    else:
        print(text)


if __name__ == "__main__":
    main()
