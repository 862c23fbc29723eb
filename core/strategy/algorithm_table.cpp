// The table has one row per base algorithm, in the order of the enum BaseAlgorithm. The traits of
// combinations such as nccl/ring are derived from the rows of both algorithms. A combination exists
// under two conditions: the first algorithm can sum inside workers (`around`), and the second one
// can start where these sums are stored (on the first GPU of every worker, or on its host). A new
// row in the table therefore also adds combinations. The table is made at its first use and is
// constant from then on. Therefore `by_choice` can point into the table's vectors, and all threads
// may read it. algorithm_schedules.cpp has the functions that make schedules, and
// algorithm_problems.cpp has the functions that check requirements.

#include "core/strategy/algorithm_table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/algorithm/xring.h"
#include "core/base/check.h"
#include "core/strategy/algorithm_problems.h"
#include "core/strategy/algorithm_schedules.h"

namespace tutti::core {
namespace {

constexpr std::size_t kBaseAlgorithms = static_cast<std::size_t>(BaseAlgorithm::kOnServers) + 1;

constexpr CollectiveKinds kEveryKind = {
    CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
    CollectiveKind::kBroadcast, CollectiveKind::kReduce,        CollectiveKind::kAllToAll,
    CollectiveKind::kGather,    CollectiveKind::kScatter,       CollectiveKind::kSendReceive};
constexpr CollectiveKinds kOnlyAllReduce = {CollectiveKind::kAllReduce};
constexpr CollectiveKinds kOfRings = {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                      CollectiveKind::kAllGather, CollectiveKind::kBroadcast,
                                      CollectiveKind::kReduce,    CollectiveKind::kSendReceive};
constexpr CollectiveKinds kOfHalving = {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                        CollectiveKind::kAllGather, CollectiveKind::kBroadcast,
                                        CollectiveKind::kReduce,    CollectiveKind::kGather,
                                        CollectiveKind::kScatter};
constexpr CollectiveKinds kOfDoubling = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                         CollectiveKind::kBroadcast, CollectiveKind::kReduce};
constexpr CollectiveKinds kOfTfRing = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                       CollectiveKind::kBroadcast};

