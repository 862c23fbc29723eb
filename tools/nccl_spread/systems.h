#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/calibration/time_process.h"
#include "core/nccl/time/error_bands.h"

namespace tutti::nccl_spread {

/// One experiment of a system: repeats are one row, their median.
struct Table {
  std::string name;
  core::CollectiveKind kind = core::CollectiveKind::kAllReduce;
  int hosts = 1;
  core::nccl::BandFacts facts;
  /// Rows; their `table` is the table's index in its system.
  std::vector<core::nccl::MeasuredPoint> rows;
};

/// A system of the fit, predicted by a fit that did not know it.
struct System {
  std::string name;
  std::vector<Table> tables;
};

/// The systems in what `nccl_fit --leave-one-out --dump` writes.
/// ERRORS: columns that are missing; cells that are no numbers.
core::Expected<std::vector<System>> read_systems(std::string_view dump, const std::string& file);

/// Tables of a system that are given, and others that are to be predicted with them.
struct Case {
  const System* system = nullptr;
  std::vector<std::size_t> given;
  std::vector<std::size_t> asked;
  double weight = 1;  ///< total weight of its rows
};

/// Each all-reduce table of a system is given, all other tables are asked.
std::vector<Case> one_all_reduce(const std::vector<System>& systems);
/// … the tables of other collectives are asked.
std::vector<Case> other_collectives(const std::vector<System>& systems);
/// All tables of one and two nodes are given, those of four and more are asked.
std::vector<Case> more_nodes(const std::vector<System>& systems);

/// The systems that `hold` says.
template <class Hold>
std::vector<System> those(const std::vector<System>& systems, Hold hold) {
  std::vector<System> made;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    if (hold(i)) made.push_back(systems[i]);
  }
  return made;
}

}  // namespace tutti::nccl_spread
