#include "core/scenario/communicators.h"
#include "core/strategy/algorithm_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::core {
namespace {

class CommunicatorsLowering {
 public:
  CommunicatorsLowering(const Strategy& strategy, const Cluster& cluster, Complaints& complaints)
      : strategy_(strategy), cluster_(cluster), complaints_(complaints) {}

  std::vector<Communicator> lower(const std::vector<WrittenCommunicator>& written) {
    std::vector<Communicator> all;
    for (std::size_t i = 0; i < written.size(); ++i) {
      const WrittenCommunicator& c = written[i];
      const std::string path = fmt::format("communicator[{}]", i);
      const std::size_t before = complaints_.problems().size();
      Communicator communicator = one(c, path);
      if (complaints_.problems().size() == before && c.sound) {
        for (const std::string& problem : problems_of(communicator, cluster_))
          complaints_.complain_at(path, ProblemCode::kConflict, "communicator \"{}\": {}", c.name,
                                  problem);
        all.push_back(std::move(communicator));
      }
    }
    const auto splits = std::find_if(written.rbegin(), written.rend(),
                                     [](const auto& c) { return c.splits_model; });
    if (splits != written.rend())
      check_splitting(*splits,
                      fmt::format("communicator[{}]", std::distance(splits, written.rend()) - 1));
    return all;
  }

 private:
  Communicator one(const WrittenCommunicator& c, const std::string& path) {
    const std::string what = fmt::format("communicator \"{}\"", c.name);
    Communicator communicator;
    communicator.name = c.name;
    communicator.partition = partition(c, path, what);
    communicator.splits_model = c.splits_model;
    choose_strategy(c, path, what, communicator.strategy);
    communicator.exchanges = c.exchanges;
    return communicator;
  }

  Partition partition(const WrittenCommunicator& c, const std::string& path,
                      const std::string& what) {
    const std::int64_t replicas = cluster_.replicas();
    const auto in_range = [&](const char* field, std::optional<std::int64_t> value,
                              std::int64_t least, std::int64_t most) -> std::int64_t {
      if (!value) return 1;
      return complaints_.in_range(path + "." + field, what, *value, least, most).value_or(1);
    };
    const std::int64_t size = in_range("size", c.size, 2, std::max<std::int64_t>(2, replicas));
    Partition partition{replicas, size, in_range("stride", c.stride, 1, replicas)};
    if (replicas % partition.size != 0 || replicas / partition.size % partition.stride != 0) {
      complaints_.complain_at(path + ".size", ProblemCode::kConflict,
                              "{}: {} replicas cannot be divided into groups of {} with a stride "
                              "of {}; use a size and stride whose product divides {}",
                              what, replicas, partition.size, partition.stride, replicas);
      return {};
    }
    return partition;
  }

  /// Sets the algorithm of a communicator, and the defaults of this algorithm. If the communicator
  /// does not name an algorithm, it has the algorithm of the gradients.
  void choose_strategy(const WrittenCommunicator& c, const std::string& path,
                       const std::string& what, Strategy& strategy) {
    const auto algorithm =
        c.algorithm.empty() ? std::optional(strategy_.algorithm) : parse_algorithm(c.algorithm);
    const std::string usable =
        names_where([](const AlgorithmTraits& t) { return t.works_in_groups; }, ", ");
    const bool of_file = c.algorithm.empty() && strategy_.custom.has_value();
    if (of_file || (!algorithm && c.algorithm.find('.') != std::string::npos)) {
      return complaints_.complain_at(
          path + ".algorithm", ProblemCode::kUnsupported,
          "{}: the algorithm of the file \"{}\" spans all replicas, so a communicator cannot use "
          "it; set the communicator's algorithm to one of {}",
          what, of_file ? strategy_.custom->file : c.algorithm, usable);
    }
    if (!algorithm || !traits(*algorithm).works_in_groups) {
      return complaints_.complain_at(
          path + ".algorithm", ProblemCode::kUnknownName,
          "{}: algorithm \"{}\" does not support arbitrary groups; use one of {}", what,
          c.algorithm.empty() ? to_string(strategy_.algorithm) : c.algorithm, usable);
    }
    strategy = *algorithm == strategy_.algorithm ? strategy_ : Strategy::for_algorithm(*algorithm);
    strategy.reduction = Reduction::kSum;
    strategy.spec.reset();
    strategy.shards = 1;
    strategy.root = 0;
    strategy.compression.reset();
    if (strategy_.requested_staging) strategy.staging = strategy_.staging;
    if (c.channels) strategy.channels = c.channels;
    if (complaints_.has(path + ".channels") && !traits(*algorithm).channels)
      complaints_.complain_at(path + ".channels", ProblemCode::kUnused,
                              "{}: only algorithm nccl has channels; remove channels", what);
    strategy.launch_overhead = c.launch.value_or(strategy_.launch_overhead);
    strategy.requested_launch_overhead = strategy_.requested_launch_overhead || c.launch;
  }

  /// If every replica holds only a part of the model, checks how gradients are reduced.
  void check_splitting(const WrittenCommunicator& c, std::string_view path) {
    if (strategy_.custom) {
      complaints_.complain_at(
          fmt::format("{}.splits_model", path), ProblemCode::kConflict,
          "communicator \"{}\": with splits_model, gradients are reduced in groups, but the "
          "algorithm of the file \"{}\" spans all replicas; use {} as the strategy's algorithm",
          c.name, strategy_.custom->file,
          names_where([](const AlgorithmTraits& t) { return t.works_in_groups; }, " or "));
    } else if (!traits(strategy_.algorithm).works_in_groups) {
      complaints_.complain_at(
          fmt::format("{}.splits_model", path), ProblemCode::kConflict,
          "communicator \"{}\": with splits_model, gradients are reduced in groups, but algorithm "
          "\"{}\" does not support groups; use {} as the strategy's algorithm",
          c.name, to_string(strategy_.algorithm),
          names_where([](const AlgorithmTraits& t) { return t.works_in_groups; }, " or "));
    }
    if (strategy_.collective != CollectiveKind::kAllReduce) {
      complaints_.complain_at(
          fmt::format("{}.splits_model", path), ProblemCode::kConflict,
          "communicator \"{}\": with splits_model, only all-reduces of gradients are supported",
          c.name);
    }
    const std::int64_t group = c.size.value_or(0) > 0 ? cluster_.replicas() / *c.size : 1;
    if (traits(strategy_.algorithm).power_of_two && (group & (group - 1)) != 0) {
      complaints_.complain_at(
          fmt::format("{}.splits_model", path), ProblemCode::kConflict,
          "communicator \"{}\": {} needs groups whose size is a power of two, but "
          "with splits_model, gradients are reduced in groups of {} replicas "
          "(those with the same part of the model); use ring",
          c.name, to_string(strategy_.algorithm), group);
    }
  }

  const Strategy& strategy_;
  const Cluster& cluster_;
  Complaints& complaints_;
};

}  // namespace

std::vector<Communicator> lower_communicators(const std::vector<WrittenCommunicator>& written,
                                              const Strategy& strategy, const Cluster& cluster,
                                              Complaints& complaints) {
  return CommunicatorsLowering(strategy, cluster, complaints).lower(written);
}

}  // namespace tutti::core
