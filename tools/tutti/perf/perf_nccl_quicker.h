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

/// Finds NCCL variables that make NCCL faster where its own estimate leads it to a slow choice
/// according to Tutti's model (such as Ring LL for 128 KiB on two DGX-1).
///
/// Only choices that NCCL itself would consider there are suggested, so that no suggestion forces
/// LL128 on links that do not support it. A suggestion must also be faster than the row's
/// uncertainty: NCCL's choice at the low end of its band must take longer than the prediction for
/// the other. (The band of the other is ignored: both run on the same system, and its deviations
/// from the model apply to both.)
class QuickerSettings {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;
  /// `variables`: those that are set; suggestions do not change them. `bound`: the limits of the
  /// links, which hold for other settings as well. REQUIRES: all arguments outlive this object.
  QuickerSettings(const NcclPerfRequest& request, const NcclPerfSubject& subject,
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

  /// Returns a faster setting for `row`, which has its size, choice and band; nullopt if there is
  /// none. REQUIRES: `considered` are the candidates of the operation.
  [[nodiscard]] std::optional<QuickerSetting> than(
      const NcclPerfRow& row, const std::vector<core::nccl::Candidate>& considered);

 private:
  [[nodiscard]] std::optional<QuickerSetting> with(const Variables& more, std::int64_t bytes,
                                                   const core::nccl::Candidate& wanted);

  const NcclPerfRequest& request_;
  const NcclPerfSubject& subject_;
  const Variables& variables_;
  const core::nccl::Parameters& parameters_;
  const core::nccl::ErrorBands& bands_;
  std::shared_ptr<const core::nccl::Calibration> calibration_;
  const std::optional<core::NcclLinkBound>& bound_;
  std::map<std::string, std::optional<core::nccl::Predictor>>
      predictors_;  ///< by additional variables
};

}  // namespace tutti::tools
