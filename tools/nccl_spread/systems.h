#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/calibration/time_process.h"
#include "core/nccl/time/error_bands.h"

namespace tutti::nccl_spread {

/// The table of one experiment of a system. If a size was measured repeatedly, the table has one
/// row with the median.
struct Table {
  std::string name;
  core::CollectiveKind kind = core::CollectiveKind::kAllReduce;
  int hosts = 1;
  core::nccl::BandFacts facts;
  /// The rows. MeasuredPoint::table is the index of this table in its system.
  std::vector<core::nccl::MeasuredPoint> rows;
};

/// A system with predictions. The parameters of the predictions were fitted without this system.
struct System {
  std::string name;
  std::vector<Table> tables;
};

/// Reads the systems in the output of `nccl_fit --leave-one-out --dump`. ERRORS: a column is
/// missing; a cell is not a number.
core::Expected<std::vector<System>> read_systems(std::string_view dump, const std::string& file);

/// A test case: some tables of a system are given, and other tables are predicted from them.
struct Case {
  const System* system = nullptr;
  std::vector<std::size_t> given;
  std::vector<std::size_t> requested;
  double weight = 1;  ///< total weight of the predicted rows
};

/// Returns one case per all-reduce table of each system. In each case, one all-reduce table is
/// given, and all other tables of the system are predicted.
std::vector<Case> one_all_reduce(const std::vector<System>& systems);
/// Returns one case per all-reduce table of each system. In each case, one all-reduce table is
/// given, and the system's tables of other collectives are predicted.
std::vector<Case> other_collectives(const std::vector<System>& systems);
/// Returns one case per system. In each case, all tables with one and two nodes are given, and the
/// tables with four and more nodes are predicted.
std::vector<Case> more_nodes(const std::vector<System>& systems);
/// Returns one case per system. In each case, all tables of one node are given, and the tables of
/// several nodes are predicted.
std::vector<Case> between_nodes(const std::vector<System>& systems);

/// Returns the elements of `systems` for whose index `hold` returns true.
template <class Hold>
std::vector<System> those(const std::vector<System>& systems, Hold hold) {
  std::vector<System> made;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    if (hold(i)) made.push_back(systems[i]);
  }
  return made;
}

}  // namespace tutti::nccl_spread
