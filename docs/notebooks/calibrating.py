# %% [markdown]
# # Calibrating with a log
#
# The shipped parameters of a network are those of its data sheet. A log of `all_reduce_perf`, or a
# timeline of a run, shows how fast your own network is. This notebook fits the parameters of a
# cluster to a log, and predicts with the fitted cluster.

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
# This cell makes a log for the example. Its "measurements" are predictions for a cluster whose
# network is half as fast, so we know which parameters the fit has to find. With your own log, this
# cell is not needed.

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
# `tutti.calibrate` fits the cluster. Its report has every parameter with its uncertainty, and the
# error of predicted times before and after the fit.

# %%
scenario.save("four_hosts.textproto")
fitted = tutti.calibrate(scenario, log=log, output="fitted.textproto")
for note in fitted.notes:
    print(note)
fitted["error_before"], fitted["error_after"]

# %% [markdown]
# The fitted cluster is in a file. A scenario can name this file instead of describing a cluster.

# %%
calibrated = scenario.copy()
calibrated.cluster = {"file": "fitted.textproto"}
before, after, real = (one.simulate().step_time_us for one in (scenario, calibrated, truth))
print(f"predicted before {before:.0f} µs, after {after:.0f} µs")
print(f"the cluster of the log takes {real:.0f} µs")
assert abs(after - real) < abs(before - real)
