#include "core/advice/snippets.h"

#include <algorithm>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "core/advice/lanes.h"
#include "core/advice/nccl_tuner_file.h"
#include "core/base/check.h"
#include "core/calibrate/cluster_figures.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/nccl_model.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

using Language = Snippet::Language;

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
/// torch.nn.parallel.DistributedDataParallel's, where it is not told otherwise.
constexpr std::int64_t kDdpFirstBucket = kMebibyte;
constexpr std::int64_t kDdpBucketMb = 25;
/// The smallest partition that a scenario can give BytePS.
constexpr std::int64_t kLeastPartition = 8;

const char* python(bool yes) { return yes ? "True" : "False"; }

/// The type that most bytes of the gradients have: frameworks that count elements count those.
std::int64_t element_bytes(const Scenario& scenario) {
  std::int64_t most = 0, size = 4;
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16, DataType::kFloat64}) {
    std::int64_t bytes = 0;
    for (const Pack& pack : scenario.plan.packs) {
      if (pack.collective.type == type) bytes += pack.collective.bytes().count();
    }
    if (bytes > most) most = bytes, size = size_of(type).count();
  }
  return size;
}

/// How much the strategy puts into a pack. One pack of everything: all gradients.
std::optional<std::int64_t> pack_bytes(const Scenario& scenario) {
  if (!scenario.strategy.bytes_per_pack) return std::nullopt;
  const std::int64_t bytes = scenario.strategy.bytes_per_pack->count();
  return bytes > 0 ? bytes : std::max<std::int64_t>(1, scenario.workload.bytes().count());
}

constexpr const char* kOtherRule =
    "closes packs by a rule of its own, so its packs differ from what was simulated by up to a gradient each";

/// Changes that make of a strategy that packs by its own fields one that packs as `framework` does.
std::vector<Override> packed_by(const std::string& framework, const std::vector<std::string>& fields) {
  std::vector<Override> changes;
  const auto add = [&](const std::string& field) {
    auto change = parse_override("the snippet for " + framework + ":", field);
    TUTTI_CHECK(change.has_value(), "a field of the scenario's schema");
    changes.push_back(std::move(*change));
  };
  for (const char* name :
       {"bytes_per_pack", "num_packs", "agg_small_grads_max_bytes", "agg_small_grads_max_group",
        "agg_small_grads_exact_group", "all_reduce_merge_scope", "merging", "launch", "update", "shards", "pad_packs"})
    add(fmt::format("strategy.{}=", name));
  for (const std::string& field : fields) add("strategy." + field);
  return changes;
}

// --- one framework each ---

/// tf.distribute.experimental.CommunicationOptions: bytes.
std::optional<Snippet> tensorflow_2(const Scenario& scenario) {
  const Strategy& s = scenario.strategy;
  const std::string_view implementation = traits(s.algorithm).tf_implementation;
  if (s.framework || s.spec || !s.bytes_per_pack || implementation.empty()) return std::nullopt;
  Snippet made{"TensorFlow 2", Language::kPython,
               fmt::format("options = tf.distribute.experimental.CommunicationOptions(\n"
                           "    bytes_per_pack={},\n"
                           "    implementation=tf.distribute.experimental.CommunicationImplementation.{})\n"
                           "strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)\n",
                           s.bytes_per_pack->count(), implementation),
               true, "bytes; only MultiWorkerMirroredStrategy obeys bytes_per_pack"};
  if (!s.collective_all_reduce) {
    made.as_simulated = false;
    made.readings = {
        packed_by(made.framework,
                  {"algorithm=", fmt::format("communication_options.bytes_per_pack={}", s.bytes_per_pack->count()),
                   fmt::format("communication_options.implementation={}", implementation)})};
    if (s.update == Update::kPerPack)
      made.remark += "; updates overlap only with experimental_aggregate_gradients=False and a reduction of one's own";
  }
  return made;
}

/// The entries that stand for a strategy.
std::optional<std::vector<SpecEntry>> spec_entries(const Strategy& s) {
  if (s.spec) return s.spec->entries;
  const SpecAlgorithm* const known = find_spec_algorithm(s.algorithm);
  if (s.framework || s.collective_all_reduce || !known) return std::nullopt;
  return std::vector<SpecEntry>{{std::string(known->name), s.algorithm, s.shards, -1}};
}

