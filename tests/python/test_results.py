import os
import signal
import threading
import time

import numpy
import pytest

import tutti


def test_simulate_reports_like_the_command(resnet):
    result = resnet.simulate()
    assert result.report["schema_version"] == 1
    assert result.report["tutti_version"] == tutti.__version__
    assert result.step_time_us == result.report["step_time_us"]
    assert 100e3 < result.step_time_us < 130e3  # README: 116 ms
    assert len(result.steps) == 3
    assert result.steps["end_ps"][-1] > result.steps["start_ps"][-1]


def test_step_time_follows_from_the_table(small):
    result = small.simulate()
    steps = result.steps
    assert (steps["end_ps"] - steps["start_ps"])[1:].mean() / 1e6 == result.step_time_us


def test_arrays_are_views_that_outlive_the_result(small):
    spans = small.simulate(timeline=True).spans
    start = spans["start_ps"]
    assert start.dtype == numpy.int64 and not start.flags.owndata and not start.flags.writeable
    assert spans["start_ps"] is start
    with pytest.raises(ValueError):
        start[0] = 1
    expected = start.copy()
    del spans
    small.simulate(timeline=True)
    assert (start == expected).all()


def test_spans_have_tracks_and_kinds(small):
    result = small.simulate(timeline=True)
    spans = result.spans
    kinds = spans.categories("kind")
    assert {kinds[k] for k in set(spans["kind"])} >= {"backward", "pack in flight", "send"}
    assert spans.categories("track")[spans["track"][0]] == result.tracks["track"][spans["track"][0]]
    assert spans["bytes"].max() > 0


def test_messages_carry_all_bytes(small):
    messages = small.simulate(timeline=True).messages
    # In each of two steps, every byte of 4001 float32 is sent 2 (n - 1) times.
    assert messages["bytes"].sum() == 2 * 4001 * 4 * 6
    assert (messages["received_ps"] > messages["sent_ps"]).all()
    assert (messages["sent_ps"] >= 0).all()


def test_tables_convert_to_pandas(small):
    pandas = pytest.importorskip("pandas")
    result = small.simulate(timeline=True)
    frame = result.spans.to_pandas()
    assert len(frame) == len(result.spans)
    assert isinstance(frame["kind"].dtype, pandas.CategoricalDtype)
    by_kind = frame.groupby("kind", observed=True)["duration_ps"].sum()
    assert by_kind["backward"] == 20_000_000 * 4 * 2
    assert list(result.packs.to_pandas()["bytes"]) == [4000, 12004] * 2 or len(result.packs) == 4


def test_saved_timelines_can_be_opened(small, tmp_path):
    path = tmp_path / "mine.tutti"
    result = small.simulate(timeline=path)
    read = tutti.open_timeline(path)
    assert len(read.spans) == len(result.spans) > 0
    assert read.step_time_us == result.step_time_us
    assert sorted(read.spans["start_ps"]) == sorted(result.spans["start_ps"])
    saved = result.save(tmp_path / "again.tutti").scenario
    assert tutti.open_timeline(tmp_path / "again.tutti").scenario == saved
    with pytest.raises(tutti.RequestError):
        tutti.open_timeline(tmp_path / "none.tutti")


def test_exports(small, tmp_path):
    result = small.simulate(timeline=True)
    result.export(tmp_path / "a.svg").export(tmp_path / "a.csv", table="packs")
    result.export(tmp_path / "a.perfetto-trace")
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert (tmp_path / "a.csv").read_text().count("\n") == 5
    assert (tmp_path / "a.perfetto-trace").stat().st_size > 100
    with pytest.raises(tutti.RequestError):
        result.export(tmp_path / "a.bmp")


def test_notebooks_show_pictures_and_tables(small):
    result = small.simulate(timeline=True)
    html = result._repr_html_()
    assert "<svg" in html and "step time" in html
    assert "<table>" in result.spans._repr_html_() and "more rows" in result.spans._repr_html_()
    assert "<table>" in small.plan()._repr_html_()
    assert "<table>" in result.compare(result)._repr_html_()
    assert "&quot;ring&quot;" in small._repr_html_()
    assert "µs" in repr(result) or "ms" in repr(result)


def test_compare_states_the_difference(small):
    fast = small.simulate()
    small.cluster.network.latency_us = 50
    slow = small.simulate()
    comparison = tutti.compare(fast, slow)
    assert comparison["step_time"]["second_us"] == slow.step_time_us
    assert comparison["step_time"]["difference_us"] > 0
    assert comparison.in_words


def test_the_gil_is_released_and_progress_is_called(small):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    shares = []
    small.simulate(steps=20000, remember="off", progress=lambda what, share: shares.append((what, share)))
    done.set()
    thread.join()
    assert counted > 0
    assert all(what == "simulating" and 0 <= share <= 1 for what, share in shares)
    assert shares == sorted(shares, key=lambda one: one[1])


def test_an_exception_of_a_callback_ends_the_command(small):
    def refuse(what, share):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        small.simulate(steps=100_000, remember="off", progress=refuse)


def test_ctrl_c_keeps_completed_results(small):
    def press(what, share):
        if share > 0:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        small.simulate(steps=100_000, remember="off", progress=press)
    assert isinstance(caught.value, tutti.Interrupted)
    assert 0 < len(caught.value.result.steps) < 100_000
    assert "interrupted" in str(caught.value)


def test_threads_run_commands_at_the_same_time(small):
    times = {}

    def run(latency):
        scenario = small.copy()
        scenario.cluster.network.latency_us = latency
        times[latency] = scenario.simulate().step_time_us

    threads = [threading.Thread(target=run, args=(latency,)) for latency in (1, 5, 25, 125)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(times.values()) == [times[latency] for latency in (1, 5, 25, 125)]


def test_unknown_columns_are_reported_with_the_known_ones(small):
    with pytest.raises(KeyError, match="no column 'size'.*bytes"):
        small.simulate().packs["size"]
