// Finds the positions in the editor of the problems of a scenario. A problem has a line and a
// column. The editor needs a field of the form and a range of the text. If a value begins at this
// position, the problem belongs to this value's field, and the value is underlined. If no value
// begins there, the word at the position is underlined. A problem at the beginning of a message is
// often about a field that is not set, and that only the form shows. The problem's description is
// therefore searched for the name of an unset field. A problem in line 1, column 1 concerns the
// whole scenario, even if the first field begins there.
//
// The summary contains facts that need no simulation: bytes, lower bounds, and whether bandwidth or
// latency dominates. Checker calls check_scenario() in a thread of its own.

#include "gui/documents/scenario_check.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/format.h"
#include "core/lowering/reduction_scope.h"
#include "core/strategy/bounds.h"

namespace tutti::gui {

using core::Bytes;
using core::show;
using core::Time;

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns the first unset field of `message` whose name occurs in `words`, the description of a
/// problem. (A problem of a whole message is often about an unset field.)
std::optional<std::string> unwritten_field(const core::ScenarioText& text,
                                           const core::FieldPath& message,
                                           const std::string& words) {
  const core::FieldType* const field = message.empty() ? nullptr : text.type(message);
  const core::MessageType* const type = message.empty() ? &text.schema().root()
                                        : field         ? field->message
                                                        : nullptr;
  for (std::size_t at = 0; type && at < words.size();) {
    std::size_t end = at;
    while (end < words.size() && is_word(words[end])) ++end;
    const std::string word = words.substr(at, end - at);
    core::FieldPath path = message;
    path.push_back({word, 0});
    if (type->find(word) && type->find(word)->name == word && !text.find(path)) return word;
    at = end + 1;
  }
  return std::nullopt;
}

/// Returns the range of the word or character at a position. At the end of the text, returns the
/// range before the position.
core::ScenarioText::Range word_at(const std::string& text, std::size_t at) {
  if (text.empty()) return {};
  at = std::min(at, text.size() - 1);
  while (at > 0 && std::isspace(static_cast<unsigned char>(text[at])) != 0) --at;
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  if (end == at) ++end;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    ++end;  // include all bytes of the character
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return {at, end};
}

bool begins_with_unknown_field(const core::ScenarioText& text) {
  const auto& fields = text.root().fields;
  return !fields.empty() && fields.front().at.line == 1 && fields.front().at.column == 1 &&
         !text.schema().root().find(fields.front().name);
}

PlacedProblem place(const core::Problem& problem, const core::ScenarioText& text) {
  PlacedProblem made{problem, {}, {}};
  const core::Position at{problem.where.line, problem.where.column};
  if (at.line < 1) return made;
  const std::size_t offset = text.places().offset(at);
  made.text = word_at(text.text(), offset);
  // A problem at the beginning of the text concerns the whole scenario, even if a field begins
  // there.
  const bool whole = at.line == 1 && at.column == 1;
  made.field = whole ? core::FieldPath() : text.path_at(offset);
  const core::Value* const value = text.find(made.field);
  if (!value || (!whole && text.range(*value).from != offset)) return made;
  if (value->kind != core::Value::Kind::kMessage) {
    made.text = text.range(*value);
  } else if (!whole || !begins_with_unknown_field(text)) {
    if (const auto field = unwritten_field(text, made.field, problem.text))
      made.field.push_back({*field, 0});
  }
  return made;
}

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The total time of all packs if they run one after another, as two parts: the time for their
/// bytes, and the time for their latencies.
struct BoundParts {
  Time bytes;
  Time latency;
};

BoundParts parts_of(const core::Scenario& scenario) {
  std::map<Bytes, core::Bound> known;
  BoundParts parts;
  for (const core::Pack& pack : scenario.plan.packs) {
    if (pack.phase == core::PackPhase::kCheckpoint) continue;
    const Bytes bytes = scenario.plan.collective(pack).bytes();
    auto found = known.find(bytes);
    if (found == known.end())
      found = known
                  .emplace(bytes, core::all_reduce_bound(*scenario.cluster, bytes,
                                                         scenario.run.network_model))
                  .first;
    parts.bytes = std::min(core::kLongestDuration,
                           parts.bytes + (found->second.time - found->second.latency));
    parts.latency = std::min(core::kLongestDuration, parts.latency + found->second.latency);
  }
  return parts;
}

/// Adds facts about the scenario's communicators, which exchange data other than gradients. Adds a
/// fact about the groups of replicas in which gradients are reduced, if there are several groups.
void report_communicators(const core::Scenario& scenario, Card& card) {
  for (const core::PlannedExchange& exchange : scenario.plan.exchanges) {
    const core::Communicator& of = scenario.communicators[exchange.communicator];
    card.facts.emplace_back("communicator",
                            core::describe(exchange, of, scenario.workload.micro_batches));
  }
  if (const auto& partition = scenario.plan.partition;
      core::reduction_scope(scenario.strategy, scenario.plan) == core::ReductionScope::kGroups) {
    card.facts.emplace_back("gradients",
                            fmt::format("reduced in {} groups of {} replicas; the replicas of a "
                                        "group hold the same part of the model",
                                        partition->groups(), partition->group_size()));
  }
}

}  // namespace

