#include "gui/trace/miniature.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/scenario/scenario.h"
#include "core/timeline/writer.h"

namespace tutti::gui {

using core::Error;
using core::Time;

namespace {

constexpr std::size_t kPictureDevices = 3;
constexpr std::int64_t kRecordedWorkers = 4, kMaxRecordedSpans = 200'000;

/// Returns the range of the longest training step whose spans were recorded, or the whole run if
/// there is no such step.
TimeRange longest_step(const Trace& trace) {
  const TimeRange recorded = trace.recorded().value_or(TimeRange{Time(), trace.length()});
  TimeRange longest{Time(), Time()};
  for (const core::StepRecord& step : trace.steps()) {
    const bool whole = step.start >= recorded.from && step.end <= recorded.to;
    if (whole && step.end - step.start > longest.length()) longest = {step.start, step.end};
  }
  return longest.length() > Time() ? longest : recorded;
}

bool has_spans(const Trace::Row& row, const TimeRange& range) {
  const auto first = row.spans.first_from(range.from), end = row.spans.first_from(range.to);
  return first < end || (first > 0 && row.spans.end(first - 1) > range.from);
}

/// Returns the first row of each kind of a device: computation, packs, and a lane.
std::vector<std::size_t> rows_of_device(const Trace& trace, const std::vector<std::size_t>& rows) {
  std::vector<std::size_t> chosen;
  for (const std::size_t row : rows) {
    const auto same_kind = [&](std::size_t other) {
      return trace.rows()[other].track.kind == trace.rows()[row].track.kind;
    };
    if (std::none_of(chosen.begin(), chosen.end(), same_kind)) chosen.push_back(row);
  }
  return chosen;
}

}  // namespace

core::Expected<Miniature> miniature_of(std::shared_ptr<const Trace> trace, std::size_t most_rows) {
  Miniature made{trace, longest_step(*trace), {}};
  std::vector<std::vector<std::size_t>> devices;  // the rows of each device that have spans
  const Trace::Row* before = nullptr;
  for (std::size_t r = 0; r < trace->rows().size(); ++r) {
    const Trace::Row& row = trace->rows()[r];
    if (!has_spans(row, made.range)) continue;
    const bool same_device =
        before && before->group == row.group && before->track.device == row.track.device;
    if (!same_device) devices.emplace_back();
    devices.back().push_back(r);
    before = &row;
  }
  if (devices.empty()) return tl::make_unexpected(Error::request("the run has no spans to draw"));
  const std::size_t shown = std::min(kPictureDevices, devices.size());
  for (std::size_t d = 0; d < shown; ++d) {
    // Evenly distributed, from the first device to the last.
    const std::size_t index = shown == 1 ? 0 : d * (devices.size() - 1) / (shown - 1);
    for (const std::size_t row : rows_of_device(*trace, devices[index])) {
      if (made.rows.size() < most_rows) made.rows.push_back(row);
    }
  }
  return made;
}

core::Expected<Miniature> make_miniature(const std::string& text, const std::string& path,
                                         const core::Library& library, core::Executor& executor,
                                         std::size_t most_rows, const std::atomic<bool>& stop) {
  const auto scenario = core::read_scenario(text, path, library);
  if (!scenario) return tl::make_unexpected(scenario.error());
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  record.last_worker = kRecordedWorkers - 1;
  record.most_spans = kMaxRecordedSpans;
  core::RunControl control;
  control.cancel = &stop;
  control.progress = [](double) {};
  std::ostringstream bytes;
  core::TimelineWriter writer(bytes);
  if (const auto ran = executor.run(*scenario, record, control, writer); !ran)
    return tl::make_unexpected(ran.error());
  if (stop) return tl::make_unexpected(Error::run(path + ": stopped"));
  OpenControl open;
  open.cancel = &stop;
  return Trace::from_bytes(bytes.str(), path, open)
      .and_then([&](const std::shared_ptr<const Trace>& trace) {
        return miniature_of(trace, most_rows);
      });
}

}  // namespace tutti::gui
