#include "core/scenario/communicators_reader.h"

#include <cmath>
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

/// The maximum number of exchanges of one kind in a pass: forty times the number in the largest
/// known models. Every exchange is simulated, so this maximum limits the duration of a simulation.
constexpr std::int32_t kMaxPerPass = 16'384;
static_assert(kMaxPerPass <= kMaxExchanges);

class CommunicatorsReader {
 public:
  explicit CommunicatorsReader(Fields& fields) : fields_(fields) {}

  std::vector<WrittenCommunicator> read(const proto::Scenario& message) {
    std::vector<WrittenCommunicator> all;
    bool splits = false;
    for (const proto::Communicator& c : message.communicator()) {
      const std::size_t before = fields_.problems().size();
      WrittenCommunicator communicator = one(c);
      if (c.splits_model() && std::exchange(splits, true)) {
        fields_.complain_at(c, "splits_model", ProblemCode::kConflict,
                            "communicator \"{}\": splits_model is already set in another "
                            "communicator; remove it here, and set it only in a communicator whose "
                            "size is the product of the sizes of these two communicators",
                            c.name());
      }
      communicator.sound = fields_.problems().size() == before && fields_.sources().whole(c);
      all.push_back(std::move(communicator));
    }
    return all;
  }

 private:
  WrittenCommunicator one(const proto::Communicator& c) {
    WrittenCommunicator communicator;
    communicator.name = c.name();
    if (c.name().empty()) {
      fields_.complain_at(c, "name", ProblemCode::kMissing,
                          "a communicator has no name; set one, such as name: \"tensor\"");
    } else if (!names_.insert(c.name()).second) {
      fields_.complain_at(c, "name", ProblemCode::kDuplicate,
                          "communicator \"{}\" is listed twice; names must differ", c.name());
    }
    const std::string what = fmt::format("communicator \"{}\"", c.name());
    if (!c.has_size())
      fields_.complain_at(c, "size", ProblemCode::kMissing,
                          "{}: size is missing; set the number of replicas per group", what);
    // The limits for sizes depend on the cluster and are checked later.
    if (c.has_size()) communicator.size = c.size();
    if (c.has_stride()) communicator.stride = c.stride();
    communicator.splits_model = c.splits_model();
    communicator.algorithm = c.algorithm();
    if (const auto channels = fields_.integer(c, "channels", what, 1, 64))
      communicator.channels = static_cast<int>(*channels);
    if (const auto us = fields_.number(c, "launch_us", what, {0, kMaxLatencyUs}))
      communicator.launch = time_from_us(*us);
    for (const proto::Exchange& e : c.exchange())
      communicator.exchanges.push_back(exchange(e, what));
    if (c.exchange().empty() && !c.splits_model())
      fields_.complain(c, ProblemCode::kUnused,
                       "{} has neither an exchange nor splits_model, so this communicator has no "
                       "effect; add exchange {{ … }}, or set splits_model: true",
                       what);
    return communicator;
  }

  Exchange exchange(const proto::Exchange& e, const std::string& of) {
    const std::string what = of + ": exchange";
    Exchange exchange;
    exchange.collective = collective_of(e.collective());
    if (e.has_type() && e.type() == proto::DATA_TYPE_UNSPECIFIED)
      fields_.complain_at(e, "type", "{}: type must be a data type, such as BFLOAT16", what);
    if (e.has_type() && e.type() != proto::DATA_TYPE_UNSPECIFIED)
      exchange.type = static_cast<DataType>(e.type());
    if (!e.has_bytes())
      fields_.complain_at(e, "bytes", ProblemCode::kMissing,
                          "{}: bytes is missing; set the size of each collective", what);
    const std::int64_t bytes =
        fields_.integer(e, "bytes", what, 1, std::int64_t{1} << 46).value_or(0);
    const std::int64_t item = size_of(exchange.type).count();
    if (bytes % item != 0) {
      fields_.complain_at(e, "bytes",
                          "{}: {} bytes are not a whole number of elements of {} bytes ({})", what,
                          bytes, item, to_string(exchange.type));
    }
    exchange.elements = bytes / item;
    exchange.per_forward = static_cast<std::int32_t>(
        fields_.integer(e, "per_forward", what, 0, kMaxPerPass).value_or(0));
    exchange.per_backward = static_cast<std::int32_t>(
        fields_.integer(e, "per_backward", what, 0, kMaxPerPass).value_or(0));
    if (exchange.per_forward + exchange.per_backward == 0)
      fields_.complain(e, ProblemCode::kUnused,
                       "{}: this exchange never happens; set per_forward, per_backward or both",
                       what);
    exchange.overlaps = e.overlaps();
    if (e.has_least_filled()) {
      const auto share = fields_.number(e, "least_filled", what, {0, 1});
      if (exchange.collective != CollectiveKind::kAllToAll)
        fields_.complain_at(e, "least_filled", ProblemCode::kUnused,
                            "{}: least_filled applies only to ALL_TO_ALL; remove it", what);
      if (share && *share < 1)
        exchange.sizes = VaryingSizes{static_cast<std::int64_t>(std::llround(*share * 1e6))};
    }
    return exchange;
  }

  Fields& fields_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<WrittenCommunicator> communicators_from(const proto::Scenario& message,
                                                    Fields& fields) {
  return CommunicatorsReader(fields).read(message);
}

}  // namespace tutti::core
