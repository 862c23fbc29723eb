#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "gui/trace/trace.h"

namespace tutti::gui {

/// Finds the exchange (core::SpanKind::kExchange), a collective during computation, to which a
/// schedule step of a lane belongs. A lane executes exchanges in sequence, and its step numbers
/// begin at 0 in each exchange. The numbers do not identify the exchange, so it is found by the
/// times at which exchanges were in flight on the lane's device.
class Exchanges {
 public:
  /// Reads the exchanges of a trace. ERRORS: the file has changed since it was opened. Cost: linear
  /// in the number of spans in rows with exchanges.
  static core::Expected<Exchanges> read(const Trace& trace);

  /// Returns the number, from 0, of the exchange that was in flight at time `t` in the slot of the
  /// lane's track; -1 if no exchange was in flight. Collectives that are in flight at the same time
  /// on a device have different slots. The n-th exchange of a kind in a training step has the same
  /// number on every device. Cost: logarithmic.
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
