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

/// A scenario while it is read: the message that was parsed from the text, the location of each
/// field, and the results of the stages so far. Later stages report problems at the location of a
/// field, which they find by the field's path.
struct WrittenScenario {
  explicit WrittenScenario(const std::string& file);
  ~WrittenScenario();
  WrittenScenario(const WrittenScenario&) = delete;
  WrittenScenario& operator=(const WrittenScenario&) = delete;

  std::string path;
  Problems problems;
  SourceMap sources;
  Fields fields;  ///< fields of the scenario's own text
  Places places;  ///< locations in the scenario's own text, by path; used by stages that work on
                  ///< values
  Complaints complaints;                     ///< reports problems at the locations in `places`
  std::unique_ptr<proto::Scenario> message;  ///< the parsed message, without values that do not fit
                                             ///< their fields
  GuestMessages guests;                      ///< messages of frameworks that register a schema
  std::optional<ClusterFile> cluster_file;   ///< fields of the cluster's file; set only if the
                                             ///< cluster is in a separate file
  Location cluster_place;       ///< location at which the description of the cluster begins
  bool strategy_known = false;  ///< true if Scenario::strategy was read; if false, nothing can be
                                ///< lowered
  std::vector<WrittenCommunicator> communicators;
  std::shared_ptr<const ExecutionGraph> graph;  ///< graph of workload.execution_trace; null: none
  std::int64_t graph_pace_ppm = 1'000'000;

  Scenario scenario;

  /// Returns the cluster's message, from the scenario or from the cluster's separate file.
  /// cluster_fields() reports problems at the locations of this message.
  /// REQUIRES: the cluster was read.
  [[nodiscard]] const proto::Cluster& cluster() const;
  [[nodiscard]] Fields cluster_fields();
};

}  // namespace tutti::core
