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

/// Converts a value of the enum proto::Strategy::Collective.
CollectiveKind collective_of(int collective);

/// A communicator with the values that the scenario sets. lower_communicators() (communicators.h)
/// replaces omitted values by defaults.
struct WrittenCommunicator {
  std::string name;
  std::optional<std::int64_t> size;
  std::optional<std::int64_t> stride;
  bool splits_model = false;
  std::string algorithm;  ///< empty: the strategy's algorithm
  std::optional<int> channels;
  std::optional<Time> launch;
  std::vector<Exchange> exchanges;
  bool sound = true;  ///< true if the communicator has been read without problems
};

/// Reads all communicators of a scenario. Adds problems to `fields`.
std::vector<WrittenCommunicator> communicators_from(const proto::Scenario& message, Fields& fields);

}  // namespace tutti::core
