#include "core/scenario/communicators_reader.h"

#include <set>

#include <fmt/format.h>

#include "core/proto/scenario.pb.h"
#include "core/strategy/algorithm_table.h"
#include "core/text/limits.h"

namespace tutti::core {

CollectiveKind collective_of(int collective) {
  switch (collective) {
    case proto::Strategy::REDUCE_SCATTER: return CollectiveKind::kReduceScatter;
    case proto::Strategy::ALL_GATHER: return CollectiveKind::kAllGather;
    case proto::Strategy::BROADCAST: return CollectiveKind::kBroadcast;
    case proto::Strategy::REDUCE: return CollectiveKind::kReduce;
    case proto::Strategy::ALL_TO_ALL: return CollectiveKind::kAllToAll;
    case proto::Strategy::GATHER: return CollectiveKind::kGather;
    case proto::Strategy::SCATTER: return CollectiveKind::kScatter;
    case proto::Strategy::SEND_RECEIVE: return CollectiveKind::kSendReceive;
    default: return CollectiveKind::kAllReduce;
  }
}

namespace {

class CommunicatorsReader {
 public:
  CommunicatorsReader(Fields& fields, const Strategy& strategy, const Cluster& cluster)
      : fields_(fields), strategy_(strategy), cluster_(cluster) {}

  std::vector<Communicator> read(const proto::Scenario& message) {
    std::vector<Communicator> all;
    const proto::Communicator* splits = nullptr;
    for (const proto::Communicator& c : message.communicator()) {
      const std::size_t before = fields_.problems().size();
      Communicator communicator = one(c);
      if (c.splits_model() && std::exchange(splits, &c) != nullptr) {
        fields_.complain_at(c, "splits_model",
                            "communicator \"{}\": another one splits the model already; describe both as one whose "
                            "size is the product, and give the other its exchanges alone",
                            c.name());
      }
      if (fields_.problems().size() != before || !fields_.sources().whole(c)) continue;
      for (const std::string& problem : problems_of(communicator, cluster_))
        fields_.complain(c, "communicator \"{}\": {}", c.name(), problem);
      all.push_back(std::move(communicator));
    }
    if (splits) check_splitting(*splits);
    return all;
  }

 private:
  Communicator one(const proto::Communicator& c) {
    Communicator communicator;
    communicator.name = c.name();
    if (c.name().empty()) {
      fields_.complain(c, "a communicator needs a name, such as name: \"tensor\"");
    } else if (!names_.insert(c.name()).second) {
      fields_.complain_at(c, "name", "communicator \"{}\" is there twice; names must differ", c.name());
    }
    const std::string what = fmt::format("communicator \"{}\"", c.name());
    communicator.partition = partition(c, what);
    communicator.splits_model = c.splits_model();
    read_strategy(c, what, communicator.strategy);
    for (const proto::Exchange& e : c.exchange()) communicator.exchanges.push_back(exchange(e, what));
    if (c.exchange().empty() && !c.splits_model())
      fields_.complain(c, "{} does nothing: give it an exchange {{ … }}, or say splits_model: true", what);
    return communicator;
  }

  Partition partition(const proto::Communicator& c, const std::string& what) {
    const std::int64_t replicas = cluster_.replicas();
    if (!c.has_size()) fields_.complain(c, "{}: size is missing; say how many replicas a group has", what);
    Partition partition{replicas, fields_.integer(c, "size", what, 2, std::max<std::int64_t>(2, replicas)).value_or(1),
                        fields_.integer(c, "stride", what, 1, replicas).value_or(1)};
    if (replicas % partition.size != 0 || replicas / partition.size % partition.stride != 0) {
      fields_.complain_at(c, "size",
                          "{}: {} replicas cannot be cut into groups of {} with a stride of {}; take a size and stride "
                          "whose product divides {}",
                          what, replicas, partition.size, partition.stride, replicas);
      return {};
    }
    return partition;
  }

