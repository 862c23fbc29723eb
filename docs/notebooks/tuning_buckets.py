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
# The present settings: a prediction, with the picture of the last step. In a notebook, `result`
# alone shows it.

# %%
result = scenario.simulate(timeline=True)
result

# %% [markdown]
# How long is each bucket in flight, and when are its gradients ready? Tables are NumPy arrays, and
# data frames on request.

# %%
packs = result.packs.to_pandas()
packs["in_flight_ms"] = (packs["end_ps"] - packs["first_start_ps"]) / 1e9
packs[packs["step"] == packs["step"].max()][["pack", "bytes", "in_flight_ms"]]

# %% [markdown]
# A sweep over bucket sizes. Points are simulated in parallel; Ctrl-C keeps those that are done.

# %%
sweep = scenario.sweep({"strategy.pytorch_ddp.bucket_cap_mb": [1, 2, 5, 10, 25, 50, 100]})
points = sweep.to_pandas()
points[["strategy.pytorch_ddp.bucket_cap_mb", "step_time_us", "exposed_communication_us", "packs"]]

# %%
sweep.best()

# %% [markdown]
# The search tries more than one setting at a time, tells how certain its advice is, and gives the
# lines to paste into the training script.

# %%
sizes = [1, 2, 5, 10, 25, 50]
tuning = scenario.tune({"strategy.pytorch_ddp.bucket_cap_mb": sizes}, evaluations=30)
tuning

# %%
for snippet in tuning.snippets[:1]:
    print(snippet["text"])

# %% [markdown]
# With the recommended settings:

# %%
tuned = tuning.apply().simulate(timeline=True)
assert tuned.step_time_us <= result.step_time_us
for sentence in result.compare(tuned).in_words:
    print(sentence)
