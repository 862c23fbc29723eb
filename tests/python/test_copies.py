"""Copies of scenarios and results, in this process and in others, and after a change of folder."""

import copy
import multiprocessing
import os
import pickle

import pytest

import tutti

from conftest import SMALL


def step_time(scenario):
    return scenario.simulate().step_time_us


def result_of(scenario):
    return scenario.simulate(timeline=True)


def direct():
    rank, ranks = tutti.rank, tutti.ranks
    a = tutti.Algorithm("direct", chunks=ranks)
    with a.lane():
        with a.loop("d", 1, ranks - 1) as d:
            a.send(a.data[rank + d], to=rank + d)
        with a.loop("d", 1, ranks - 1) as d:
            a.reduce(a.data[rank], source=rank - d)
        with a.loop("d", 1, ranks - 1) as d:
            a.send(a.data[rank], to=rank + d)
        with a.loop("d", 1, ranks - 1) as d:
            a.receive(a.data[rank - d], source=rank - d)
    return a


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_scenarios_can_be_copied(small, copied):
    other = copied(small)
    other.run.steps = 5
    assert other.path == small.path
    assert (small.run.steps, other.run.steps) == (2, 5)
    assert copied(small.strategy).bytes_per_pack == 4096
    assert copied(small.cluster.workers)[0].count == 4


def test_results_can_be_copied(small):
    result = small.simulate(timeline=True)
    other = pickle.loads(pickle.dumps(result))
    assert other.report == result.report
    for name in ("spans", "messages", "packs", "links", "steps", "path"):
        first, second = getattr(result, name), getattr(other, name)
        assert len(first) == len(second) > 0, name
    # A file has the spans in the order of its blocks.
    assert sorted(other.spans["start_ps"]) == sorted(result.spans["start_ps"])
    assert result.compare(other).in_words == ["both timelines have the same step time"]
    with pytest.raises(TypeError, match="to_pandas"):
        pickle.dumps(result.packs)


def test_sweeps_can_be_copied(small, tmp_path):
    sweep = small.sweep({"strategy.shards": [1, 2]}, output=tmp_path / "a.sweep")
    other = copy.deepcopy(sweep)
    (tmp_path / "a.sweep").unlink()
    assert len(other) == 2 and other.best() == sweep.best() and other.path == sweep.path


@pytest.mark.starts_python
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_take_scenarios_and_return_results(small, method, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__) + os.pathsep + os.environ.get("PYTHONPATH", ""))
    other = small.copy().set("strategy.bytes_per_pack", 0)
    # If an argument cannot be unpickled, Pool.map() waits forever; map_async() has a time limit.
    with multiprocessing.get_context(method).Pool(2) as pool:
        times = pool.map_async(step_time, [small, other]).get(timeout=100)
        results = pool.map_async(result_of, [small, other]).get(timeout=100)
    assert times == [step_time(small), step_time(other)]
    assert [result.step_time_us for result in results] == times


def test_a_scenario_is_found_after_a_change_of_folder(tmp_path, monkeypatch):
    (tmp_path / "first" / "second").mkdir(parents=True)
    direct().save(tmp_path / "mine.tutti-algorithm")
    text = SMALL.replace('algorithm: "ring"', 'custom { file: "mine.tutti-algorithm" }')
    (tmp_path / "mine.textproto").write_text(text)
    monkeypatch.chdir(tmp_path / "first")
    scenario = tutti.load("../mine.textproto")
    before = step_time(scenario)
    monkeypatch.chdir(tmp_path / "first" / "second")
    assert scenario.check()["cluster"]
    assert step_time(scenario) == step_time(scenario.copy()) == before
    assert len(scenario.sweep({"strategy.bytes_per_pack": [0, 4096]})) == 2
    assert tutti.perf(scenario, maxbytes=64).rows
    assert scenario.path == "../mine.textproto"


def test_a_saved_scenario_keeps_the_algorithm_that_it_uses(small, tmp_path):
    algorithm = direct()
    expected = step_time(small.use(algorithm))
    os.makedirs(tmp_path / "colleague")
    small.save(tmp_path / "mine.textproto")
    assert small.strategy.custom.file == "direct.tutti-algorithm"
    for name in ("mine.textproto", "direct.tutti-algorithm"):
        os.rename(tmp_path / name, tmp_path / "colleague" / name)
    assert step_time(tutti.load(tmp_path / "colleague" / "mine.textproto")) == expected

    (tmp_path / "direct.tutti-algorithm").write_text("another one")
    with pytest.raises(tutti.RequestError, match="has another algorithm") as caught:
        tutti.parse(SMALL).use(direct()).save(tmp_path / "mine.textproto")
    assert caught.value.code == "conflict"
    assert (tmp_path / "direct.tutti-algorithm").read_text() == "another one"


def test_an_algorithm_can_replace_a_path(small):
    small.cluster.workers[0].machine = "dgx1-v100"
    table = tutti.perf(small, algorithms=["ring", direct()], minbytes=1024, maxbytes=1024)
    assert len(table.report["algorithms"]) == 2 and len(table.rows) == 1
    sweep = small.set("strategy.algorithm", None).sweep({"strategy.custom.file": [direct()]})
    assert list(sweep.points["status"]) == ["done"]