Card card_of(const core::Scenario& scenario) {
  Card card;
  const auto fact = [&](const char* what, std::string value) {
    card.facts.emplace_back(what, std::move(value));
  };
  const std::vector<core::Pack>& packs = scenario.plan.packs;
  const core::Workload sent = core::as_sent(scenario.workload, scenario.strategy.compression);
  const Bytes bytes = sent.bytes();
  fact("ranks", core::describe(*scenario.cluster));
  fact("strategy", core::describe(scenario.strategy));
  fact("bytes", fmt::format("{} on every rank: {} in {}", show(bytes),
                            plural(scenario.workload.gradients.size(), "gradient"),
                            plural(packs.size(), "pack")));
  report_communicators(scenario, card);
  // The bounds below hold only for an all-reduce over all replicas.
  if (!core::has_bounds(scenario.workload, scenario.strategy, scenario.plan)) {
    fact("lower bound of the step time",
         "unknown (Tutti computes bounds only for all-reduces of whole gradients over all "
         "replicas)");
    return card;
  }
  const core::Bound all =
      core::all_reduce_bound(*scenario.cluster, bytes, scenario.run.network_model);
  const core::Bound step = core::step_bound(
      *scenario.cluster, sent, scenario.run.compute_jitter_ppm, scenario.run.network_model);
  fact("lower bound of the step time", show(step.time) + ": " + step.reason);
  fact("lower bound of communication", show(all.time) + ": " + all.reason);
  const BoundParts parts = parts_of(scenario);
  if (parts.bytes + parts.latency == Time()) {
    fact("bound by", "nothing: no bytes have to be sent");
    return card;
  }
  card.binds = parts.bytes >= parts.latency ? Card::Binds::kBandwidth : Card::Binds::kLatency;
  fact("bound by",
       fmt::format("{}: moving the bytes takes {}; the latency of {} is {}",
                   card.binds == Card::Binds::kBandwidth ? "bandwidth" : "latency",
                   show(parts.bytes), plural(packs.size(), "pack"), show(parts.latency)));
  return card;
}

std::vector<PlacedProblem> placed(const core::Error& error, const std::string& path,
                                  const core::ScenarioText& text) {
  std::vector<PlacedProblem> all;
  for (const core::Problem& problem : error.problems()) {
    if (problem.where.file == path) {
      all.push_back(place(problem, text));
    } else {
      all.push_back({problem, {}, {}});
    }
  }
  return all;
}

CheckedScenario check_scenario(const std::string& text, const std::string& path,
                               const core::Library& library, const core::Schema& schema) {
  const auto scenario = core::read_scenario(text, path, library);
  if (scenario) return {{}, card_of(*scenario)};
  return {placed(scenario.error(), path, core::ScenarioText(text, schema)), std::nullopt};
}

std::vector<std::string> suggestions(const std::string& full_name, const core::Library& library) {
  using Kind = core::Library::Kind;
  if (full_name == "tutti.proto.Strategy.algorithm") return core::algorithm_names();
  if (full_name == "tutti.proto.SpecEntry.algorithm") return core::spec_algorithm_names();
  if (full_name == "tutti.proto.Workers.machine") return library.names(Kind::kMachine);
  if (full_name == "tutti.proto.Network.link") return library.names(Kind::kLink);
  if (full_name == "tutti.proto.Workload.model") return library.names(Kind::kModel);
  if (full_name == "tutti.proto.Custom.file") return library.names(Kind::kAlgorithm);
  if (full_name == "tutti.proto.Workload.layer_times") return library.names(Kind::kLayerTimes);
  return {};
}

}  // namespace tutti::gui