/// A limit as the code of both compares it: elements. SOURCE: split_grads_by_size().
std::int64_t limit_in_elements(const Scenario& scenario, std::int64_t limit) {
  const auto& spec = scenario.strategy.spec;
  if (limit < 0 || !spec || spec->limit_unit == LimitUnit::kElements) return limit;
  return limit / element_bytes(scenario);
}

std::optional<Snippet> tensorflow_1(const Scenario& scenario) {
  const Strategy& s = scenario.strategy;
  const auto entries = spec_entries(s);
  if (!entries || s.bytes_per_pack) return std::nullopt;
  const bool benchmarks = s.spec && s.spec->api == SpecApi::kTfCnnBenchmarks;
  std::string list, text;
  bool limits = false;
  for (const SpecEntry& entry : *entries) {
    const std::int64_t limit = limit_in_elements(scenario, entry.limit);
    limits = limits || limit >= 0;
    list += fmt::format("{}(\"{}\", {}, {})", list.empty() ? "" : ", ", entry.name, entry.shards, limit);
    text += entry.name + (entry.shards > 1 ? fmt::format("#{}", entry.shards) : "");
    if (limit >= 0) text += fmt::format(":{}:", limit);
  }
  const bool aggregates = s.agg_small_grads_max_bytes.count() > 0;
  Snippet made;
  made.as_simulated = true;
  if (limits)
    made.remark = "limits are in elements, which is what TensorFlow's code compares, whatever its documentation says";
  if (benchmarks) {
    made.framework = "tf_cnn_benchmarks";
    made.language = Language::kShell;
    made.text = fmt::format("python3 tf_cnn_benchmarks.py --all_reduce_spec={}", text);
    if (aggregates) {
      made.text += fmt::format(" --agg_small_grads_max_bytes={} --agg_small_grads_max_group={}",
                               s.agg_small_grads_max_bytes.count(), s.agg_small_grads_max_group);
    }
    if (s.num_packs > 0) made.text += fmt::format(" --gradient_repacking={}", s.num_packs);
    made.text += "\n";
    return made;
  }
  made.framework = "TensorFlow 1";
  if (!s.spec) {
    const SpecEntry& entry = entries->front();
    made.readings = {{}};
    for (const std::string& field :
         {std::string("strategy.algorithm="), std::string("strategy.shards="),
          fmt::format("strategy.all_reduce_spec.text=[('{}', {}, -1)]", entry.name, entry.shards)}) {
      auto change = parse_override("the snippet for TensorFlow 1:", field);
      TUTTI_CHECK(change.has_value(), "a field of the scenario's schema");
      made.readings.front().push_back(std::move(*change));
    }
  }
  made.text = fmt::format(
      "cross_device_ops = tf.contrib.distribute.MultiWorkerAllReduce(\n"
      "    worker_devices, num_gpus_per_worker,\n"
      "    all_reduce_spec=[{}],\n"
      "    num_packs={},\n    agg_small_grads_max_bytes={},\n    agg_small_grads_max_group={})\n",
      list, s.num_packs, s.agg_small_grads_max_bytes.count(), s.agg_small_grads_max_group);
  return made;
}

/// DistributedDataParallel: MiB; its first bucket: bytes. SOURCE: torch/nn/parallel/distributed.py.
Snippet ddp(std::int64_t bucket, std::optional<std::int64_t> first, bool view) {
  Snippet made{"PyTorch DDP", Language::kPython, "", true, "bucket_cap_mb is in MiB"};
  // A cap that is said is that of the first bucket too.
  const bool usual_cap = bucket == kDdpBucketMb * kMebibyte && first && *first != bucket;
  const std::string cap = usual_cap ? "" : fmt::format("bucket_cap_mb={}, ", in_mebibytes(bucket));
  if (usual_cap && *first == kDdpFirstBucket) {
    made.remark = "what DDP does where it is not told otherwise";
  } else if (first && *first != bucket) {
    made.text = fmt::format("torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = {}\n", *first);
    made.remark = "the first bucket is in bytes";
    if (!usual_cap) {
      made.remark =
          "bucket_cap_mb is in MiB, the first bucket's in bytes, which newer releases obey only where bucket_cap_mb is "
          "left out; the step time is that of the slower ones";
      made.readings.push_back(
          {*parse_override("the snippet for PyTorch DDP:", "strategy.pytorch_ddp.first_bucket_bytes=")});
    }
  }
  made.text +=
      fmt::format("model = DDP(model, device_ids=[local_rank], {}gradient_as_bucket_view={})\n", cap, python(view));
  return made;
}

