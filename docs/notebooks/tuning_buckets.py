# %% [markdown]
# # Tuning buckets
#
# PyTorch's DDP reduces gradients in buckets of 25 MB. Is that a good size for your model on your
# cluster? This notebook predicts the step time for other sizes, finds the best one, and shows why
# it is better.

# %%
import tutti

scenario = tutti.parse(
    """
cluster {
  workers { machine: "dgx1-v100" count: 2 }
  network { kind: ONE_SWITCH link: "edr" }
}
workload { model: "resnet50_torchvision" batch: 64 layer_times: "resnet50_torchvision_v100" }
strategy { algorithm: "nccl" pytorch_ddp { bucket_cap_mb: 25 } }
""",
    path="ddp.textproto",
)
scenario.check()

# %% [markdown]
# The next cell predicts the step time with these settings. In a notebook, a cell that ends with
# `result` shows a picture of the last training step.

# %%
result = scenario.simulate(timeline=True)
result

# %% [markdown]
# How long is each bucket in flight? The tables of a result have NumPy arrays as columns, and
# `to_pandas` converts them to data frames.

# %%
packs = result.packs.to_pandas()
packs["in_flight_ms"] = (packs["end_ps"] - packs["first_start_ps"]) / 1e9
packs[packs["step"] == packs["step"].max()][["pack", "bytes", "in_flight_ms"]]

# %% [markdown]
# A sweep predicts several bucket sizes, in parallel. After Ctrl-C, the completed points are kept.

# %%
sweep = scenario.sweep({"strategy.pytorch_ddp.bucket_cap_mb": [1, 2, 5, 10, 25, 50, 100]})
points = sweep.to_pandas()
points[["strategy.pytorch_ddp.bucket_cap_mb", "step_time_us", "exposed_communication_us", "packs"]]

# %%
sweep.best()

# %% [markdown]
# `tune` searches for the best combination of several settings. It also reports how certain its
# advice is, and the lines to paste into the training script.

# %%
sizes = [1, 2, 5, 10, 25, 50]
tuning = scenario.tune({"strategy.pytorch_ddp.bucket_cap_mb": sizes}, evaluations=30)
tuning

# %%
for snippet in tuning.snippets[:1]:
    print(snippet["text"])

# %% [markdown]
# The next cell predicts the step time with the recommended settings, and compares both results.

# %%
tuned = tuning.apply().simulate(timeline=True)
assert tuned.step_time_us <= result.step_time_us
for sentence in result.compare(tuned).in_words:
    print(sentence)
