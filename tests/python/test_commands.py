import json
import re

import pytest

import tutti


def test_plan_has_packs_with_gradients(small):
    plan = small.plan(check=True)
    assert [pack["bytes"] for pack in plan.packs] == [12004, 4000]
    assert plan.packs[0]["gradients"][0]["name"] == "b"
    assert plan["schema_version"] == 1


def test_sweep_returns_points_as_a_table(small, tmp_path):
    over = {"strategy.bytes_per_pack": [0, 4096], "cluster.network.latency_us": [1, 5.5, 20]}
    sweep = small.sweep(over, output=tmp_path / "a.sweep")
    assert sweep.fields == list(over)
    assert len(sweep) == 6
    assert list(sweep.points["cluster.network.latency_us"]) == [1, 5.5, 20] * 2
    assert sweep.points["strategy.bytes_per_pack"].dtype.kind == "i"
    assert sweep.best()["cluster.network.latency_us"] == 1
    again = tutti.Sweep(tmp_path / "a.sweep")
    assert list(again.points["step_time_us"]) == list(sweep.points["step_time_us"])
    assert "step time" in sweep._repr_html_()
    pytest.importorskip("pandas")
    assert sweep.to_pandas()["step_time_us"].notna().all()


def test_refused_points_have_a_message(small):
    sweep = small.sweep({"strategy.algorithm": ["ring", "nonsense"]})
    assert list(sweep.points["status"]) == ["done", "refused"]
    assert "nonsense" in sweep.points["message"][1]
    assert sweep.points["step_time_us"][1] != sweep.points["step_time_us"][1]
    assert sweep.best() == {"strategy.algorithm": "ring"}


def test_sweeps_accept_ranges_of_the_command_line(small):
    assert len(small.sweep({"strategy.bytes_per_pack": "1KiB..16KiB*2"})) == 5


def test_sweeps_accept_arrays_ranges_and_generators(small):
    numpy = pytest.importorskip("numpy")
    field = "strategy.bytes_per_pack"
    for values, expected in (
        (numpy.logspace(10, 12, 3, base=2), [1024, 2048, 4096]),
        (numpy.array([1024, 4096]), [1024, 4096]),
        (range(1024, 4096, 1024), [1024, 2048, 3072]),
        ((1024 * n for n in (1, 2)), [1024, 2048]),
        (numpy.int64(1024), [1024]),
        (["1 KiB", "2KiB"], [1024, 2048]),
    ):
        assert list(small.sweep({field: values}).points[field]) == expected
    with pytest.raises(tutti.RequestError, match="expected a dictionary, such as"):
        small.sweep("strategy.shards=1,2")


def test_tune_recommends_and_applies(small):
    tuning = small.tune({"strategy.bytes_per_pack": [0, 4096, 16384]}, evaluations=20)
    assert tuning["settings_in_all"] == 3
    tuned = tuning.apply()
    assert tuned.simulate().step_time_us <= small.simulate().step_time_us
    assert tuning._repr_html_()


def test_explain_returns_an_explanation(small):
    assert small.explain().report["step_time_us"] > 0


def test_perf_predicts_scenarios_and_nccl(small):
    table = tutti.perf(small, minbytes="1K", maxbytes="16K", stepfactor=4)
    assert [row["bytes"] for row in table.rows] == [1024, 4096, 16384]
    nccl = tutti.perf(cluster="hgx-h100", nodes=2, minbytes=1 << 20, maxbytes=1 << 20)
    assert nccl.rows[0]["bytes"] == 1 << 20
    pytest.importorskip("pandas")
    assert len(table.to_pandas()) == 3


def test_unknown_options_are_refused(small):
    with pytest.raises(tutti.RequestError, match="--sed"):
        small.simulate(sed=3)
    with pytest.raises(tutti.RequestError) as caught:
        small.simulate(network_model="fast")
    assert caught.value.problems[0].field == "--network-model"