  /// Its own algorithm, with that algorithm's defaults; else that of the gradients.
  void read_strategy(const proto::Communicator& c, const std::string& what, Strategy& strategy) {
    const auto algorithm = c.algorithm().empty() ? std::optional(strategy_.algorithm) : parse_algorithm(c.algorithm());
    if (!algorithm || !traits(*algorithm).works_in_groups) {
      return fields_.complain_at(c, "algorithm",
                                 "{}: algorithm \"{}\" is none of those that work among any group: {}; say one of them",
                                 what, c.algorithm().empty() ? to_string(strategy_.algorithm) : c.algorithm(),
                                 names_where([](const AlgorithmTraits& t) { return t.works_in_groups; }, ", "));
    }
    strategy = *algorithm == strategy_.algorithm ? strategy_ : Strategy::for_algorithm(*algorithm);
    strategy.reduction = Reduction::kSum;
    strategy.spec.reset();
    strategy.shards = 1;
    strategy.root = 0;
    strategy.compression.reset();
    if (strategy_.staging_asked) strategy.staging = strategy_.staging;
    if (const auto channels = fields_.integer(c, "channels", what, 1, 64))
      strategy.channels = static_cast<int>(*channels);
    if (c.has_channels() && !traits(*algorithm).channels)
      fields_.complain_at(c, "channels", "{}: only nccl has channels; leave them out", what);
    strategy.launch_overhead = strategy_.launch_overhead;
    strategy.launch_overhead_asked = strategy_.launch_overhead_asked || c.has_launch_us();
    if (const auto us = fields_.number(c, "launch_us", what, {0, kMostLatencyUs}))
      strategy.launch_overhead = time_from_us(*us);
  }

  Exchange exchange(const proto::Exchange& e, const std::string& of) {
    const std::string what = of + ": exchange";
    Exchange exchange;
    exchange.collective = collective_of(e.collective());
    if (e.has_type() && e.type() == proto::DATA_TYPE_UNSPECIFIED)
      fields_.complain_at(e, "type", "{}: type must be a type, such as BFLOAT16", what);
    if (e.has_type() && e.type() != proto::DATA_TYPE_UNSPECIFIED) exchange.type = static_cast<DataType>(e.type());
    if (!e.has_bytes()) fields_.complain(e, "{}: bytes is missing; say how much each collective is on", what);
    const std::int64_t bytes = fields_.integer(e, "bytes", what, 1, std::int64_t{1} << 46).value_or(0);
    const std::int64_t item = size_of(exchange.type).count();
    if (bytes % item != 0) {
      fields_.complain_at(e, "bytes", "{}: {} bytes are no whole number of elements of {} bytes ({})", what, bytes,
                          item, to_string(exchange.type));
    }
    exchange.elements = bytes / item;
    exchange.per_forward =
        static_cast<std::int32_t>(fields_.integer(e, "per_forward", what, 0, kMostExchanges).value_or(0));
    exchange.per_backward =
        static_cast<std::int32_t>(fields_.integer(e, "per_backward", what, 0, kMostExchanges).value_or(0));
    if (exchange.per_forward + exchange.per_backward == 0)
      fields_.complain(e, "{}: it never happens; say per_forward, per_backward or both", what);
    exchange.overlaps = e.overlaps();
    return exchange;
  }

  /// What becomes of the gradients when every replica has a part of the model.
  void check_splitting(const proto::Communicator& c) {
    if (!traits(strategy_.algorithm).works_in_groups) {
      fields_.complain_at(
          c, "splits_model",
          "communicator \"{}\": gradients are then reduced in groups, which \"{}\" does not do; take {} as the "
          "strategy's algorithm",
          c.name(), to_string(strategy_.algorithm),
          names_where([](const AlgorithmTraits& t) { return t.works_in_groups; }, " or "));
    }
    if (strategy_.collective != CollectiveKind::kAllReduce) {
      fields_.complain_at(c, "splits_model",
                          "communicator \"{}\": only an all-reduce of the gradients is done in groups", c.name());
    }
    const std::int64_t group = c.size() > 0 ? cluster_.replicas() / c.size() : 1;
    if (traits(strategy_.algorithm).power_of_two && (group & (group - 1)) != 0) {
      fields_.complain_at(
          c, "splits_model",
          "communicator \"{}\": {} needs groups of a power of two of replicas, and {} hold the same part "
          "of the model; take ring",
          c.name(), to_string(strategy_.algorithm), group);
    }
  }

  Fields& fields_;
  const Strategy& strategy_;
  const Cluster& cluster_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<Communicator> communicators_from(const proto::Scenario& message, Fields& fields, const Strategy& strategy,
                                             const Cluster& cluster) {
  return CommunicatorsReader(fields, strategy, cluster).read(message);
}

}  // namespace tutti::core
