# %% [markdown]
# # Calibrating with a log
#
# The shipped parameters of a network are those of its data sheet. A log of `all_reduce_perf`, or a
# timeline of a run, tells how fast yours is. This notebook fits a cluster to a log and predicts
# with it.

# %%
from pathlib import Path

import tutti

scenario = tutti.parse(
    """
cluster {
  workers { machine: "cpu-host" count: 4 }
  network { kind: ONE_SWITCH bandwidth_gb_per_s: 10 latency_us: 5 }
}
workload { variable { name: "gradient" shape: 4000000 } forward_ms: 0.5 backward_ms: 1 }
strategy { algorithm: "ring" }
""",
    path="four_hosts.textproto",
)

# %% [markdown]
# A log to try it with: the "measurements" are predictions of a cluster whose network is half as
# fast, so we know what the fit has to find. With your own log, this cell is not needed.

# %%
truth = scenario.copy()
truth.cluster.network.bandwidth_gb_per_s = 5
truth.cluster.network.latency_us = 12
rows = tutti.perf(truth, minbytes="4K", maxbytes="64M", stepfactor=4).rows
half = "time algbw busbw #wrong"
lines = [f"# size count type redop root {half} {half}"]
for row in rows:
    half = "{time_us:.2f} {algbw_gb_per_s:.2f} {busbw_gb_per_s:.2f} 0".format(**row["out_of_place"])
    lines.append(f"{row['bytes']} {row['count']} float sum -1 {half} {half}")
log = Path("measured.txt")
log.write_text("\n".join(lines) + "\n")

# %% [markdown]
# The fit. Its report has every parameter with its uncertainty, and the error of predicted times
# before and after.

# %%
scenario.save("four_hosts.textproto")
fitted = tutti.calibrate(scenario, log=log, output="fitted.textproto")
for note in fitted.notes:
    print(note)
fitted["error_before"], fitted["error_after"]

# %% [markdown]
# The fitted cluster is a file, which a scenario names in place of its own cluster.

# %%
calibrated = scenario.copy()
calibrated.cluster = {"file": "fitted.textproto"}
before, after, real = (one.simulate().step_time_us for one in (scenario, calibrated, truth))
print(f"predicted before {before:.0f} µs, after {after:.0f} µs")
print(f"the cluster of the log takes {real:.0f} µs")
assert abs(after - real) < abs(before - real)
