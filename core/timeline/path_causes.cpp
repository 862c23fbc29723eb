#include "core/timeline/path_causes.h"

#include <algorithm>
#include <utility>

namespace tutti::core {

std::vector<PathCause> causes_of(std::span<const PathPiece> path) {
  struct Sum {
    PathCause cause;
    Time longest;  ///< duration of the longest transfer or wait so far, whose link is `where`
  };
  std::vector<Sum> sums;
  const auto add = [&](const std::string& name, Time time, const std::string& where) {
    if (time <= Time()) return;
    auto found = std::find_if(sums.begin(), sums.end(),
                              [&](const Sum& sum) { return sum.cause.name == name; });
    if (found == sums.end()) found = sums.insert(sums.end(), Sum{{name, Time(), {}}, Time()});
    found->cause.time += time;
    if (time > found->longest) {
      found->longest = time;
      found->cause.where = where;
    }
  };
  for (const PathPiece& piece : path) {
    // Only transfers and waits have a link, so the other parts are added without one.
    Breakdown wires, queue, rest = piece.parts;
    wires.wire = std::exchange(rest.wire, {});
    queue.queue = std::exchange(rest.queue, Time());
    const Time longest = *std::max_element(wires.wire.begin(), wires.wire.end());
    for (const auto& [name, time] : named_parts(wires))
      add(name, time, time == longest ? piece.slowest_link : std::string());
    for (const auto& [name, time] : named_parts(queue)) add(name, time, piece.queued_at);
    for (const auto& [name, time] : named_parts(rest)) add(name, time, {});
    // The time of the piece that its parts do not explain counts as a cause with the name of the
    // piece. For computation, which has no parts, this is the whole time.
    add(span_name(piece.kind), piece.end - piece.start - piece.parts.total(), {});
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const Sum& a, const Sum& b) { return a.cause.time > b.cause.time; });
  std::vector<PathCause> causes;
  for (Sum& sum : sums) causes.push_back(std::move(sum.cause));
  return causes;
}

}  // namespace tutti::core
