#pragma once

// The properties of each algorithm, as data. No other code compares algorithms by name; it uses
// their traits instead. A new algorithm is a row in algorithm_table.cpp and a file with its
// schedule in core/algorithm. (Whether several workers can be simulated as one is a property of the
// schedule: Schedule::same_everywhere().)

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/schedule.h"
#include "core/schedule/stages.h"
#include "core/strategy/algorithm.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

struct CollectiveStage;
struct ScheduleRequest;

class CollectiveKinds {
 public:
  constexpr CollectiveKinds(std::initializer_list<CollectiveKind> kinds) {
    for (const CollectiveKind kind : kinds) bits_ |= bit(kind);
  }
  [[nodiscard]] constexpr bool contains(CollectiveKind kind) const {
    return (bits_ & bit(kind)) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }

 private:
  static constexpr std::uint32_t bit(CollectiveKind kind) {
    return 1u << static_cast<unsigned>(kind);
  }
  std::uint32_t bits_ = 0;
};

/// The devices on which an algorithm sums.
enum class SumsOn : std::uint8_t {
  kReplicas,
  kHosts,      ///< the workers' CPUs, which are separate ranks if replicas are GPUs
  kOneDevice,  ///< one device, which also divides a mean before it copies results back to all
};

/// The part of the data that NCCL moves.
enum class NcclPart : std::uint8_t { kNone, kInsideWorkers, kAll };

/// The limit on the number of shards.
enum class ShardLimit : std::uint8_t {
  kNoShards,          ///< shards are not supported
  kReplicasOfWorker,  ///< rings are rotated against each other by replicas of a worker
  kWorkers,           ///< at most the number of workers, whose CPUs sum the shards
  kReplicas,          ///< at most the number of replicas, which sum the shards
  kOwn,               ///< checked by find_problems
};

/// The closed form of an algorithm's time (docs/algorithms.md).
enum class ClosedFormKind : std::uint8_t { kNone, kRings, kHalves, kDoubling };

/// The capabilities, requirements and defaults of an algorithm, or of a combination of two.
struct AlgorithmTraits {
  AlgorithmChoice algorithm;
  std::string name;
  std::vector<std::string> aliases = {};
  bool has_name_in_scenarios = true;

  // --- capabilities ---
  CollectiveKinds on_gpus = {};
  CollectiveKinds on_cpus = {};  ///< empty: the algorithm needs GPUs
  SumsOn sums_on = SumsOn::kReplicas;
  NcclPart nccl = NcclPart::kNone;
  /// True if ranks are replicas with equal roles, so that it also works in the groups of a
  /// partition.
  bool works_in_groups = false;
  /// True if its settings are those of TensorFlow's collective runtime (Strategy::tf_runtime),
  /// where only the all-reduce has several rings.
  bool in_tf_runtime = false;
  bool reads_inputs_in_place = false;  ///< reduces out of place without a copy of the inputs
  /// True if it can leave an odd device out of the sum (Strategy::hierarchical_copy).
  bool drops_odd_device = false;
  bool chooses_device = false;  ///< Strategy::reduce_to selects the device that sums
  ClosedFormKind closed_form = ClosedFormKind::kNone;

  // --- requirements ---
  bool power_of_two = false;  ///< needs a power of two of replicas; a combination needs a power of
                              ///< two of workers
  int min_replicas = 1;
  ShardLimit shards = ShardLimit::kNoShards;
  bool channels = false;          ///< supports Strategy::channels
  bool lanes_cut_evenly = false;  ///< pad_packs also pads to the lanes that share the buffer
  /// Returns the padded number of elements for `elements` among `ranks` with `shards`; null: no
  /// padding.
  std::int64_t (*padded)(std::int64_t elements, std::int64_t ranks, std::int64_t shards) = nullptr;
  bool pads_by_copy = false;  ///< a device copies a pack in order to pad it
  /// Adds problems with its own settings; null: it has none.
  void (*find_problems)(const Strategy& strategy, const Cluster& cluster,
                        std::vector<StrategyProblem>& problems) = nullptr;

  // --- defaults ---
  Merging merging = Merging::kConcat;
  Launch launch = Launch::kConcurrent;
  Staging staging = Staging::kViaHost;
  bool waits_for_workers = false;  ///< Strategy::waits_for_workers, if the algorithm works across
                                   ///< workers

  // --- names in frameworks ---
  /// The implementation in CommunicationOptions, which has bytes_per_pack.
  std::string_view tf_implementation = {};
  std::string_view torch_backend = {};  ///< the torch.distributed backend that implements it
  bool in_horovod = false;              ///< NCCL, MPI or Gloo implement it in Horovod

  // --- schedules ---
  /// Makes the schedule of a collective over all replicas; null: it works only in combinations.
  std::shared_ptr<const Schedule> (*schedule)(const ScheduleRequest& request) = nullptr;

  /// The first half of a combination: sums inside every worker, onto its first GPU or its host,
  /// runs `across` (if there are several workers) and distributes the results. Null: it does not
  /// work inside workers.
  std::vector<CollectiveStage> (*around)(const ScheduleRequest& request,
                                         Stage (*across)(const ScheduleRequest&)) = nullptr;
  bool inside_ends_on_hosts = false;
  /// Build the second half: the all-reduce among the workers' first GPUs, or among their hosts,
  /// after the first half.
  Stage (*across_first_gpus)(const ScheduleRequest& request) = nullptr;
  Stage (*across_hosts)(const ScheduleRequest& request) = nullptr;
  std::string_view why_not_across = {};  ///< the reason why both functions are null

  [[nodiscard]] bool needs_gpus() const { return on_cpus.empty(); }
  [[nodiscard]] bool supports(CollectiveKind kind, bool gpus) const {
    return (gpus ? on_gpus : on_cpus).contains(kind);
  }
  [[nodiscard]] bool uses_nccl() const { return nccl != NcclPart::kNone; }
};

/// Returns the traits of an algorithm. REQUIRES: parse_algorithm() returned it, or it is a base
/// algorithm.
const AlgorithmTraits& traits(AlgorithmChoice algorithm);

/// Returns the traits of every algorithm that a scenario can select, in the order of algorithms().
const std::vector<AlgorithmTraits>& all_traits();

/// Returns the names of the algorithms for which `predicate` is true: "ring, tf_ring and nccl".
template <class Predicate>
std::string names_where(Predicate predicate, std::string_view last = " and ") {
  std::vector<std::string> names;
  for (const AlgorithmTraits& one : all_traits()) {
    if (predicate(one)) names.push_back(one.name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += std::string(i == 0 ? "" : i + 1 == names.size() ? last : ", ") + names[i];
  return text;
}

/// True if the workers' CPUs are among the devices that sum.
bool sums_on_hosts(const Strategy& strategy);

}  // namespace tutti::core
