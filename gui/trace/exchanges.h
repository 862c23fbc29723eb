#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "gui/trace/trace.h"

namespace tutti::gui {

/// Finds the exchange (core::SpanKind::kExchange) of a training step that a schedule step of a lane
/// belongs to. A lane executes exchanges in sequence and counts its schedule steps from 0 in each
/// of them, so an exchange can only be found by the time for which it was in flight on the lane's
/// device.
class Exchanges {
 public:
  /// Reads the exchanges of a trace. ERRORS: the file has changed since it was opened. Cost: linear
  /// in the spans of rows with exchanges.
  static core::Expected<Exchanges> read(const Trace& trace);

  /// Returns the number, from 0, of the exchange that was in flight at `t` in the lane's slot; -1
  /// if there was none. The n-th exchange of a kind in a training step has the same number on every
  /// device. Cost: logarithmic.
  [[nodiscard]] std::int32_t number(const core::Track& lane, core::Time t) const;

 private:
  struct Flight {
    core::Time start, end;
    std::int32_t number = -1;
  };
  using Slot = std::tuple<std::int32_t, std::string, std::int32_t>;  ///< worker, device and slot
  std::map<Slot, std::vector<Flight>> flights_;                      ///< sorted by start
};

}  // namespace tutti::gui
