#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/timeline/reader.h"
#include "core/timeline/timeline.h"
#include "tools/python/table.h"

namespace tutti::python {

/// A timeline in memory, stored in columns. A run or a timeline file fills the recording, and
/// callers read the recording as tables. In the tables, times are picoseconds since the start of
/// the run, and sizes are bytes.
class Recording final : public core::TimelineSink {
 public:
  void begin(const core::RunInfo& run) override { run_ = run; }
  void track(const core::Track& track) override;
  void span(core::TrackId track, const core::Span& span) override;
  void step(const core::StepRecord& step) override { steps_.push_back(step); }
  void pack(const core::PackRecord& pack) override { packs_.push_back(pack); }
  void link(const core::LinkRecord& link) override { links_.push_back(link); }
  void path(const core::PathPiece& piece) override { path_.push_back(piece); }
  void steady(const core::SteadyState& state) override { steady_ = state; }
  void note(const std::string& text) override { run_.notes.push_back(text); }
  void end() override;

  [[nodiscard]] const core::RunInfo& run() const { return run_; }
  [[nodiscard]] std::size_t span_count() const { return spans_ ? spans_->rows() : 0; }

  // The functions below return the tables, and spans() shares the recording's memory. All functions
  // except spans() create a new table on each call. REQUIRES, for all tables: end() was called.
  [[nodiscard]] std::shared_ptr<const Table> spans() const { return spans_; }
  [[nodiscard]] Table tracks() const;
  [[nodiscard]] Table steps() const;
  [[nodiscard]] Table packs() const;
  [[nodiscard]] Table links() const;
  [[nodiscard]] Table path() const;
  /// Returns a table with one row per message that a recorded lane received. `sent_ps` is the time
  /// at which the sender began to send the message; -1 if the sender's lane was not recorded. Cost:
  /// linear in the number of spans.
  [[nodiscard]] Table messages() const;

  /// Passes the whole timeline to a sink, with the same calls that the run has made.
  void replay(core::TimelineSink& sink) const;
  /// Passes all records of the timeline except tracks and spans to a sink.
  void replay_records(core::TimelineSink& sink) const;
  /// Returns a reader of the timeline, for functions that need a reader (pictures, comparisons,
  /// exports).
  [[nodiscard]] core::Expected<core::TimelineReader> reader() const;

 private:
  /// Passes the records that follow the spans to a sink.
  void end_replay(core::TimelineSink& sink) const;

  core::RunInfo run_;
  std::vector<core::Track> tracks_;
  std::vector<core::StepRecord> steps_;
  std::vector<core::PackRecord> packs_;
  std::vector<core::LinkRecord> links_;
  std::vector<core::PathPiece> path_;
  std::optional<core::SteadyState> steady_;
  // The columns of spans; end() moves them to `spans_`.
  std::vector<std::int32_t> track_, kind_, step_, pack_, peer_;
  std::vector<std::int64_t> start_, duration_, wait_, index_, bytes_, peer_index_;
  std::shared_ptr<const Table> spans_;
};

/// Reads a timeline file into memory. ERRORS: an error of TimelineReader::open(); a block is
/// damaged.
core::Expected<std::shared_ptr<Recording>> read_recording(const std::string& path);

}  // namespace tutti::python
