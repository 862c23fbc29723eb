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

/// Where NCCL's own estimate has it choose what takes longer by Tutti's model (Ring LL of 128 KiB over two DGX-1): which of its variables would have
/// brought something quicker. Only of what NCCL itself would consider there, so that nobody is told to force LL128 where links do not carry it, and only
/// by more than the row is uncertain: if what it chooses takes longer at the low end of the row's band than the other is predicted to. (Both are on one
/// system, and what that does otherwise than the model both do: the other's own band is not asked for.)
class QuickerSettings {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;
  /// `variables`: those that were set; what they say stays. `bound`: what links need, which holds for other settings as
  /// well. All arguments outlive it.
  QuickerSettings(const NcclPerfRequest& request, const NcclPerfSubject& subject, const Variables& variables,
                  const core::nccl::Parameters& parameters, const core::nccl::ErrorBands& bands,
                  std::shared_ptr<const core::nccl::Calibration> calibration,
                  const std::optional<core::NcclLinkBound>& bound)
      : request_(request),
        subject_(subject),
        variables_(variables),
        parameters_(parameters),
        bands_(bands),
        calibration_(std::move(calibration)),
        bound_(bound) {}

  /// `row` has its size, choice and band. REQUIRES: `considered` are the candidates of the operation.
  [[nodiscard]] std::optional<QuickerSetting> than(const NcclPerfRow& row,
                                                   const std::vector<core::nccl::Candidate>& considered);

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
  std::map<std::string, std::optional<core::nccl::Predictor>> predictors_;  ///< by what is set besides
};

}  // namespace tutti::tools
