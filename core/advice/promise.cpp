// A promise is a set of predicted times that is recorded before a measurement and later compared
// with it. A promise contains the collectives of the scenario's plan. For each communicator, it
// also contains a series of sizes (powers of two from 8 bytes to 8 GiB), because users of
// nccl-tests measure sizes that do not occur in the plan. If the promise has no prediction for the
// exact size of a measurement, the time is interpolated between two sizes of the series, linearly
// in the logarithms of bytes and time. Adjacent sizes differ by a factor of two, and over such a
// short range the time is close to a power of the bytes. If no prediction matches a measurement,
// the grade names the first property that differs. core/nccl computes the predictions, and the
// caller reads the measurements.

#include "core/advice/promise.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/nccl/collective_time.h"
#include "core/strategy/nccl_links.h"
#include "core/text/document.h"
#include "core/tuner_table/table.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kFirstSize = 8;
constexpr std::int64_t kLastSize = std::int64_t{8} << 30;

/// Returns NCCL's algorithm and protocol as text: "ring/ll128".
std::string choice_of(const nccl::CollectiveTime& time) {
  if (!time.choice) return "";
  if (!time.choice->symmetric.empty()) return std::string(time.choice->symmetric);
  return fmt::format("{}/{}",
                     tuner_table::kAlgorithms[static_cast<std::size_t>(time.choice->algorithm)],
                     tuner_table::kProtocols[static_cast<std::size_t>(time.choice->protocol)]);
}

PromisedCollective promised(CollectiveKind kind, std::int64_t bytes,
                            const nccl::CollectiveTime& time, bool planned) {
  const double us = to_us(time.whole());
  return {kind,
          bytes,
          time.communicator->ranks,
          time.communicator->nodes,
          us,
          us * time.band.low,
          us * time.band.high,
          choice_of(time),
          time.channels,
          planned};
}

/// Adds predictions for all collectives of the cost model, at the sizes that nccl-tests measures.
void add_series(const Scenario& scenario, const nccl::Predictor& predictor,
                PredictedSetting& promise) {
  const nccl::Communicator& comm = predictor.communicator();
  const Cluster& cluster = *scenario.cluster;
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
    // The lower bound of the links is known only if NCCL treats a machine as one node. If it treats
    // a machine as several nodes, these communicate over paths that the machine file does not
    // describe.
    const bool known_ways =
        comm.nodes == 1 || comm.ranks_of_node() <= cluster.replicas_per_worker();
    std::optional<NcclLinkBound> bound;
    if (known_ways)
      bound.emplace(cluster.groups().front().machine, cluster.network(),
                    std::make_shared<const nccl::Communicator>(comm), kind, 0);
    for (std::int64_t bytes = kFirstSize; bytes <= kLastSize; bytes *= 2) {
      auto time = predictor.of(kind, bytes, DataType::kFloat32, Reduction::kSum);
      if (!time) continue;  // NCCL's environment variables exclude all algorithms for this call
      if (bound) bound->apply(*time);
      promise.collectives.push_back(promised(kind, bytes, *time, false));
    }
  }
}

/// Reads the fields of one collective.
class CollectiveReader {
 public:
  CollectiveReader(const Value& value, const std::string& file, Problems& problems)
      : value_(value), file_(file), problems_(problems) {}

  PromisedCollective read() {
    PromisedCollective read;
    if (const Value* kind = field("collective")) {
      const auto known = parse_collective(kind->text);
      if (!known) wrong(*kind, "is no collective");
      read.kind = known.value_or(read.kind);
    }
    whole("bytes", read.bytes, 0);
    whole("ranks", read.ranks, 1);
    whole("nodes", read.nodes, 1);
    whole("channels", read.channels, 0);
    positive("us", read.us);
    positive("low_us", read.low_us);
    positive("high_us", read.high_us);
    const bool known = read.low_us > 0 && read.us > 0 && read.high_us > 0;
    if (known && (read.low_us > read.us || read.us > read.high_us))
      wrong(value_, "has a time outside its error band; expected low_us <= us <= high_us");
    if (const Value* choice = field("choice")) read.choice = choice->text;
    if (const Value* planned = field("planned")) read.planned = planned->text == "true";
    return read;
  }

