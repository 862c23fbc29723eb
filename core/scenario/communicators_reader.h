#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/strategy/communicator.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Scenario;
}

namespace tutti::core {

/// Returns the kind for a number of proto::Strategy::Collective.
CollectiveKind collective_of(int collective);

/// A communicator as written in the scenario; the cluster and the strategy determine the rest
/// (communicators.h).
struct WrittenCommunicator {
  std::string name;
  std::optional<std::int64_t> size;
  std::optional<std::int64_t> stride;
  bool splits_model = false;
  std::string algorithm;  ///< "": the strategy's algorithm
  std::optional<int> channels;
  std::optional<Time> launch;
  std::vector<Exchange> exchanges;
  bool sound = true;  ///< true if no problem was found and all written values are here
};

/// Reads the communicators of a scenario. Errors go to the fields' problems.
std::vector<WrittenCommunicator> communicators_from(const proto::Scenario& message, Fields& fields);

}  // namespace tutti::core