def test_calibrate_fits_a_log(small, tmp_path, source):
    log = tmp_path / "measured.txt"
    rows = tutti.perf(small, minbytes="4K", maxbytes="64K").rows
    half = "time algbw busbw #wrong"
    lines = [f"# size count type redop root {half} {half}"]
    lines += [
        f"{row['bytes']} {row['count']} float sum -1 {time:.2f} 0 0 0 {time:.2f} 0 0 0"
        for row in rows
        for time in [2 * row["out_of_place"]["time_us"]]
    ]
    log.write_text("\n".join(lines) + "\n")
    path = tmp_path / "small.textproto"
    small.save(path)
    fitted = tutti.calibrate(small, log=log, output=tmp_path / "fitted.textproto")
    assert fitted["error_after"] != fitted["error_before"]
    assert (tmp_path / "fitted.textproto").read_text().startswith("#")


def test_init_and_names(tmp_path):
    names = tutti.names()
    assert "dgx-a100" in names["machines"] and "ring" in names["algorithms"]
    scenario = tutti.init(model="vgg16_torchvision", machine="dgx-a100", nodes=4, link="hdr")
    assert scenario.cluster.workers[0].count == 4
    scenario.simulate()


def test_validate_and_import_refuse_missing_files(tmp_path):
    with pytest.raises(tutti.RequestError):
        tutti.validate(tmp_path / "none.csv", tmp_path / "none.json")
    with pytest.raises(tutti.RequestError):
        tutti.import_trace(tmp_path / "none.json")


def test_run_executes_for_real(small):
    small.run.steps = 2
    small.workload.backward_ms = 0.2
    result = small.run(timeline=True)
    assert len(result.steps) == 2
    assert result.step_time_us > 0
    assert len(result.spans) > 0
    assert small.simulate().compare(result)["step_time"]["second_us"] == result.step_time_us


def test_the_best_settings_over_seeds_are_those_with_the_lowest_median(small, tmp_path):
    small.set({"run.compute_jitter_percent": 30, "workload.forward_ms": 1, "workload.backward_ms": 2})
    file = tmp_path / "seeds.sweep"
    over = {"strategy.bytes_per_pack": [0, 4096], "run.seed": range(1, 8)}
    sweep = small.sweep(over, output=file, json=tmp_path / "seeds.json")
    rows = sweep.over_seeds()
    assert [row["seeds"] for row in rows] == [7, 7] and rows[0]["median_us"] <= rows[1]["median_us"]
    assert sweep.best() == {"strategy.bytes_per_pack": rows[0]["strategy.bytes_per_pack"]}
    # The command line has the same statistics.
    expected = json.loads((tmp_path / "seeds.json").read_text())["over_seeds"]
    for row, line in zip(rows, expected):
        for name in ("median_us", "lower_quartile_us", "upper_quartile_us", "min_us", "max_us"):
            assert row[name] == pytest.approx(line[name], rel=1e-9), name
    assert "median" in sweep._repr_html_()


def test_none_leaves_a_field_unset_in_a_sweep(small):
    sweep = small.sweep({"strategy.bytes_per_pack": [None, 4096]})
    assert sorted(sweep.points["packs"]) == [2, 2] and list(sweep.points["status"]) == ["done"] * 2
    with pytest.raises(tutti.RequestError, match="values are missing"):
        small.sweep({"strategy.bytes_per_pack": None})


def test_times_that_differ_look_different(resnet):
    sweep = resnet.sweep({"strategy.bytes_per_pack": ["1MiB", "2MiB", "3MB"]})
    shown = sweep._repr_html_()
    times = re.findall(r"<tr><td>([^<]*)</td>", shown)
    assert len(times) == len(set(times)) == 3, shown
    assert len({f"{us / 1000:.0f}" for us in sweep.points["step_time_us"]}) < 3, "three digits are not enough"
    assert all(f"<td>{size}</td>" in shown for size in ("1 MiB", "2 MiB", "3 MB")), shown


def test_html_of_an_explanation_and_of_a_tuning(resnet):
    explanation = resnet.explain()
    shown = explanation._repr_html_()
    assert "exposed communication" in shown and "critical path" in shown
    assert all(part.split(":")[0] in shown for part in explanation.report["critical_path_in_words"])
    assert f"<td>{explanation.report['what_if'][0]['what']}</td>" in shown
    tuning = resnet.tune(evaluations=8)
    shown = tuning._repr_html_()
    assert "strategy.bytes_per_pack" in tuning.best_settings
    assert re.search(r"<td>strategy.bytes_per_pack</td><td>(\d+ (MiB|KiB|MB|KB|bytes)|not set)</td>", shown)
    assert ("recommended: change" if tuning.change else "recommended: keep the current settings; ") in shown