 private:
  const Value* field(const char* name) {
    for (const Value::Field& one : value_.fields) {
      if (one.name == name) return &one.value;
    }
    problems_.add({ProblemCode::kMissing, name}, place(value_), "this promise has no \"{}\"", name);
    return nullptr;
  }
  void wrong(const Value& value, const char* what) {
    problems_.add({ProblemCode::kWrongType}, place(value), "{} {}", describe(value), what);
  }
  void whole(const char* name, std::int64_t& to, std::int64_t least) {
    const Value* const value = field(name);
    if (!value) return;
    const auto number = whole_number<std::int64_t>(value->text);
    if (!number || *number < least) return wrong(*value, "is not a valid number for this field");
    to = *number;
  }
  void positive(const char* name, double& to) {
    const Value* const value = field(name);
    if (!value) return;
    const auto number = number_of(value->text);
    if (!number || !(*number > 0)) return wrong(*value, "is not a time above 0");
    to = *number;
  }
  [[nodiscard]] Location place(const Value& value) const {
    return {file_, value.at.line, value.at.column};
  }

  const Value& value_;
  const std::string& file_;
  Problems& problems_;
};

const Value* field_of(const Value& value, std::string_view name) {
  for (const Value::Field& one : value.fields) {
    if (one.name == name) return &one.value;
  }
  return nullptr;
}

/// Interpolates between the predictions for two sizes. Assumes that the time is proportional to a
/// power of the number of bytes.
PromisedCollective between(const PromisedCollective& a, const PromisedCollective& b,
                           std::int64_t bytes) {
  const double share = std::log(static_cast<double>(bytes) / static_cast<double>(a.bytes)) /
                       std::log(static_cast<double>(b.bytes) / static_cast<double>(a.bytes));
  const auto draw = [share](double from, double to) {
    return std::exp(std::log(from) + share * (std::log(to) - std::log(from)));
  };
  PromisedCollective made = share < 0.5 ? a : b;
  if (a.choice != b.choice) made.choice.clear();
  if (a.channels != b.channels) made.channels = 0;
  made.bytes = bytes;
  made.us = draw(a.us, b.us);
  made.low_us = draw(a.low_us, b.low_us);
  made.high_us = draw(a.high_us, b.high_us);
  return made;
}

}  // namespace

PredictedSetting promise_of(const Scenario& scenario) {
  PredictedSetting promise{scenario.name, to_string(scenario.nccl.version), {}};
  std::set<std::tuple<CollectiveKind, std::int64_t, std::int64_t, std::int64_t>> seen;
  const auto add = [&](const Collective& collective) {
    if (!collective.nccl) return;
    const std::int64_t bytes = collective.bytes().count();
    const nccl::Communicator& comm = *collective.nccl->communicator;
    if (!seen.emplace(collective.kind, bytes, comm.ranks, comm.nodes).second) return;
    promise.collectives.push_back(promised(collective.kind, bytes, *collective.nccl, true));
  };
  for (const Pack& pack : scenario.plan.packs) add(scenario.plan.collective(pack));
  for (const PlannedExchange& exchange : scenario.plan.exchanges)
    add(scenario.plan.collective(exchange));
  for (const auto& predictor : scenario.predictors) add_series(scenario, *predictor, promise);
  return promise;
}

Report report_of(const PredictedSetting& promise) {
  return {{"scenario", promise.scenario},
          {"nccl", promise.nccl},
          {"collectives", list_of(promise.collectives, [](const PromisedCollective& one) {
             return Report{{"collective", to_string(one.kind)},
                           {"bytes", one.bytes},
                           {"ranks", one.ranks},
                           {"nodes", one.nodes},
                           {"choice", one.choice},
                           {"channels", one.channels},
                           {"us", one.us},
                           {"low_us", one.low_us},
                           {"high_us", one.high_us},
                           {"planned", one.planned}};
           })}};
}

