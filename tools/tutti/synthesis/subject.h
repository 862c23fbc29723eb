#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/data_type.h"
#include "core/custom/custom_algorithm.h"
#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

/// A collective on a cluster, for which algorithms are simulated and proved.
class SynthesisSubject {
 public:
  /// REQUIRES: the caller has rounded the number of elements to a number that the collective
  /// supports; `environment` outlives the subject.
  SynthesisSubject(const core::Scenario& scenario, core::CollectiveKind kind, core::Rank root,
                   core::DataType type, std::int64_t elements, const Environment& environment);

  [[nodiscard]] const core::Cluster& cluster() const { return *cluster_; }
  [[nodiscard]] core::CollectiveKind kind() const { return kind_; }
  [[nodiscard]] core::Rank root() const { return root_; }
  [[nodiscard]] core::Bytes bytes() const;

  /// Simulates the in-place collective with the algorithm in `text`. Returns nullopt if cancelled.
  [[nodiscard]] core::Expected<std::optional<core::Time>> time_of_text(
      const std::string& text, const core::RunControl& control) const;
  /// Simulates the in-place collective with a built-in algorithm. ERRORS: the errors of
  /// time_of_text(); the algorithm does not support the collective on the cluster.
  [[nodiscard]] core::Expected<std::optional<core::Time>> time_of_built_in(
      const std::string& algorithm, const core::RunControl& control) const;

  /// Compiles the text of an algorithm for the cluster. ERRORS: the text has problems.
  [[nodiscard]] core::Expected<std::shared_ptr<const core::CustomAlgorithm>> compiled(
      const std::string& text) const;
  /// Proves an algorithm in place and out of place. Returns a description of the algorithm's error;
  /// "" if the algorithm is correct.
  [[nodiscard]] std::string flaw_of(const core::CustomAlgorithm& algorithm) const;
  /// Returns the algorithm as MSCCL's XML. ERRORS: the format cannot express the algorithm.
  [[nodiscard]] core::Expected<std::string> msccl_of(const core::CustomAlgorithm& algorithm,
                                                     const std::string& name) const;

 private:
  [[nodiscard]] core::Expected<std::optional<core::Time>> time_of(
      const core::Expected<core::Scenario>& scenario, const core::RunControl& control) const;

  const Environment& environment_;
  std::shared_ptr<const core::Cluster> cluster_;
  core::CollectiveKind kind_;
  core::Rank root_;
  core::DataType type_;
  std::int64_t elements_;
  std::string file_;
  std::string text_;  ///< the text of a scenario with only this collective
  std::vector<core::Library::File> files_;
};

}  // namespace tutti::tools
