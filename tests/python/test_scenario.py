import re
from pathlib import Path

import pytest

import tutti

from conftest import SOURCE


def test_fields_are_attributes(small):
    assert small.strategy.algorithm == "ring"
    assert small.strategy.bytes_per_pack == 4096
    assert small.cluster.workers[0].count == 4
    assert small.cluster.network.latency_us == 5.0
    assert small.strategy.shards is None
    assert [v.name for v in small.workload.variable] == ["a", "b"]
    assert small.run.steps == 2


def test_setting_a_field_changes_nothing_else(small):
    before = small.to_text()
    small.strategy.bytes_per_pack = 16384
    assert small.to_text() == before.replace("4096", "16384")
    small.strategy.bytes_per_pack = None
    assert small.strategy.bytes_per_pack is None
    assert "# a remark" in small.to_text()


def test_set_accepts_paths_messages_and_lists(small):
    small.set("cluster.workers[0].count", 2).set("run.seed", 7)
    assert small.cluster.workers[0].count == 2
    assert small.run.seed == 7
    small.workload.variable = [{"name": "only", "shape": [10, 20]}]
    assert small.workload.to_dict()["variable"] == [{"name": "only", "shape": [10, 20]}]
    small.cluster.workers.append({"machine": "cpu-host", "count": 1})
    assert len(small.cluster.workers) == 2
    del small.cluster.workers[1]
    assert len(small.cluster.workers) == 1
    small.check()


def test_fields_accept_numpy_numbers_and_bools(small):
    numpy = pytest.importorskip("numpy")
    small.run.steps = numpy.int64(5)
    small.cluster.network.latency_us = numpy.float64(2.5)
    assert small.run.steps == 5 and small.cluster.network.latency_us == 2.5


def test_unknown_fields_are_attribute_errors_with_a_hint(small):
    with pytest.raises(AttributeError) as caught:
        small.strategy.shard = 3
    assert isinstance(caught.value, tutti.Error)
    assert "shards" in caught.value.hint
    assert not hasattr(small.strategy, "nonsense")


def test_errors_have_file_line_column_and_remedy():
    with pytest.raises(tutti.RequestError) as caught:
        tutti.parse(
            'cluster { workers { machine: "dgx-a1000" } }\nrun { steps: -1 }', path="mine.textproto"
        )
    problems = caught.value.problems
    # The missing strategy and workload are reported, too, at the beginning of the file.
    unknown = [p for p in problems if p.code == "unknown-name"]
    assert [p[1:4] for p in unknown] == [("mine.textproto", 1, 30)]
    assert unknown[0].hint == 'did you mean "dgx-a100"?'
    assert any(p.line == 2 and p.field == "Run.steps" for p in problems)
    assert caught.value.file == "mine.textproto"
    assert isinstance(caught.value, ValueError)
    # The exception has every attribute of its first problem.
    for attribute in (*problems[0]._fields, "hint"):
        assert getattr(caught.value, attribute) == getattr(problems[0], attribute), attribute


def test_the_codes_of_problems_are_documented():
    table = (SOURCE / "docs" / "output-and-errors.md").read_text(encoding="utf-8").partition("| code | meaning |")[2]
    documented = set(re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    assert {"invalid", "too-small", "too-large", "stopped"} <= documented
    for file in Path(tutti.__file__).parent.glob("*.py"):
        used = set(re.findall(r"\bcode(?:: str)?\s*=\s*\"([^\"]+)\"", file.read_text(encoding="utf-8")))
        assert used <= documented, f"{file.name}: {used - documented}"


def test_load_reads_a_file_and_the_files_that_it_names(source, tmp_path):
    scenario = tutti.load(source / "scenarios" / "04_resnet50_ring.textproto")
    assert scenario.check()["cluster"] == "2 × dgx1-v100, 16 GPUs"
    with pytest.raises(tutti.RequestError, match="none.textproto"):
        tutti.load(tmp_path / "none.textproto")


def test_help_and_dir_come_from_the_schema(small):
    assert "algorithm" in dir(small.strategy)
    assert "Default 3" in small.run.help("steps")
    assert "strategy" in dir(small)


def test_copy_and_save_are_independent(small, tmp_path):
    other = small.copy()
    other.run.steps = 9
    assert small.run.steps == 2
    other.save(tmp_path / "saved.textproto")
    assert tutti.load(tmp_path / "saved.textproto").run.steps == 9


@pytest.mark.parametrize(
    "content, text, line, column",
    [
        (b"TUTTITL1\xb7", "a timeline, not a scenario; use tutti.open_timeline()", 0, 0),
        (b"SQLite format 3\0", "a sweep, not a scenario; use tutti.Sweep()", 0, 0),
        (b"# a\nrun {\n  # caf\xe9\n}", "byte 0xe9 is not valid UTF-8", 3, 8),
    ],
)
def test_files_that_are_not_scenarios(tmp_path, content, text, line, column):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(tutti.RequestError) as caught:
        tutti.load(path)
    assert text in str(caught.value)
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(path), line, column)


def test_values_with_units_read_as_numbers(small):
    small.strategy.bytes_per_pack = "25MiB"
    small.cluster.network.latency_us = "1.5ms"
    assert small.strategy.bytes_per_pack == 25 * 2**20
    assert isinstance(small.strategy.bytes_per_pack, int)
    assert small.cluster.network.latency_us == 1500.0
    assert "bytes_per_pack: 25MiB" in small.to_text() and "latency_us: 1.5ms" in small.to_text()
    assert small.strategy.to_dict()["bytes_per_pack"] == 25 * 2**20


