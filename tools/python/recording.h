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

/// A timeline in memory, as columns: filled by a run or from a file, read as tables. Times of the
/// tables are picoseconds since the start of the run, sizes bytes.
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

  // The tables. Spans share the recording's memory; the others are made by each call.
  // REQUIRES, of all: end() was called.
  [[nodiscard]] std::shared_ptr<const Table> spans() const { return spans_; }
  [[nodiscard]] Table tracks() const;
  [[nodiscard]] Table steps() const;
  [[nodiscard]] Table packs() const;
  [[nodiscard]] Table links() const;
  [[nodiscard]] Table path() const;
  /// One row for each message that a recorded lane received. `sent_ps` is when its sender began to
  /// send it, -1 if the sender's lane was not recorded. Cost: proportional to the spans.
  [[nodiscard]] Table messages() const;

  /// Sends everything to a sink, as the run did.
  void replay(core::TimelineSink& sink) const;
  /// Sends everything except tracks and spans.
  void replay_records(core::TimelineSink& sink) const;
  /// Returns a reader of the same timeline, for what needs one (pictures, comparisons, exports).
  [[nodiscard]] core::Expected<core::TimelineReader> reader() const;

 private:
  /// Sends what follows the spans.
  void end_replay(core::TimelineSink& sink) const;

  core::RunInfo run_;
  std::vector<core::Track> tracks_;
  std::vector<core::StepRecord> steps_;
  std::vector<core::PackRecord> packs_;
  std::vector<core::LinkRecord> links_;
  std::vector<core::PathPiece> path_;
  std::optional<core::SteadyState> steady_;
  // Until end(); then they are those of `spans_`.
  std::vector<std::int32_t> track_, kind_, step_, pack_, peer_;
  std::vector<std::int64_t> start_, duration_, wait_, index_, bytes_, peer_index_;
  std::shared_ptr<const Table> spans_;
};

/// Reads a timeline file into memory. ERRORS: as TimelineReader::open(), and a damaged block.
core::Expected<std::shared_ptr<Recording>> read_recording(const std::string& path);

}  // namespace tutti::python
