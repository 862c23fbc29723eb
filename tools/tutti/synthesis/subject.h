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

/// A collective on a cluster, for which algorithms are timed and proved.
class SynthesisSubject {
 public:
  /// `elements` has been rounded to what the collective can be done with. REQUIRES: `environment`
  /// outlives the subject.
  SynthesisSubject(const core::Scenario& scenario, core::CollectiveKind kind, core::Rank root,
                   core::DataType type, std::int64_t elements, const Environment& environment);

  [[nodiscard]] const core::Cluster& cluster() const { return *cluster_; }
  [[nodiscard]] core::CollectiveKind kind() const { return kind_; }
  [[nodiscard]] core::Rank root() const { return root_; }
  [[nodiscard]] core::Bytes bytes() const;

  /// Simulates the collective in place with an algorithm's text. nullopt if it was cancelled.
  [[nodiscard]] core::Expected<std::optional<core::Time>> time_of_text(
      const std::string& text, const core::RunControl& control) const;
  /// Likewise with a built-in algorithm. ERRORS: also that it cannot do this on the cluster.
  [[nodiscard]] core::Expected<std::optional<core::Time>> time_of_built_in(
      const std::string& algorithm, const core::RunControl& control) const;

  /// Compiles a text for the cluster. ERRORS: it has problems.
  [[nodiscard]] core::Expected<std::shared_ptr<const core::CustomAlgorithm>> compiled(
      const std::string& text) const;
  /// Proves an algorithm in and out of place. Returns what is wrong, "" if nothing is.
  [[nodiscard]] std::string flaw_of(const core::CustomAlgorithm& algorithm) const;
  /// The algorithm as MSCCL's XML. ERRORS: it has no such form.
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
  std::string text_;  ///< text of a scenario with this collective only
  std::vector<core::Library::File> files_;
};

}  // namespace tutti::tools
