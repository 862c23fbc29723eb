#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/cluster_reader.h"
#include "core/scenario/communicators_reader.h"
#include "core/scenario/scenario.h"
#include "core/text/fields.h"
#include "core/text/places.h"

namespace tutti::proto {
class Cluster;
class Scenario;
}  // namespace tutti::proto

namespace tutti::core {

/// A scenario between text and plan: the written message, the location of each field, and the
/// results so far. Later stages report problems at the fields' locations, which are found by the
/// fields' paths.
struct WrittenScenario {
  explicit WrittenScenario(const std::string& file);
  ~WrittenScenario();
  WrittenScenario(const WrittenScenario&) = delete;
  WrittenScenario& operator=(const WrittenScenario&) = delete;

  std::string path;
  Problems problems;
  SourceMap sources;
  Fields fields;                             ///< fields of the scenario's own text
  Places places;                             ///< locations in the scenario's own text, by path; for
                                             ///< code that works on values
  Complaints complaints;                     ///< reports problems at those locations
  std::unique_ptr<proto::Scenario> message;  ///< every value that fits its field
  GuestMessages guests;                      ///< messages of frameworks that have their own schemas
  std::optional<ClusterFile> cluster_file;   ///< only if the cluster is described in its own file
  Location cluster_place;                    ///< where the description of the cluster begins
  bool strategy_known = false;  ///< true if Scenario::strategy was read; otherwise nothing can be
                                ///< lowered
  std::vector<WrittenCommunicator> communicators;
  std::shared_ptr<const ExecutionGraph> graph;  ///< graph of workload.execution_trace; null if
                                                ///< there is none
  std::int64_t graph_pace_ppm = 1'000'000;

  Scenario scenario;

  /// The description of the cluster, in the scenario or in its file, and its location.
  /// REQUIRES: it was read.
  [[nodiscard]] const proto::Cluster& cluster() const;
  [[nodiscard]] Fields cluster_fields();
};

}  // namespace tutti::core
