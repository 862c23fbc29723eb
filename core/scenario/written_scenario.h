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

/// A scenario while it is being read: the message that was parsed from the text, the location of
/// each field, and the results so far. Later stages use the path of a field to find its location,
/// and report problems there.
struct WrittenScenario {
  explicit WrittenScenario(const std::string& file);
  ~WrittenScenario();
  WrittenScenario(const WrittenScenario&) = delete;
  WrittenScenario& operator=(const WrittenScenario&) = delete;

  std::string path;
  Problems problems;
  SourceMap sources;
  Fields fields;  ///< fields of the scenario's own text, without the cluster's file
  Places places;  ///< locations in the scenario's own text; the key is the path of the field
  Complaints complaints;  ///< reports problems at the locations of `places`
  std::unique_ptr<proto::Scenario>
      message;           ///< the parsed message, without the values that do not fit their fields
  GuestMessages guests;  ///< messages of the frameworks that register a schema
  std::optional<ClusterFile> cluster_file;  ///< fields of the cluster file; set only if the
                                            ///< scenario names such a file
  Location cluster_place;       ///< location where the description of the cluster begins
  bool strategy_known = false;  ///< true if the strategy has been read; if false, no plan can be
                                ///< made
  std::vector<WrittenCommunicator> communicators;
  std::shared_ptr<const ExecutionGraph> graph;  ///< graph of workload.execution_trace; null: none
  std::int64_t graph_pace_ppm = 1'000'000;

  Scenario scenario;

  /// Returns the message of the cluster, which is in the scenario or in a separate file.
  /// cluster_fields() reports problems at the locations of this message.
  /// REQUIRES: the cluster was read.
  [[nodiscard]] const proto::Cluster& cluster() const;
  [[nodiscard]] Fields cluster_fields();
};

}  // namespace tutti::core
