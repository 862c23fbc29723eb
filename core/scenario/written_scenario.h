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
  Fields fields;                             ///< of the scenario's own text
  Places places;                             ///< likewise, by paths: for what works on values
  Complaints complaints;                     ///< at those
  std::unique_ptr<proto::Scenario> message;  ///< every value that fits its field
  GuestMessages guests;                      ///< of frameworks that have schemas of their own
  std::optional<ClusterFile> cluster_file;   ///< if the cluster is described in a file of its own
  Location cluster_place;                    ///< where what describes the cluster begins
  bool strategy_known = false;  ///< Scenario::strategy was read; else nothing can be lowered
  std::vector<WrittenCommunicator> communicators;
  std::shared_ptr<const ExecutionGraph> graph;  ///< of workload.execution_trace; else null
  std::int64_t graph_pace_ppm = 1'000'000;

  Scenario scenario;

  /// The description of the cluster, in the scenario or in its file, and its location.
  /// REQUIRES: it was read.
  [[nodiscard]] const proto::Cluster& cluster() const;
  [[nodiscard]] Fields cluster_fields();
};

}  // namespace tutti::core