def test_the_only_element_needs_no_index(small):
    small.cluster.workers.count = 2
    assert small.cluster.workers.count == 2 and small.cluster.workers[0].count == 2
    small.cluster.workers.append({"machine": "cpu-host"})
    with pytest.raises(AttributeError, match=r"cluster.workers has 2 elements; use cluster.workers\[0\].count"):
        small.cluster.workers.count = 4
    with pytest.raises(tutti.FieldError, match="cout"):
        tutti.init().cluster.workers.cout


def test_quantities_may_be_written_as_reports_print_them(small):
    small.strategy.bytes_per_pack = "25 MiB"
    assert "bytes_per_pack: 25MiB" in small.to_text() and small.strategy.bytes_per_pack == 25 << 20
    small.cluster.network.latency_us = "1.5 ms"
    assert small.cluster.network.latency_us == 1500
    small.check()


def test_arrays_of_numpy_are_values(small):
    numpy = pytest.importorskip("numpy")
    small.workload.variable[0].shape = numpy.array([10, 20])
    assert list(small.workload.variable[0].shape) == [10, 20]
    small.strategy.shards = numpy.int64(2)
    assert small.strategy.shards == 2


def test_whole_numbers_may_be_floats(small):
    numpy = pytest.importorskip("numpy")
    for value in (numpy.float64(8192), 8192.0, "8192.0", "8e3", numpy.float32(8192)):
        small.strategy.bytes_per_pack = value
        assert small.strategy.bytes_per_pack == (8000 if value == "8e3" else 8192), value
        assert isinstance(small.strategy.bytes_per_pack, int)
        small.check()


@pytest.mark.parametrize("value", [b"4096", [4096], (), {1}, object(), 1j, len])
def test_values_of_wrong_types_are_named(small, value):
    before = small.to_text()
    with pytest.raises(tutti.RequestError, match="strategy.bytes_per_pack: expected .* found a value of type"):
        small.strategy.bytes_per_pack = value
    assert small.to_text() == before


def test_wrong_types_of_arguments_are_errors_of_this_package(small):
    numpy = pytest.importorskip("numpy")
    result = small.simulate()
    for call, words in (
        (lambda: tutti.load(None), "the path of a scenario, found a value of type NoneType"),
        (lambda: tutti.load(""), "the path is empty"),
        (lambda: tutti.parse(None), "the text of a scenario or a dictionary"),
        (lambda: tutti.open_timeline(3), "the path of a timeline"),
        (lambda: tutti.Sweep(None), "the path of a sweep"),
        (lambda: tutti.compare(small, result), "after simulate"),
        (lambda: small.simulate(progress=5), "progress: expected True, a function or None"),
        (lambda: small.simulate(format="json"), "format is not an option in Python"),
        (lambda: small.simulate(seed=object()), "expected a number, a text or a list"),
        (lambda: small.set("run.seed"), "the value is missing"),
        (lambda: small.cluster.workers.append(5), "expected a dictionary"),
        (lambda: small.cluster.workers["a"], "expected the number of an element"),
        (lambda: small.set("run.seed", numpy.array([1, 2])), "expected one value"),
        (lambda: small.sweep({"run.seed": [object()]}), "expected a number, a text or a list"),
    ):
        with pytest.raises(tutti.RequestError, match=words):
            call()


def test_texts_and_lists_that_cannot_be_passed_on_are_errors_that_say_so(small, tmp_path):
    nested = []
    nested.append(nested)
    for call, words in (
        (lambda: tutti.parse("\ud800"), "cannot represent"),
        (lambda: tutti.parse(b"\xff"), "cannot represent"),
        (lambda: tutti.parse("a\0"), "NUL"),
        (lambda: tutti.load("a\0"), "NUL"),
        (lambda: tutti.load("/dev/zero"), "longer than the limit"),
        (lambda: tutti.load(b"\xff"), "cannot represent"),
        (lambda: tutti.parse({"\ud800": 1}), "cannot represent"),
        (lambda: tutti.parse({1: 2}), "expected the path of a field"),
        (lambda: small.set("run.seed", "\ud800"), "cannot represent"),
        (lambda: small.save(bytes(tmp_path) + b"/\xff"), "cannot represent"),
        (lambda: small.sweep({"run.seed": nested}), "nested too deeply"),
        (lambda: small.sweep({"run.seed": "\ud800"}), "cannot represent"),
        (lambda: small.simulate(timeline="\ud800"), "cannot represent"),
    ):
        with pytest.raises(tutti.RequestError, match=words):
            call()
    assert list(tmp_path.iterdir()) == []


def test_scenarios_from_dictionaries(small):
    again = tutti.parse(small.to_dict())
    assert again.to_dict() == small.to_dict()
    assert again.simulate().step_time_us == small.simulate().step_time_us
    assert tutti.parse(small.to_text().encode()).to_text() == small.to_text()
    small.set({"run.seed": 3, "strategy.shards": 2})
    assert (small.run.seed, small.strategy.shards) == (3, 2)


def test_lists_have_slices_and_extend(small):
    assert [v.name for v in small.workload.variable[:1]] == ["a"]
    small.workload.variable.extend([{"name": "c", "shape": [4]}, {"name": "d", "shape": [5]}])
    assert [v.name for v in small.workload.variable[1:]] == ["b", "c", "d"]


def test_the_network_model_can_be_written_as_in_the_scenario(small):
    assert small.simulate(network_model="FAIR").report["network_model"] == "fair"