Snippet deepspeed(std::int64_t elements, bool overlaps, bool as_simulated) {
  return {"DeepSpeed", Language::kJson,
          fmt::format("{{\"zero_optimization\": {{\"stage\": 1, \"reduce_bucket_size\": {}, \"overlap_comm\": {}, "
                      "\"contiguous_gradients\": true}}}}\n",
                      std::max<std::int64_t>(1, elements), overlaps),
          as_simulated, "reduce_bucket_size is in elements"};
}

Snippet megatron(std::optional<std::int64_t> elements, bool overlaps, bool as_simulated) {
  std::string text = "python3 pretrain.py";
  if (overlaps) text += " --overlap-grad-reduce";
  if (elements && overlaps) text += fmt::format(" --ddp-bucket-size {}", std::max<std::int64_t>(1, *elements));
  return {"Megatron-LM", Language::kShell, text + "\n", as_simulated, "--ddp-bucket-size is in elements"};
}

Snippet byteps(std::int64_t bytes, bool as_simulated) {
  return {"BytePS", Language::kShell,
          fmt::format("export BYTEPS_PARTITION_BYTES={}\n", std::max<std::int64_t>(1, bytes)), as_simulated,
          "bytes, rounded up to pages"};
}

Snippet horovod(std::int64_t bytes) {
  return {
      "Horovod", Language::kShell, fmt::format("export HOROVOD_FUSION_THRESHOLD={}\n", bytes), false,
      fmt::format("bytes (the option --fusion-threshold-mb would be {}); Horovod {}", in_mebibytes(bytes), kOtherRule)};
}

/// The setting of the strategy's own framework.
std::optional<Snippet> own_framework(const Scenario& scenario) {
  const auto& framework = scenario.strategy.framework;
  if (!framework) return std::nullopt;
  if (const auto* one = std::get_if<PytorchDdp>(&*framework))
    return ddp(one->bucket_cap.count(), one->first_bucket.count(), one->gradient_as_bucket_view);
  if (const auto* one = std::get_if<DeepSpeed>(&*framework))
    return deepspeed(one->reduce_bucket_size, one->overlap_comm, true);
  if (const auto* one = std::get_if<Megatron>(&*framework))
    return megatron(one->bucket_size, one->overlap_grad_reduce, true);
  if (const auto* one = std::get_if<Horovod>(&*framework))
    return Snippet{"Horovod", Language::kShell,
                   fmt::format("export HOROVOD_FUSION_THRESHOLD={} HOROVOD_CYCLE_TIME={:g} HOROVOD_CACHE_CAPACITY={}\n",
                               one->fusion_threshold.count(), to_us(one->cycle) / 1e3, one->cache_capacity),
                   true, "the threshold in bytes, the cycle in milliseconds"};
  const auto& one = std::get<BytePs>(*framework);
  Snippet snippet = byteps(one.partition.count(), true);
  if (scenario.strategy.distribution == Distribution::kBytePs)
    snippet.text += fmt::format("export BYTEPS_SCHEDULING_CREDIT={} BYTEPS_KEY_HASH_FN={} DMLC_NUM_SERVER={}\n",
                                one.credit, to_string(one.hash), scenario.strategy.servers->count);
  return snippet;
}