/// Returns one row for each base algorithm, in the order in which reports list algorithms.
std::array<AlgorithmTraits, kBaseAlgorithms> algorithm_rows() {
  return {{
      {.algorithm = BaseAlgorithm::kRing,
       .name = "ring",
       .on_gpus = kOfRings,
       .on_cpus = kOfRings,
       .works_in_groups = true,
       .reads_inputs_in_place = true,
       .closed_form = ClosedFormKind::kRings,
       .shards = ShardLimit::kReplicasOfWorker,
       .lanes_cut_evenly = true,
       .merging = Merging::kScopedAllocator,
       .tf_implementation = "RING",
       .torch_backend = "gloo",
       .in_horovod = true,
       .schedule = schedules::ring,
       .across_first_gpus = schedules::ring_of_first_gpus},

      {.algorithm = BaseAlgorithm::kXring,
       .name = "xring",
       .on_gpus = kOnlyAllReduce,
       .on_cpus = kOnlyAllReduce,
       .closed_form = ClosedFormKind::kRings,
       .min_replicas = 2,
       .shards = ShardLimit::kReplicasOfWorker,
       .padded = padded_for_xring,
       .pads_by_copy = true,
       .waits_for_workers = true,
       .schedule = schedules::xring,
       .across_first_gpus = schedules::xring_of_first_gpus},

      {.algorithm = BaseAlgorithm::kHalvingDoubling,
       .name = "halving_doubling",
       .aliases = {"rechd"},
       .on_gpus = kOfHalving,
       .on_cpus = kOfHalving,
       .works_in_groups = true,
       .closed_form = ClosedFormKind::kHalves,
       .power_of_two = true,
       .in_horovod = true,
       .schedule = schedules::halving_doubling,
       .across_first_gpus = schedules::halving_doubling_of_first_gpus},

      {.algorithm = BaseAlgorithm::kRecursiveDoubling,
       .name = "recursive_doubling",
       .on_gpus = kOfDoubling,
       .on_cpus = kOfDoubling,
       .works_in_groups = true,
       .closed_form = ClosedFormKind::kDoubling,
       .power_of_two = true,
       .in_horovod = true,
       .schedule = schedules::recursive_doubling,
       .across_first_gpus = schedules::recursive_doubling_of_first_gpus},

      {.algorithm = BaseAlgorithm::kDoubleTree,
       .name = "double_tree",
       .on_gpus = kOnlyAllReduce,
       .on_cpus = kOnlyAllReduce,
       .in_horovod = true,
       .schedule = schedules::double_tree,
       .across_first_gpus = schedules::double_tree_of_first_gpus},

      // On GPUs, pscpu supports only the all-reduce. In other collectives, pscpu would not use CPUs
      // and would be identical to psgpu.
      {.algorithm = BaseAlgorithm::kPscpu,
       .name = "pscpu",
       .on_gpus = kOnlyAllReduce,
       .on_cpus = kEveryKind,
       .sums_on = SumsOn::kHosts,
       .shards = ShardLimit::kWorkers,
       .schedule = schedules::pscpu,
       .around = schedules::around_by_pscpu,
       .inside_ends_on_hosts = true,
       .across_first_gpus = schedules::pscpu_of_first_gpus,
       .across_hosts = schedules::pscpu_of_hosts},

      {.algorithm = BaseAlgorithm::kPsgpu,
       .name = "psgpu",
       .on_gpus = kEveryKind,
       .shards = ShardLimit::kReplicas,
       .schedule = schedules::psgpu,
       .why_not_across = "psgpu already distributes shards to the GPUs of all workers"},

      {.algorithm = BaseAlgorithm::kNccl,
       .name = "nccl",
       .on_gpus = kEveryKind,
       .nccl = NcclPart::kAll,
       .works_in_groups = true,
       .reads_inputs_in_place = true,
       .closed_form = ClosedFormKind::kRings,
       .channels = true,
       .lanes_cut_evenly = true,
       .merging = Merging::kScopedAllocator,
       .launch = Launch::kSerial,
       .staging = Staging::kDirect,
       .tf_implementation = "NCCL",
       .torch_backend = "nccl",
       .in_horovod = true,
       .schedule = schedules::nccl,
       .around = schedules::around_by_nccl,
       .why_not_across = "the algorithm already spans all workers"},

      {.algorithm = BaseAlgorithm::kTfRing,
       .name = "tf_ring",
       .on_gpus = kOfTfRing,
       .on_cpus = kOfTfRing,
       .in_tf_runtime = true,
       .closed_form = ClosedFormKind::kRings,
       .shards = ShardLimit::kOwn,
       .find_problems = find_tf_ring_problems,
       .merging = Merging::kScopedAllocator,
       .staging = Staging::kViaHostOnRequest,
       .tf_implementation = "RING",
       .schedule = schedules::tf_ring,
       .why_not_across = "TensorFlow's rings already contain the devices of all workers"},

      {.algorithm = BaseAlgorithm::kReductionToOneDevice,
       .name = "reduction_to_one_device",
       .on_gpus = kOnlyAllReduce,
       .on_cpus = kOnlyAllReduce,
       .sums_on = SumsOn::kOneDevice,
       .chooses_device = true,
       .find_problems = find_reduction_to_one_device_problems,
       .schedule = schedules::reduction_to_one_device,
       .why_not_across = "the algorithm copies the data of every replica to a single device"},

      {.algorithm = BaseAlgorithm::kHierarchicalCopy,
       .name = "hierarchical_copy",
       .on_gpus = kOnlyAllReduce,
       .on_cpus = kOnlyAllReduce,
       .sums_on = SumsOn::kOneDevice,
       .drops_odd_device = true,
       .find_problems = find_hierarchical_copy_problems,
       .schedule = schedules::hierarchical_copy,
       .why_not_across = "the algorithm supports only the GPUs of one machine"},

      // The file of the custom algorithm determines the collective.
      {.algorithm = BaseAlgorithm::kCustom,
       .name = "custom",
       .has_name_in_scenarios = false,
       .on_gpus = kEveryKind,
       .on_cpus = kEveryKind,
       .find_problems = find_custom_problems,
       .schedule = schedules::custom,
       .why_not_across = "it spans all replicas"},

      // core/lowering/server_plan.cpp and core/framework/byteps/push_pull_plan.cpp make the
      // collectives of this algorithm.
      {.algorithm = BaseAlgorithm::kOnServers,
       .name = "variables on servers",
       .has_name_in_scenarios = false,
       .on_gpus = kOnlyAllReduce,
       .on_cpus = kOnlyAllReduce,
       .why_not_across = "servers serve all replicas"},
  }};
}

bool can_combine(const AlgorithmTraits& inside, const AlgorithmTraits& across) {
  if (!inside.around) return false;
  return inside.inside_ends_on_hosts ? across.across_hosts != nullptr
                                     : across.across_first_gpus != nullptr;
}

/// Derives the traits of a combination from the traits of its two algorithms. All combinations are
/// all-reduces on GPUs. The stages of a combination are ordinary graph operations, which the
/// ScopedAllocator does not merge.
AlgorithmTraits combination_of(const AlgorithmTraits& inside, const AlgorithmTraits& across) {
  AlgorithmTraits both;
  both.algorithm = {inside.algorithm.across, across.algorithm.across};
  both.name = inside.name + "/" + across.name;
  for (const std::string& alias : across.aliases) both.aliases.push_back(inside.name + "/" + alias);
  both.on_gpus = kOnlyAllReduce;
  both.sums_on = across.sums_on;
  both.nccl = inside.uses_nccl() ? NcclPart::kInsideWorkers : NcclPart::kNone;
  both.power_of_two = across.power_of_two;
  if (inside.shards != ShardLimit::kNoShards) both.shards = across.shards;
  both.channels = inside.channels;
  both.padded = across.padded;
  both.waits_for_workers = across.waits_for_workers;
  both.in_horovod = inside.in_horovod && across.in_horovod;
  both.around = inside.around;
  both.inside_ends_on_hosts = inside.inside_ends_on_hosts;
  both.across_first_gpus = across.across_first_gpus;
  both.across_hosts = across.across_hosts;
  return both;
}

