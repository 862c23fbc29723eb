#include "tools/nccl_spread/systems.h"

#include <cmath>
#include <map>
#include <utility>

#include "core/base/median.h"
#include "core/base/number.h"
#include "core/text/csv.h"

namespace tutti::nccl_spread {
namespace {

using core::CollectiveKind;
using core::nccl::Algorithm;
using core::nccl::MeasuredPoint;
using core::nccl::Protocol;

std::optional<Protocol> protocol_of(const std::string& name) {
  for (std::size_t p = 0; p < core::nccl::kProtocols; ++p) {
    if (name == core::nccl::kProtocolNames[p]) return static_cast<Protocol>(p);
  }
  return std::nullopt;
}

std::optional<Algorithm> algorithm_of(const std::string& name) {
  for (std::size_t a = 0; a < core::nccl::kAlgorithms; ++a) {
    if (name == core::nccl::kAlgorithmNames[a]) return static_cast<Algorithm>(a);
  }
  return std::nullopt;
}

template <class Given, class Asked>
std::vector<Case> cases(const std::vector<System>& systems, Given given, Asked requested) {
  std::vector<Case> made;
  for (const System& system : systems) {
    const std::size_t first = made.size();
    for (std::size_t g = 0; g < system.tables.size(); ++g) {
      if (!given(system.tables[g])) continue;
      Case one{&system, {g}, {}, 1};
      for (std::size_t t = 0; t < system.tables.size(); ++t) {
        if (t != g && requested(system.tables[t])) one.requested.push_back(t);
      }
      if (!one.requested.empty()) made.push_back(std::move(one));
    }
    for (std::size_t c = first; c < made.size(); ++c)
      made[c].weight = 1 / static_cast<double>(made.size() - first);
  }
  return made;
}

/// Returns one case per system. In each case, the tables that `given` selects are given, and the
/// tables that `requested` selects are predicted.
template <class Given, class Asked>
std::vector<Case> one_case_each(const std::vector<System>& systems, Given given, Asked requested) {
  std::vector<Case> made;
  for (const System& system : systems) {
    Case one{&system, {}, {}, 1};
    for (std::size_t t = 0; t < system.tables.size(); ++t) {
      if (given(system.tables[t])) one.given.push_back(t);
      if (requested(system.tables[t])) one.requested.push_back(t);
    }
    if (!one.given.empty() && !one.requested.empty()) made.push_back(std::move(one));
  }
  return made;
}

}  // namespace

core::Expected<std::vector<System>> read_systems(std::string_view dump, const std::string& file) {
  core::Problems problems;
  const core::CsvTable csv = core::parse_csv(dump, file, problems);
  const std::vector<const char*> columns{"config",   "system",   "nodes",   "collective", "bytes",
                                         "protocol", "measured", "launch",  "hops",       "fill",
                                         "transfer", "driving",  "version", "domains",    "ranks",
                                         "settings", "algorithm"};
  const std::vector<std::size_t> at = csv.required(columns, file, problems);
  if (!problems.empty()) return problems.take();
  std::map<std::string, std::map<std::string, std::map<std::int64_t, std::vector<MeasuredPoint>>>>
      found;
  std::map<std::string, int> hosts;
  std::map<std::string, core::nccl::BandFacts> facts;
  for (const auto& line : csv.rows) {
    const auto text = [&](std::size_t c) -> const std::string& { return line.cells[at[c]].text; };
    const auto number = [&](std::size_t c) {
      const auto& cell = line.cells[at[c]];
      return core::read_number(cell.text, {file, cell.at.line, cell.at.column}, columns[c], -1e3,
                               1e15, problems)
          .value_or(1);
    };
    const auto kind = core::parse_collective(text(3));
    if (!kind) continue;
    MeasuredPoint row;
    row.at.kind = *kind;
    row.at.protocol = protocol_of(text(5));
    row.at.algorithm = algorithm_of(text(16));
    row.at.bytes = static_cast<std::int64_t>(number(4));
    row.at.ranks = static_cast<int>(number(14));
    row.at.nodes = static_cast<int>(number(13));
    row.at.parts_us = {number(7), number(8), number(9), number(10)};
    row.measured_us = number(6);
    row.at.settings = core::whole_number<std::uint64_t>(text(15)).value_or(0);
    const std::string table = text(0) + "|" + text(11) + "|" + text(12) + "|" + text(15);
    hosts[table] = static_cast<int>(number(2));
    facts[table].kind = *kind;
    facts[table].driving = static_cast<core::nccl::Driving>(number(11));
    found[text(1).substr(0, text(1).find(" ("))][table][row.at.bytes].push_back(row);
  }
  if (!problems.empty()) return problems.take();
  std::vector<System> systems;
  for (auto& [name, tables] : found) {
    System system{name, {}};
    for (auto& [table, sizes] : tables) {
      Table made{table, CollectiveKind::kAllReduce, hosts[table], facts[table], {}};
      for (auto& [bytes, repeats] : sizes) {
        std::vector<double> us;
        for (const MeasuredPoint& row : repeats) us.push_back(row.measured_us);
        MeasuredPoint row = repeats.front();
        row.measured_us = core::median(us);
        row.table = static_cast<int>(system.tables.size());
        made.kind = row.at.kind;
        made.rows.push_back(row);
      }
      system.tables.push_back(std::move(made));
    }
    systems.push_back(std::move(system));
  }
  return systems;
}

std::vector<Case> one_all_reduce(const std::vector<System>& systems) {
  return cases(
      systems, [](const Table& t) { return t.kind == CollectiveKind::kAllReduce; },
      [](const Table&) { return true; });
}

std::vector<Case> other_collectives(const std::vector<System>& systems) {
  const auto all_reduce = [](const Table& t) { return t.kind == CollectiveKind::kAllReduce; };
  return cases(systems, all_reduce, [&](const Table& t) { return !all_reduce(t); });
}

std::vector<Case> more_nodes(const std::vector<System>& systems) {
  return one_case_each(
      systems, [](const Table& t) { return t.hosts <= 2; },
      [](const Table& t) { return t.hosts >= 4; });
}

std::vector<Case> between_nodes(const std::vector<System>& systems) {
  const auto inside = [](const Table& t) { return t.rows.front().at.nodes == 1; };
  return one_case_each(systems, inside, [&](const Table& t) { return !inside(t); });
}

}  // namespace tutti::nccl_spread
