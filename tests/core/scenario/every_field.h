#pragma once

// Scenarios that together have every message of the schema, so that a test can try values in each
// field. A new message has to be added to one of them.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/scenario/library.h"

namespace tutti::core::wrong_values {

/// Parts of the scenarios, in text format.
extern const std::string kMachine, kLink, kOneSwitch, kWorkers, kVariables, kRing;
extern const std::vector<std::string> kNetworks;

struct Case {
  std::string cluster = kWorkers;
  std::string network = kOneSwitch;
  std::string workload = kVariables;
  std::string strategy = kRing;
  std::string run{};
  std::string rest{};

  [[nodiscard]] std::string text() const {
    return fmt::format(
        "cluster {{ {} network {{ {} }} machine {{ {} }} }} workload {{ {} }} strategy {{ {} }} "
        "run {{ steps: 2 {} }} "
        "{}",
        cluster, network, kMachine, workload, strategy, run, rest);
  }
};

/// A scenario, and the path of the field under which all fields are tried. "": all fields.
struct Tried {
  Case scenario;
  std::string under;
  bool reads_files = false;
};

/// Returns scenarios that together have every message of the schema.
std::vector<Tried> all_tried();

/// Returns the files that these scenarios name. The file of this kind has another text.
Library library_with(Library::Kind kind = Library::Kind::kModel, const std::string& text = "");

}  // namespace tutti::core::wrong_values
