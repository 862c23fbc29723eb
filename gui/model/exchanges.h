#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "gui/model/trace.h"

namespace tutti::gui {

/// Which of a training step's exchanges (core::SpanKind::kExchange) the steps of a lane belong to. A lane does one exchange after the
/// other, and counts its steps from 0 in each; so what tells them apart is when they were in flight on the lane's device.
class Exchanges {
 public:
  /// ERRORS: the file has changed since. Cost: linear in the spans of rows with exchanges.
  static core::Expected<Exchanges> read(const Trace& trace);

  /// A number from 0 on that the n-th exchange of a kind in a training step has on every device, if it was in flight at `t` in that slot;
  /// -1 if none was. Cost: logarithmic.
  [[nodiscard]] std::int32_t number(const core::Track& lane, core::Time t) const;

 private:
  struct Flight {
    core::Time start, end;
    std::int32_t number = -1;
  };
  using Slot = std::tuple<std::int32_t, std::string, std::int32_t>;  ///< worker, device, slot
  std::map<Slot, std::vector<Flight>> flights_;                      ///< by start
};

}  // namespace tutti::gui
