#pragma once

// The properties of each algorithm, as data. Other code reads the traits in this table and does not
// compare algorithms by name. A new algorithm needs a row in algorithm_table.cpp and a file with
// its schedule in core/algorithm. One property is not in the table but a function of the schedules:
// Schedule::same_everywhere(), which is true if the simulation of one worker can represent all
// workers.

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

/// The devices on which an algorithm adds up gradients.
enum class SumsOn : std::uint8_t {
  kReplicas,
  kHosts,      ///< the CPUs of the workers; if the replicas are GPUs, these CPUs are additional
               ///< ranks
  kOneDevice,  ///< one device, which copies the sum to all others; if a mean is requested, the
               ///< device first divides the sum
};

/// The part of a collective that NCCL executes.
enum class NcclPart : std::uint8_t { kNone, kInsideWorkers, kAll };

/// The maximum number of shards.
enum class ShardLimit : std::uint8_t {
  kNoShards,          ///< there are no shards
  kReplicasOfWorker,  ///< the maximum is the number of replicas per worker, because the ring of
                      ///< each shard begins at a different replica of a worker
  kWorkers,           ///< the maximum is the number of workers, because the workers' CPUs sum
                      ///< shards
  kReplicas,          ///< the maximum is the number of replicas, because replicas sum shards
  kOwn,               ///< AlgorithmTraits::find_problems checks the number of shards
};

/// The formula for an algorithm's time (docs/algorithms.md).
enum class ClosedFormKind : std::uint8_t { kNone, kRings, kHalves, kDoubling };

/// The capabilities, requirements and defaults of an algorithm or a combination.
struct AlgorithmTraits {
  AlgorithmChoice algorithm;
  std::string name;
  std::vector<std::string> aliases = {};
  bool has_name_in_scenarios = true;

  // --- capabilities ---
  CollectiveKinds on_gpus = {};
  CollectiveKinds on_cpus = {};  ///< collectives that the algorithm supports on CPUs; empty: it
                                 ///< needs GPUs
  SumsOn sums_on = SumsOn::kReplicas;
  NcclPart nccl = NcclPart::kNone;
  /// True if all ranks are replicas and have equal roles. An algorithm with this property also
  /// works in groups of replicas (Partition), as communicators need.
  bool works_in_groups = false;
  /// True if the algorithm belongs to TensorFlow's collective runtime, so that the settings of this
  /// runtime apply (Strategy::tf_runtime). In TensorFlow's runtime, only an all-reduce has several
  /// rings.
  bool in_tf_runtime = false;
  /// True if an out-of-place collective reads its input buffer directly, without a copy to the
  /// output buffer first.
  bool reads_inputs_in_place = false;
  /// True if the last of an odd number of devices can be left out of the sum
  /// (Strategy::hierarchical_copy).
  bool drops_odd_device = false;
  bool chooses_device = false;  ///< true if Strategy::reduce_to selects the device that adds up
                                ///< gradients
  ClosedFormKind closed_form = ClosedFormKind::kNone;

  // --- requirements ---
  bool power_of_two = false;  ///< true if the number of replicas (in a combination, the number of
                              ///< workers) must be a power of two
  int min_replicas = 1;
  ShardLimit shards = ShardLimit::kNoShards;
  bool channels = false;          ///< true if Strategy::channels applies to the algorithm
  bool lanes_cut_evenly = false;  ///< true if pad_packs also gives an equal share of the buffer to
                                  ///< each of several rings or channels
  /// Returns the length to which the algorithm pads a buffer of `elements` elements. Null: the
  /// algorithm does not pad.
  std::int64_t (*padded)(std::int64_t elements, std::int64_t ranks, std::int64_t shards) = nullptr;
  bool pads_by_copy = false;  ///< true if the pack has to be copied on the device in order to pad
                              ///< it
  /// Adds problems with the settings that only this algorithm has. Null: the algorithm has no such
  /// settings.
  void (*find_problems)(const Strategy& strategy, const Cluster& cluster,
                        std::vector<StrategyProblem>& problems) = nullptr;

  // --- defaults ---
  Merging merging = Merging::kConcat;
  Launch launch = Launch::kConcurrent;
  Staging staging = Staging::kViaHost;
  /// The default of Strategy::waits_for_workers if the algorithm is used across workers.
  bool waits_for_workers = false;

  // --- names in frameworks ---
  /// The name of this algorithm in TensorFlow's CommunicationOptions; "" if it has none.
  std::string_view tf_implementation = {};
  /// The backend of torch.distributed that implements the algorithm; "" if there is none.
  std::string_view torch_backend = {};
  bool in_horovod = false;  ///< true if Horovod uses the algorithm in its NCCL, MPI or Gloo
                            ///< operations

  // --- schedules ---
  /// Makes the schedule of a collective over all replicas. Null: the algorithm exists only in
  /// combinations.
  std::shared_ptr<const Schedule> (*schedule)(const ScheduleRequest& request) = nullptr;

  /// Makes the stages of a combination that has this algorithm inside workers: a sum inside every
  /// worker (on its first GPU or its host), the stage that `across` makes if there are several
  /// workers, and the distribution of the result. Null: the algorithm cannot be used inside
  /// workers.
  std::vector<CollectiveStage> (*around)(const ScheduleRequest& request,
                                         Stage (*across)(const ScheduleRequest&)) = nullptr;
  bool inside_ends_on_hosts = false;
  /// The following two functions make the stage across workers in a combination: an all-reduce
  /// among the workers' first GPUs, or among their hosts. Null: the algorithm cannot run among
  /// these ranks.
  Stage (*across_first_gpus)(const ScheduleRequest& request) = nullptr;
  Stage (*across_hosts)(const ScheduleRequest& request) = nullptr;
  std::string_view why_not_across = {};  ///< reason why across_first_gpus and across_hosts are null

  [[nodiscard]] bool needs_gpus() const { return on_cpus.empty(); }
  [[nodiscard]] bool supports(CollectiveKind kind, bool gpus) const {
    return (gpus ? on_gpus : on_cpus).contains(kind);
  }
  [[nodiscard]] bool uses_nccl() const { return nccl != NcclPart::kNone; }
};

/// Returns the traits of an algorithm. REQUIRES: `algorithm` is a result of parse_algorithm(), or a
/// base algorithm.
const AlgorithmTraits& traits(AlgorithmChoice algorithm);

/// Returns the traits of all algorithms that a scenario can select, in the order of algorithms().
const std::vector<AlgorithmTraits>& all_traits();

/// Returns the names of all algorithms for which `predicate` is true, for example "ring, tf_ring
/// and nccl".
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

/// True if CPUs of workers add up gradients.
bool sums_on_hosts(const Strategy& strategy);

}  // namespace tutti::core
