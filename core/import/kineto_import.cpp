#include "core/import/kineto_import.h"

#include "core/formats/kineto.h"
#include "core/import/kineto_events.h"

namespace tutti::core {

RankTrace::RankTrace(MeasuredRun& run, std::string name)
    : events_(std::make_unique<Events>(run, std::move(name))) {}
RankTrace::RankTrace(RankTrace&&) noexcept = default;
RankTrace::~RankTrace() = default;
void RankTrace::take(const KinetoEvent& event) { events_->take(event); }
Expected<void> RankTrace::finish(KinetoHeader header) { return events_->finish(std::move(header)); }

Expected<void> import_kineto(ByteInput& input, const std::string& name, MeasuredRun& run,
                             const std::function<void(double)>& progress) {
  RankTrace trace(run, name);
  const TakeKinetoEvent take = [&trace](const KinetoEvent& event) { trace.take(event); };
  auto header = read_kineto(input, name, take, run.counts, progress);
  if (!header) return tl::make_unexpected(header.error());
  run.format = "PyTorch profiler";
  run.framework = "PyTorch";
  run.files.push_back(name);
  return trace.finish(std::move(*header));
}

}  // namespace tutti::core
