#include "tools/tutti/calibration/suggestions.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/median.h"
#include "tools/tutti/perf/nccl_subject.h"

namespace tutti::tools {
namespace {

namespace nccl = core::nccl;
using core::CollectiveKind;
using core::Expected;

constexpr CollectiveKind kSuggestedKinds[] = {
    CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
    CollectiveKind::kBroadcast, CollectiveKind::kAllToAll,  CollectiveKind::kSendReceive};
constexpr std::int64_t kSuggestedSizes[] = {1 << 10, 1 << 14, 1 << 17, 1 << 20,
                                            1 << 23, 1 << 26, 1 << 30};
/// The sizes to measure. Four sizes are as informative as a whole table
/// (docs/validation/nccl-calibration.md).
constexpr std::int64_t kMeasuredSizes[] = {1 << 10, 1 << 17, 1 << 22, 1 << 28};

/// The collectives and sizes to predict for one number of nodes.
class Points {
 public:
  static Expected<Points> of(const CalibrateOptions& options, int nodes,
                             const nccl::Parameters& figures, const nccl::ErrorBands& bands,
                             const Environment& environment) {
    NcclPerfOptions requested = options.nccl;
    requested.nodes = nodes;
    const auto subject = nccl_subject(requested, options.set, environment);
    if (!subject) return failed(subject);
    return Points(
        nccl::Predictor(subject->system, subject->comm, subject->settings, figures, bands));
  }

  [[nodiscard]] Expected<std::pair<nccl::TimedPoint, nccl::ErrorBand>> at(
      CollectiveKind kind, std::int64_t bytes) const {
    const auto time = predictor_.of(kind, bytes, core::DataType::kFloat32, core::Reduction::kSum);
    if (!time) return failed(time);
    const nccl::Communicator& comm = predictor_.communicator();
    return std::pair(
        nccl::timed_point(kind, bytes, comm.ranks, comm.nodes, time->choice, time->time),
        time->band);
  }

 private:
  explicit Points(nccl::Predictor predictor) : predictor_(std::move(predictor)) {}
  nccl::Predictor predictor_;
};

}  // namespace

Expected<Suggestions> suggestions(const nccl::Calibration& calibration,
                                  const CalibrateOptions& options, const nccl::Parameters& figures,
                                  const nccl::ErrorBands& bands, const Environment& environment) {
  const auto requested = Points::of(options, options.nccl.nodes, figures, bands, environment);
  if (!requested) return failed(requested);
  std::vector<std::pair<nccl::TimedPoint, nccl::ErrorBand>> targets;
  for (const CollectiveKind kind : kSuggestedKinds) {
    for (const std::int64_t bytes : kSuggestedSizes) {
      auto point = requested->at(kind, bytes);
      if (!point) return failed(point);
      targets.push_back(std::move(*point));
    }
  }
  const auto width = [&](const nccl::TimeProcess& process) {
    std::vector<double> widths;
    for (const auto& [point, cold] : targets) {
      const nccl::ErrorBand band =
          calibrated_band(point, process.at(point), cold, calibration.spread());
      widths.push_back(std::log(band.high / band.low));
    }
    return std::exp(core::median(widths));
  };
  const nccl::TimeProcess& known = calibration.process();
  Suggestions made;
  made.width = width(known);
  std::set<int> nodes{1, options.nccl.nodes};
  for (int n = 2; n < options.nccl.nodes; n *= 2) nodes.insert(n);
  for (const int n : nodes) {
    const auto points = Points::of(options, n, figures, bands, environment);
    if (!points) continue;  // a single GPU moves nothing
    for (const CollectiveKind kind : kSuggestedKinds) {
      std::vector<nccl::MeasuredPoint> rows = known.rows();
      int table = 0;
      for (const nccl::MeasuredPoint& row : rows) table = std::max(table, row.table + 1);
      for (const std::int64_t bytes : kMeasuredSizes) {
        const auto point = points->at(kind, bytes);
        if (!point) return failed(point);
        rows.push_back(
            {point->first, point->first.us() * std::exp(known.at(point->first).log_factor), table});
      }
      made.best.push_back(
          {kind, n, width(nccl::TimeProcess(rows, calibration.spread(), rows.size()))});
    }
  }
  std::stable_sort(made.best.begin(), made.best.end(),
                   [](const Suggestion& x, const Suggestion& y) { return x.width < y.width; });
  return made;
}

}  // namespace tutti::tools