Expected<PredictedSetting> read_promise(std::string_view text, const std::string& file) {
  Problems problems;
  const Document document = parse_json(text, file, problems);
  if (!problems.empty()) return problems.take();
  const Value* root = &document.root;
  if (const Value* inside = field_of(*root, "promise")) root = inside;
  const Value* const list = field_of(*root, "collectives");
  if (!list || list->kind != Value::Kind::kList) {
    problems.add({ProblemCode::kMissing, "promise"}, {file, 0, 0},
                 "this file contains no promise (a prediction per collective); create it with "
                 "tutti tune SCENARIO --format json, for a strategy whose algorithm is nccl");
    return problems.take();
  }
  PredictedSetting promise;
  if (const Value* name = field_of(*root, "scenario")) promise.scenario = name->text;
  if (const Value* nccl = field_of(*root, "nccl")) promise.nccl = nccl->text;
  for (const Value& item : list->items)
    promise.collectives.push_back(CollectiveReader(item, file, problems).read());
  if (!problems.empty()) return problems.take();
  return promise;
}

std::string_view to_string(Grade::Verdict verdict) {
  switch (verdict) {
    case Grade::Verdict::kInside: return "inside";
    case Grade::Verdict::kFaster: return "faster";
    case Grade::Verdict::kSlower: return "slower";
    case Grade::Verdict::kNotPromised: return "not promised";
  }
  return "";
}

std::string_view to_string(Grade::Missing missing) {
  switch (missing) {
    case Grade::Missing::kNothing: return "";
    case Grade::Missing::kCollective: return "other collectives";
    case Grade::Missing::kRanks: return "other numbers of ranks";
    case Grade::Missing::kNodes:
      return "other numbers of nodes (the measurement does not state a number of nodes)";
    case Grade::Missing::kSize: return "other sizes";
  }
  return "";
}

std::vector<Grade> grade(const PredictedSetting& promise,
                         const std::vector<MeasuredPoint>& measured) {
  std::vector<Grade> grades;
  for (const MeasuredPoint& point : measured) {
    Grade made{point, std::nullopt, false, Grade::Verdict::kNotPromised};
    // Properties are compared in the order of the enumerators of Missing. Over all promised
    // collectives, keep the mismatch that comes last in this order, because it belongs to the most
    // similar one.
    made.missing = Grade::Missing::kCollective;
    const auto lacks = [&](Grade::Missing what) { made.missing = std::max(made.missing, what); };
    std::set<std::int64_t> nodes;
    for (const PromisedCollective& one : promise.collectives) {
      if (one.kind == point.kind && one.ranks == point.ranks) nodes.insert(one.nodes);
    }
    const bool ambiguous = point.nodes == 0 && nodes.size() > 1;
    const PromisedCollective *below = nullptr, *above = nullptr;
    for (const PromisedCollective& one : promise.collectives) {
      if (one.kind != point.kind) continue;
      lacks(Grade::Missing::kRanks);
      if (one.ranks != point.ranks) continue;
      lacks(Grade::Missing::kNodes);
      if (ambiguous || (point.nodes > 0 && one.nodes != point.nodes)) continue;
      lacks(Grade::Missing::kSize);
      if (one.bytes == point.bytes) {
        if (!made.promised || (one.planned && !made.promised->planned)) made.promised = one;
      } else if (one.bytes < point.bytes) {
        if (!one.planned && (!below || one.bytes > below->bytes)) below = &one;
      } else if (!one.planned && (!above || one.bytes < above->bytes)) {
        above = &one;
      }
    }
    if (!made.promised && below && above && below->bytes > 0) {
      made.promised = between(*below, *above, point.bytes);
      made.between = true;
    }
    if (made.promised) {
      made.missing = Grade::Missing::kNothing;
      made.verdict = point.us < made.promised->low_us    ? Grade::Verdict::kFaster
                     : point.us > made.promised->high_us ? Grade::Verdict::kSlower
                                                         : Grade::Verdict::kInside;
    }
    grades.push_back(std::move(made));
  }
  return grades;
}

}  // namespace tutti::core
