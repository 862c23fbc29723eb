#include "core/advice/snippets.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "core/advice/lanes.h"
#include "core/nccl/collective_time.h"

namespace tutti::core {
namespace {

using Language = Snippet::Language;

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
/// torch.nn.parallel.DistributedDataParallel's, where it is not told otherwise.
constexpr std::int64_t kDdpFirstBucket = kMebibyte;
constexpr std::int64_t kDdpBucketMb = 25;

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

bool is_ring_or_nccl(Algorithm algorithm) {
  return algorithm == Algorithm::kRing || algorithm == Algorithm::kNccl || algorithm == Algorithm::kTfRing;
}

bool sums_on_servers(Algorithm algorithm) {
  return algorithm == Algorithm::kPscpu || algorithm == Algorithm::kPscpuPscpu || algorithm == Algorithm::kNcclPscpu;
}

constexpr const char* kOtherRule =
    "closes packs by a rule of its own, so its packs differ from what was simulated by up to a gradient each";

// --- one framework each ---

/// tf.distribute.experimental.CommunicationOptions: bytes.
std::optional<Snippet> tensorflow_2(const Scenario& scenario) {
  const Strategy& s = scenario.strategy;
  if (s.framework || s.spec || !s.bytes_per_pack || !is_ring_or_nccl(s.algorithm)) return std::nullopt;
  const char* const implementation = s.algorithm == Algorithm::kNccl ? "NCCL" : "RING";
  Snippet made{"TensorFlow 2", Language::kPython,
               fmt::format("options = tf.distribute.experimental.CommunicationOptions(\n"
                           "    bytes_per_pack={},\n"
                           "    implementation=tf.distribute.experimental.CommunicationImplementation.{})\n"
                           "strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)\n",
                           s.bytes_per_pack->count(), implementation),
               s.algorithm != Algorithm::kRing || s.collective_all_reduce.has_value(),
               "bytes; only MultiWorkerMirroredStrategy obeys bytes_per_pack"};
  if (!s.collective_all_reduce && s.update == Update::kPerPack)
    made.remark += "; updates overlap only with experimental_aggregate_gradients=False and a reduction of one's own";
  return made;
}

/// The name of an algorithm in specs of TensorFlow 1; nothing if they have none.
std::optional<std::string> spec_name(Algorithm algorithm) {
  if (algorithm == Algorithm::kNcclHalvingDoubling) return "nccl/rechd";
  const std::string name(to_string(algorithm));
  if (parse_spec_algorithm(name) == algorithm) return name;
  return std::nullopt;
}

/// The entries that stand for a strategy.
std::optional<std::vector<SpecEntry>> spec_entries(const Strategy& s) {
  if (s.spec) return s.spec->entries;
  const auto name = spec_name(s.algorithm);
  if (s.framework || s.collective_all_reduce || !name) return std::nullopt;
  return std::vector<SpecEntry>{{*name, s.algorithm, s.shards, -1}};
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
  const bool usual = bucket == kDdpBucketMb * kMebibyte && first == kDdpFirstBucket;
  std::string cap = fmt::format("bucket_cap_mb={}, ", in_mebibytes(bucket));
  if (usual) {
    cap = "";
    made.remark = "what DDP does where it is not told otherwise";
  } else if (first && *first != bucket) {
    made.text = fmt::format("torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = {}\n", *first);
    made.remark += ", the first bucket's in bytes, which newer releases obey only where bucket_cap_mb is left out";
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

/// What the strategy's own framework is told.
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

/// What would come near it in other frameworks.
void add_others(const Scenario& scenario, std::vector<Snippet>& list) {
  const auto bytes = pack_bytes(scenario);
  if (scenario.strategy.framework || !bytes) return;
  const std::int64_t elements = *bytes / element_bytes(scenario);
  const auto add = [&](Snippet snippet) {
    snippet.as_simulated = false;
    if (snippet.remark.find(kOtherRule) == std::string::npos)
      snippet.remark += fmt::format("; {} {}", snippet.framework, kOtherRule);
    list.push_back(std::move(snippet));
  };
  if (is_ring_or_nccl(scenario.strategy.algorithm)) {
    add(ddp(*bytes, std::nullopt, true));
    add(horovod(*bytes));
    add(deepspeed(elements, true, false));
    add(megatron(elements, true, false));
  }
  if (sums_on_servers(scenario.strategy.algorithm)) add(byteps(*bytes, false));
}

/// NCCL's channels, as variables and as a file for its example tuner plugin. SOURCE: NVIDIA/nccl ext-tuner/example (v2.28):
/// collective,min,max,algorithm,protocol,channels,nodes,ranks. That plugin leaves one channel where no line matches, so every
/// size has a line that says how many.
void add_nccl(const Scenario& scenario, std::vector<Snippet>& list) {
  if (scenario.strategy.algorithm != Algorithm::kNccl || scenario.plan.packs.empty()) return;
  // NCCL's own choice needs no telling.
  if (scenario.plan.packs.front().collective.nccl && !scenario.strategy.channels) return;
  std::vector<std::pair<std::int64_t, int>> sizes;  // bytes of a pack, and its channels
  for (const Pack& pack : scenario.plan.packs)
    sizes.emplace_back(pack.collective.bytes().count(), lanes_of(scenario, pack));
  std::sort(sizes.begin(), sizes.end());
  const int most = std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
                     return a.second < b.second;
                   })->second;
  if (scenario.strategy.channels) {
    list.push_back(
        {"NCCL's variables", Language::kShell,
         fmt::format("export NCCL_ALGO=Ring NCCL_PROTO=Simple NCCL_MIN_NCHANNELS={0} NCCL_MAX_NCHANNELS={0}\n", most),
         true, "for trying it out: they hold for every collective of the process"});
  }
  const std::int64_t nodes = scenario.cluster->workers();
  const std::int64_t ranks = scenario.cluster->replicas();
  std::string text = "# collective,min bytes,max bytes,algorithm,protocol,channels,nodes,ranks\n";
  std::int64_t from = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool last = i + 1 == sizes.size();
    if (!last && sizes[i + 1].second == sizes[i].second) continue;
    const std::int64_t to = last ? std::numeric_limits<std::int64_t>::max() : sizes[i].first;
    text += fmt::format("allreduce,{},{},ring,simple,{},{},{}\n", from, to, sizes[i].second, nodes, ranks);
    if (!last) from = to + 1;
  }
  list.push_back({"NCCL's tuner", Language::kNcclTuner, text, true,
                  "a file for NCCL_TUNER_CONFIG_FILE, with NCCL's example tuner as NCCL_TUNER_PLUGIN; bytes"});
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

std::vector<Snippet> snippets_of(const Scenario& scenario) {
  std::vector<Snippet> list;
  if (auto own = own_framework(scenario)) list.push_back(std::move(*own));
  if (auto tf = tensorflow_2(scenario)) list.push_back(std::move(*tf));
  if (auto tf = tensorflow_1(scenario)) list.push_back(std::move(*tf));
  add_others(scenario, list);
  add_nccl(scenario, list);
  return list;
}

}  // namespace tutti::core
