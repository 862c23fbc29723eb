#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/formats/chakra.h"
#include "core/formats/goal.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// Exports the training step of a scenario to other simulators. Chakra execution traces (one for
/// each rank) have a single node for each collective. GOAL schedules have the sends, receives and
/// reductions of the collective's algorithm. If the workload of the scenario is an execution trace,
/// this trace is converted.
class TraceExport {
 public:
  /// ERRORS: the formats cannot express the step, for example because packs are fused at run time.
  /// REQUIRES: the scenario outlives it.
  static Expected<std::unique_ptr<TraceExport>> of(const Scenario& scenario);
  virtual ~TraceExport() = default;

  [[nodiscard]] virtual std::int64_t ranks() const = 0;
  /// Writes the Chakra trace of a rank.
  virtual void write_chakra(std::int64_t rank, std::ostream& out) const = 0;
  /// Returns the ranks of the communicators that Chakra nodes name, as JSON for ASTRA-sim and
  /// read_graph(). Returns an empty text if no node names a communicator.
  [[nodiscard]] virtual std::string chakra_groups() const = 0;
  /// Returns the reason why the step cannot be written as GOAL; empty if it can.
  [[nodiscard]] virtual std::string why_no_goal() const = 0;
  /// Returns the GOAL schedule of a rank. REQUIRES: why_no_goal() is empty.
  [[nodiscard]] virtual GoalRank goal(std::int64_t rank) const = 0;
  /// Returns notes for the users of the files.
  [[nodiscard]] virtual std::vector<std::string> notes(bool goal) const = 0;
};

}  // namespace tutti::core
