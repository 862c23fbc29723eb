#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A link, card or device that is slower than others of its kind, as messages and additions have it.
struct Apart {
  enum class What { kCard, kLink, kDevice };
  std::int64_t worker = 0;
  What what = What::kCard;
  std::string part;   ///< the card, the device, or one end of the link
  std::string other;  ///< the link's other end
  double slower = 1;  ///< how many times as long it takes for the same bytes

  [[nodiscard]] std::string name() const;  ///< "w2/nic0", "w0/gpu1-w0/gpu2"
  auto operator<=>(const Apart&) const = default;
};

/// What stands out, and what was looked at, in sentences.
struct Apartness {
  std::vector<Apart> list;
  std::vector<std::string> notes;
};

/// Looks at what each message and each addition in timelines took, wherever lane steps were recorded.
///
/// Messages between two devices are held against those of the same length and kind of step between others, over links that
/// are stated to be alike: the slope of the ones' times over the others', over all lengths, is how much slower the route
/// is, whatever its latency (Theil-Sen; two lengths that differ by half are the least). What counts is the lower decile of
/// the times of messages that a step of its own sends (message_times.h): what is passed on piece by piece as it comes goes at
/// the pace of the slowest link that it has crossed. A route that takes a quarter more is slow. A link is to blame if no route over it is not
/// slow; of several the one that explains most routes, and of those the narrowest. So a link is told from its kind where
/// other links of that kind meet it and each other.
/// What links are stated to be is what `scenario` says; the timelines are of its cluster, whatever their strategies.
/// ERRORS: a timeline, or the scenario in it, cannot be read.
Expected<Apartness> find_apart(const Scenario& scenario, const std::vector<std::string>& timelines,
                               const Library& library);

}  // namespace tutti::core
