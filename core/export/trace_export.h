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

/// Writes the training step of a scenario for other simulators: as Chakra execution traces, one for
/// each rank, in which collectives are nodes; or as a GOAL schedule, in which they are the messages
/// and reductions of their algorithm. A scenario whose workload is a trace is converted.
class TraceExport {
 public:
  /// ERRORS: what the formats cannot express, such as decisions at run time.
  /// REQUIRES: the scenario outlives it.
  static Expected<std::unique_ptr<TraceExport>> of(const Scenario& scenario);
  virtual ~TraceExport() = default;

  [[nodiscard]] virtual std::int64_t ranks() const = 0;
  /// Writes the Chakra trace of a rank.
  virtual void write_chakra(std::int64_t rank, std::ostream& out) const = 0;
  /// The communicators that its nodes name, as JSON for ASTRA-sim and read_graph(); empty: they
  /// name none.
  [[nodiscard]] virtual std::string chakra_groups() const = 0;
  /// Returns why the trace cannot be written as GOAL; empty: it can.
  [[nodiscard]] virtual std::string why_no_goal() const = 0;
  /// Returns the GOAL schedule of a rank. REQUIRES: why_no_goal() is empty.
  [[nodiscard]] virtual GoalRank goal(std::int64_t rank) const = 0;
  /// Returns notes for readers of the files.
  [[nodiscard]] virtual std::vector<std::string> notes(bool goal) const = 0;
};

}  // namespace tutti::core
