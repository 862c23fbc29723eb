#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/nccl/collective_time.h"
#include "core/strategy/nccl_links.h"
#include "tools/tutti/perf/perf_nccl_table.h"

namespace tutti::tools {

/// Finds NCCL variables that make a collective faster. NCCL's own estimates sometimes lead to a
/// choice that is slow according to Tutti's model (such as Ring LL for 128 KiB on two DGX-1).
///
/// Only choices that NCCL itself considers for the operation are suggested, so no suggestion forces
/// LL128 on links that do not support LL128. A suggestion must also be faster by more than the
/// uncertainty: the time that is predicted for the suggested choice must be below the lower end of
/// the error band of NCCL's own choice. (The error band of the suggested choice is ignored, because
/// both choices run on the same system, whose deviations from the model apply to both choices.)
class FasterSettings {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;
  /// `variables` are the variables that are already set, and that suggestions do not change.
  /// `bound` has the bandwidth limits of the links, which apply to all settings. REQUIRES: all
  /// arguments outlive this object.
  FasterSettings(const NcclPerfRequest& request, const NcclPerfSubject& subject,
                 const Variables& variables, const core::nccl::Parameters& parameters,
                 const core::nccl::ErrorBands& bands,
                 std::shared_ptr<const core::nccl::Calibration> calibration,
                 const std::optional<core::NcclLinkBound>& bound)
      : request_(request),
        subject_(subject),
        variables_(variables),
        parameters_(parameters),
        bands_(bands),
        calibration_(std::move(calibration)),
        bound_(bound) {}

  /// Returns a setting with which NCCL is faster for the size of `row` than with NCCL's own choice
  /// in `row`; nullopt if there is no such setting.
  /// REQUIRES: `considered` are the candidates of the operation.
  [[nodiscard]] std::optional<FasterSetting> than(
      const NcclPerfRow& row, const std::vector<core::nccl::Candidate>& considered);

 private:
  [[nodiscard]] std::optional<FasterSetting> with(const Variables& more, std::int64_t bytes,
                                                  const core::nccl::Candidate& wanted);

  const NcclPerfRequest& request_;
  const NcclPerfSubject& subject_;
  const Variables& variables_;
  const core::nccl::Parameters& parameters_;
  const core::nccl::ErrorBands& bands_;
  std::shared_ptr<const core::nccl::Calibration> calibration_;
  const std::optional<core::NcclLinkBound>& bound_;
  /// Models of NCCL with additional variables set, indexed by these variables.
  std::map<std::string, std::optional<core::nccl::Predictor>> predictors_;
};

}  // namespace tutti::tools
