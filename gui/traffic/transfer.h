#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "core/schedule/step.h"

namespace tutti::gui {

/// A message, with all times on its way from the sending schedule step to the receiving schedule
/// step.
///
///     sent ── moves ─────────── left            of the step that sends
///               awaited ─────────────── taken   of the step that receives
///
/// If the sending step also receives, the timeline does not record when it began to send. For such
/// a step, `sent` is the time at which the message began to move, as recorded by its receiver. If
/// the receiver was not waiting at this time, `sent` is the time at which the sending step was
/// complete.
struct Transfer {
  core::Time sent;  ///< time at which the sending step stopped waiting
  /// The time at which the first link began to serve the message. This time is later than `sent` if
  /// the link was busy.
  core::Time moves;
  core::Time left;     ///< time at which the sending step was complete
  core::Time awaited;  ///< time at which the receiving step began
  core::Time taken;    ///< time at which the receiving step was complete
  /// The sending and the receiving device; -1: the device's schedule step was not recorded. For the
  /// result of an in-switch reduction, the receiving device also counts as the sender.
  std::int32_t from = -1;
  std::int32_t to = -1;
  std::int32_t step = 0;  ///< the training step
  std::int32_t pack = -1;
  core::Lane to_lane = 0;
  std::int64_t to_index = 0;  ///< the index of the receiving step
  core::Bytes bytes;

  /// Returns the share of the path that the message has travelled at time `t`, from 0 to 1. The
  /// result is 1 if the message has left its sender but has not been received. REQUIRES: sent ≤ t <
  /// taken.
  [[nodiscard]] double progress(core::Time t) const;
  bool operator==(const Transfer&) const = default;
  [[nodiscard]] bool waits(core::Time t) const {
    return (t >= sent && t < moves) || (t >= left && t < awaited);
  }
};

}  // namespace tutti::gui