/// What would come near it in other frameworks, by their own packing.
void add_others(const Scenario& scenario, std::vector<Snippet>& list) {
  const auto bytes = pack_bytes(scenario);
  if (scenario.strategy.framework || scenario.strategy.collective_all_reduce || !bytes) return;
  const AlgorithmTraits& algorithm = traits(scenario.strategy.algorithm);
  const std::int64_t elements = std::max<std::int64_t>(1, *bytes / element_bytes(scenario));
  const auto add = [&](Snippet snippet, const std::vector<std::string>& fields) {
    snippet.as_simulated = false;
    if (snippet.remark.find(kOtherRule) == std::string::npos)
      snippet.remark += fmt::format("; {} {}", snippet.framework, kOtherRule);
    snippet.readings = {packed_by(snippet.framework, fields)};
    list.push_back(std::move(snippet));
  };
  if (!algorithm.torch_backend.empty()) {
    Snippet torch = ddp(*bytes, std::nullopt, true);
    Snippet ring_all_reduce = horovod(*bytes);
    if (!algorithm.uses_nccl()) {
      torch.text = fmt::format("torch.distributed.init_process_group(\"{}\")\n", algorithm.torch_backend) + torch.text;
      ring_all_reduce.remark += ", here one that was built with Gloo's or MPI's rings";
    }
    add(std::move(torch),
        {"pytorch_ddp.bucket_cap_mb=" + in_mebibytes(*bytes), "pytorch_ddp.gradient_as_bucket_view=true"});
    add(std::move(ring_all_reduce), {fmt::format("horovod.fusion_threshold={}", *bytes)});
  }
  if (algorithm.nccl == NcclPart::kAll) {
    add(deepspeed(elements, true, false),
        {fmt::format("deepspeed.reduce_bucket_size={}", elements), "deepspeed.overlap_comm=true"});
    add(megatron(elements, true, false),
        {fmt::format("megatron.ddp_bucket_size={}", elements), "megatron.overlap_grad_reduce=true"});
  }
  if (algorithm.sums_on == SumsOn::kHosts) {
    const std::int64_t partition = std::max<std::int64_t>(kLeastPartition, *bytes);
    add(byteps(partition, false), {fmt::format("byteps.partition_bytes={}", partition)});
  }
}

/// NCCL's choice where the scenario says something of it, as variables and as a file for its
/// example tuner plugin.
void add_nccl(const Scenario& scenario, const Scenario& now, const Library& library, Snippets& made) {
  if (traits(scenario.strategy.algorithm).nccl != NcclPart::kAll || scenario.plan.packs.empty()) return;
  const bool rings = !scenario.plan.packs.front().collective.nccl;
  const auto message = scenario_message(scenario.text, scenario.file);
  if (!message) return;
  const auto variables = nccl_variables((*message)->strategy().nccl());
  const auto& channels = scenario.strategy.channels;
  std::string exported;
  bool choice = channels || rings;  // rather than paths and buffers, of which no file for the tuner says anything
  for (const auto& [name, value] : variables) {
    exported += fmt::format(" {}={}", name, value);
    choice = choice || name == "NCCL_ALGO" || name == "NCCL_PROTO" || name.ends_with("_NCHANNELS");
  }
  if (rings) exported += " NCCL_ALGO=Ring NCCL_PROTO=Simple";
  if (channels) exported += fmt::format(" NCCL_MIN_NCHANNELS={0} NCCL_MAX_NCHANNELS={0}", *channels);
  // NCCL's own choice needs no setting.
  if (channels || !variables.empty()) {
    made.list.push_back({"NCCL's variables", Language::kShell, fmt::format("export{}\n", exported), true,
                         "for trying it out: they hold for every collective of the process"});
  }
  if (!choice) return;
  auto file = nccl_tuner_file(scenario, now, library);
  if (!file) {
    made.notes.push_back("there is no file for NCCL's tuner: " + file.error());
    return;
  }
  made.list.push_back({"NCCL's tuner", Language::kNcclTuner, std::move(file->text), true, std::move(file->remark)});
}

}  // namespace

std::string_view to_string(Snippet::Language language) {
  switch (language) {
    case Language::kPython: return "python";
    case Language::kJson: return "json";
    case Language::kShell: return "shell";
    case Language::kNcclTuner: return "nccl tuner";
  }
  return "";
}

std::string in_mebibytes(std::int64_t bytes) {
  if (bytes % kMebibyte == 0) return fmt::format("{}", bytes / kMebibyte);
  // As many digits as it takes to come back to the same byte.
  return fmt::format("{}", static_cast<double>(bytes) / static_cast<double>(kMebibyte));
}

Snippets snippets_of(const Scenario& recommended, const Scenario& now, const Library& library) {
  Snippets made;
  if (auto own = own_framework(recommended)) made.list.push_back(std::move(*own));
  if (auto tf = tensorflow_2(recommended)) made.list.push_back(std::move(*tf));
  if (auto tf = tensorflow_1(recommended)) made.list.push_back(std::move(*tf));
  add_others(recommended, made.list);
  add_nccl(recommended, now, library, made);
  return made;
}

}  // namespace tutti::core