/// All algorithms: first the rows of the table, then the combinations.
struct AlgorithmTable {
  std::vector<AlgorithmTraits> all;  ///< algorithms that a scenario can name
  std::vector<AlgorithmTraits> nameless;
  std::array<std::array<const AlgorithmTraits*, kBaseAlgorithms>, kBaseAlgorithms + 1> by_choice{};

  AlgorithmTable() {
    const auto bases = algorithm_rows();
    for (std::size_t i = 0; i < bases.size(); ++i) {
      TUTTI_CHECK(bases[i].algorithm == static_cast<BaseAlgorithm>(i), "row {} is \"{}\"", i,
                  bases[i].name);
      (bases[i].has_name_in_scenarios ? all : nameless).push_back(bases[i]);
    }
    for (const AlgorithmTraits& inside : bases) {
      for (const AlgorithmTraits& across : bases) {
        if (can_combine(inside, across)) all.push_back(combination_of(inside, across));
      }
    }
    for (const auto* some : {&all, &nameless}) {
      for (const AlgorithmTraits& one : *some)
        by_choice[row_of(one.algorithm)][static_cast<std::size_t>(one.algorithm.across)] = &one;
    }
  }
  AlgorithmTable(const AlgorithmTable&) = delete;
  AlgorithmTable& operator=(const AlgorithmTable&) = delete;

  [[nodiscard]] const AlgorithmTraits* at(AlgorithmChoice choice) const {
    return by_choice[row_of(choice)][static_cast<std::size_t>(choice.across)];
  }

 private:
  static std::size_t row_of(AlgorithmChoice choice) {
    return choice.inside ? 1 + static_cast<std::size_t>(*choice.inside) : 0;
  }
};

const AlgorithmTable& algorithm_table() {
  static const AlgorithmTable table;
  return table;
}

bool is_called(const AlgorithmTraits& one, std::string_view name) {
  return one.name == name ||
         std::find(one.aliases.begin(), one.aliases.end(), name) != one.aliases.end();
}

const AlgorithmTraits* traits_called(std::string_view name) {
  const auto& all = all_traits();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const AlgorithmTraits& t) { return is_called(t, name); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const AlgorithmTraits& traits(AlgorithmChoice algorithm) {
  const AlgorithmTraits* found = algorithm_table().at(algorithm);
  TUTTI_CHECK(found != nullptr, "no algorithm combines {} and {}",
              algorithm.inside ? static_cast<int>(*algorithm.inside) : -1,
              static_cast<int>(algorithm.across));
  return *found;
}

const std::vector<AlgorithmTraits>& all_traits() { return algorithm_table().all; }

std::string to_string(AlgorithmChoice algorithm) { return traits(algorithm).name; }

std::optional<AlgorithmChoice> parse_algorithm(std::string_view name) {
  const AlgorithmTraits* found = traits_called(name);
  return found ? std::optional(found->algorithm) : std::nullopt;
}

std::optional<std::string> why_no_combination(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos || traits_called(name)) return std::nullopt;
  const AlgorithmTraits* inside = traits_called(name.substr(0, slash));
  const AlgorithmTraits* across = traits_called(name.substr(slash + 1));
  if (!inside || !across || inside->algorithm.inside || across->algorithm.inside)
    return std::nullopt;
  std::string why;
  if (!inside->around) {
    why = fmt::format(
        "{} does not work inside workers; only {} do", inside->name,
        names_where([](const AlgorithmTraits& t) { return t.around && !t.algorithm.inside; }));
  } else if (!across->why_not_across.empty()) {
    why = fmt::format("{} does not work across workers: {}", across->name, across->why_not_across);
  } else {
    why = fmt::format("{} leaves the sums in the hosts' memory, but {} needs the sums on GPUs",
                      inside->name, across->name);
  }
  return fmt::format("{}; there are {}", why, names_where([](const AlgorithmTraits& t) {
                       return t.algorithm.inside.has_value();
                     }));
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const AlgorithmTraits& one : all_traits()) names.push_back(one.name);
  for (const AlgorithmTraits& one : all_traits())
    names.insert(names.end(), one.aliases.begin(), one.aliases.end());
  return names;
}

std::vector<AlgorithmChoice> algorithms() {
  std::vector<AlgorithmChoice> all;
  for (const AlgorithmTraits& one : all_traits()) all.push_back(one.algorithm);
  return all;
}

bool sums_on_hosts(const Strategy& strategy) {
  const AlgorithmTraits& t = traits(strategy.algorithm);
  return t.sums_on == SumsOn::kHosts || (t.chooses_device && !strategy.reduce_to);
}

}  // namespace tutti::core
