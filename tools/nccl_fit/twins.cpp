#include "tools/nccl_fit/twins.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/base/median.h"

namespace tutti::nccl_fit {
namespace {

using core::median;

/// The logarithms of the measured times of an experiment, by size in bytes. If a size was measured
/// repeatedly, at() uses the median.
using Curve = std::map<std::int64_t, std::vector<double>>;

/// Returns a text with the recorded facts about the row's machines and run. Equal texts mean equal
/// facts.
std::string facts_of(const Row& row) {
  const core::TableFacts& f = row.model->table().facts;
  const core::nccl::System& s = row.model->system().system;
  std::string key = fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(s.generation), s.card,
                                static_cast<int>(s.inside), s.nvlinks, f.nodes, f.gpus_per_node,
                                f.collective, s.grace);
  if (f.nodes > 1)
    key += fmt::format(" {} {} {}", static_cast<int>(s.transport), s.nics, s.nic_gb_per_s);
  for (const auto& [name, value] : f.env) {
    if (name == "NCCL_ALGO" || name == "NCCL_PROTO") key += fmt::format(" {}={}", name, value);
  }
  return key;
}

/// Interpolates the curve. Returns nullopt if the size is outside of the measured range, or if the
/// two nearest measured sizes differ by more than a factor of four.
std::optional<double> at(const Curve& curve, std::int64_t bytes) {
  const auto above = curve.lower_bound(bytes);
  if (above == curve.end()) return std::nullopt;
  if (above->first == bytes) return median(above->second);
  if (above == curve.begin()) return std::nullopt;
  const auto below = std::prev(above);
  if (above->first > 4 * below->first) return std::nullopt;
  const auto log = [](std::int64_t size) { return std::log(static_cast<double>(size)); };
  const double part = (log(bytes) - log(below->first)) / (log(above->first) - log(below->first));
  return median(below->second) * (1 - part) + median(above->second) * part;
}

}  // namespace

core::nccl::Errors between_twins(const std::vector<Row>& rows) {
  std::map<std::string, std::map<std::string, Curve>> curves;  // by facts, then by system
  const auto bytes_of = [](const Row& row) { return row.model->table().rows[row.index].bytes; };
  for (const Row& row : rows)
    curves[facts_of(row)][system_of(row)][bytes_of(row)].push_back(row.log_us);
  std::map<std::pair<std::string, std::string>, std::vector<double>>
      found;  // by config, then by the other system
  for (const Row& row : rows) {
    for (const auto& [system, curve] : curves[facts_of(row)]) {
      if (system == system_of(row)) continue;
      const auto other = at(curve, bytes_of(row));
      if (other)
        found[{row.model->table().facts.config, system}].push_back(std::exp(*other - row.log_us) -
                                                                   1);
    }
  }
  core::nccl::Errors errors;
  for (const auto& [pair, all] : found) {
    for (const double error : all) errors.add(error, 1 / static_cast<double>(all.size()));
  }
  return errors;
}

}  // namespace tutti::nccl_fit
