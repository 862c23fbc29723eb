#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/timeline/timeline.h"

namespace tutti::tools {

/// A sink that keeps only the duration of a run's collective, and the notes of the run.
class CollectiveTiming : public core::NullSink {
 public:
  void pack(const core::PackRecord& pack) override { whole_ = pack.end - pack.first_start; }
  void span(core::TrackId, const core::Span& span) override {
    if (span.kind != core::SpanKind::kPackInFlight) return;
    ++ranks_;
    of_ranks_ += core::to_us(span.duration);
  }
  void note(const std::string& note) override { notes.push_back(note); }

  /// Returns the time in microseconds. If every rank has reported its duration, the result is the
  /// mean of the durations, as in nccl-tests, which does not compare clocks of different ranks.
  /// Otherwise the result is the time from the first rank's start to the last rank's end. Returns
  /// nullopt if the run was interrupted.
  [[nodiscard]] std::optional<double> us() const {
    if (!whole_) return std::nullopt;
    return ranks_ > 0 ? of_ranks_ / ranks_ : core::to_us(*whole_);
  }
  /// Returns the time from the first rank's start to the last rank's end; nullopt if the run was
  /// interrupted.
  [[nodiscard]] std::optional<core::Time> whole() const { return whole_; }

  std::vector<std::string> notes;

 private:
  std::optional<core::Time> whole_;
  double of_ranks_ = 0;  ///< sum of the ranks' times, in microseconds
  int ranks_ = 0;
};

}  // namespace tutti::tools
