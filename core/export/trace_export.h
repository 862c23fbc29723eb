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

/// Exports the training step of a scenario to other simulators. There are two formats. Chakra has
/// one execution trace for each rank, in which each collective is a single node. A GOAL schedule
/// contains the sends, receives and reductions of each collective's algorithm. If the workload of
/// the scenario is itself an execution trace, this trace is converted.
class TraceExport {
 public:
  /// ERRORS: the formats cannot express the step, for example because packs are fused at run time.
  /// REQUIRES: the scenario outlives the TraceExport.
  static Expected<std::unique_ptr<TraceExport>> of(const Scenario& scenario);
  virtual ~TraceExport() = default;

  [[nodiscard]] virtual std::int64_t ranks() const = 0;
  /// Writes the Chakra trace of a rank.
  virtual void write_chakra(std::int64_t rank, std::ostream& out) const = 0;
  /// Returns a JSON text with the ranks of each communicator that the Chakra nodes name. ASTRA-sim
  /// and read_graph() read this text. The text is empty if no node names a communicator.
  [[nodiscard]] virtual std::string chakra_groups() const = 0;
  /// Returns the reason why the step cannot be written as GOAL; empty if GOAL can express the step.
  [[nodiscard]] virtual std::string why_no_goal() const = 0;
  /// Returns the GOAL schedule of a rank. REQUIRES: why_no_goal() is empty.
  [[nodiscard]] virtual GoalRank goal(std::int64_t rank) const = 0;
  /// Returns notes that the user of the exported files should read.
  [[nodiscard]] virtual std::vector<std::string> notes(bool goal) const = 0;
};

}  // namespace tutti::core
