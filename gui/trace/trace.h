#pragma once

// A trace is the data that the window shows. A trace has rows of spans with an index for drawing
// (span_row.h), and the records of the run as a whole. A comparison of two timelines is also a
// trace. The trace of a comparison has two sides, and gets details of its spans from the two source
// traces through TraceParts (gui/comparison). Most views therefore treat both kinds of trace in the
// same way. Only the time, kind, and pack or layer of a span are in memory. All other data is read
// from the file when it is needed. A trace never changes, so any number of threads may share it
// without locks.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/timeline/compare.h"
#include "core/timeline/reader.h"
#include "gui/documents/file_stamp.h"
#include "gui/trace/on_path.h"
#include "gui/trace/span_row.h"
#include "gui/trace/time_range.h"

namespace tutti::gui {

/// Progress reporting and cancellation of opening a timeline.
struct OpenControl {
  const std::atomic<bool>* cancel = nullptr;
  /// Called with the completed fraction of the file, from any thread.
  std::function<void(double share)> progress{};
};

/// A span of a trace.
struct SpanId {
  std::size_t row = 0;
  SpanRow::Index index = 0;
  bool operator==(const SpanId&) const = default;
};

class Trace;

/// Facts about a span or a run, as pairs of name and value, in the order in which they are shown.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// One of the timelines of a trace, with the records that concern its whole run. Times in these
/// records are positions on the time axis. In a comparison, these positions may differ from the
/// times of the run.
struct Side {
  std::string name;  ///< the name of the side, such as "simulated"; empty if there is only one side
  core::RunInfo run;
  std::vector<core::StepRecord> steps;
  std::vector<core::PackRecord> packs;
  std::vector<core::LinkRecord> links;
  std::vector<core::PathPiece> path;
  std::optional<core::SteadyState> steady{};
  /// A description of the file's damage (core::TimelineReader::damage()); empty: the file is
  /// complete.
  std::string damage{};
  /// The name for narrow places, without the leading words that the names of both sides share. For
  /// the names "bytes_per_pack 25 MiB" and "bytes_per_pack 8 MiB", the labels are "25 MiB" and "8
  /// MiB".
  std::string label{};
};

/// An activity that both timelines of a comparison contain, with its duration in each timeline.
struct Difference {
  TimeRange at;  ///< the range in which the difference is shown
  core::Pair time;
  std::string what;  ///< name of the activity, such as "step 2" or "pack 3"
};
/// Differences of one kind that do not overlap, so that one line of the timeline view shows them.
struct DifferenceRow {
  std::string name;
  std::vector<Difference> differences;  ///< sorted by time
};

/// A section of the time axis. The labels in the section count from 0.
struct AxisStretch : TimeRange {
  std::string name;  ///< name of the stretch, such as "step 2"
};

/// The interface through which a combined trace accesses its source traces (see
/// gui/comparison/comparison.h).
class TraceParts {
 public:
  virtual ~TraceParts() = default;
  /// Reads spans in the same way as Trace::spans().
  [[nodiscard]] virtual core::Expected<std::vector<core::Span>> spans(std::size_t row,
                                                                      SpanRow::Index first,
                                                                      SpanRow::Index end) const = 0;
  /// Returns the source trace of a span, and the span in that trace.
  [[nodiscard]] virtual std::pair<const Trace*, SpanId> origin(SpanId span) const = 0;
  /// Returns the combined span that shows span `own` of a side's source trace. REQUIRES: the span
  /// exists.
  [[nodiscard]] virtual SpanId place(std::size_t side, SpanId own) const = 0;
  /// Returns the matching spans of the other side; may be empty. If the span matches a whole pack,
  /// the result has several spans.
  [[nodiscard]] virtual std::vector<SpanId> partners(SpanId span) const = 0;
  /// Returns additional facts about a span, and about the whole comparison.
  [[nodiscard]] virtual Facts facts(SpanId span) const = 0;
  [[nodiscard]] virtual Facts facts() const = 0;
  /// Returns the source trace of a side.
  [[nodiscard]] virtual const std::shared_ptr<const Trace>& source(std::size_t side) const = 0;
  /// Returns the time of the side's run that corresponds to the position `shown` on the time axis.
  /// The result is computed with the delay of the training step, although packs may have their own
  /// delays. If `shown` is in a pause that the alignment has inserted, returns the time at which
  /// the side completed its step.
  [[nodiscard]] virtual core::Time own(std::size_t side, core::Time shown) const = 0;
};

/// A timeline in memory, or two timelines on one time axis. A trace has the records that concern
/// the whole run, and an index of each row for drawing. A trace is immutable, so any thread may use
/// it.
class Trace {
 public:
  /// A row of spans. Rows are ordered by worker, then by device. The rows of a device are ordered
  /// computation, packs, lanes.
  struct Row {
    core::Track track;
    std::string group;  ///< the group of the row, such as "worker 0"
    /// The name of the row, such as "compute", "packs", "packs, slot 1" or "lane 3".
    std::string name;
    SpanRow spans;
    std::size_t side = 0;
    std::string timeline{};  ///< the name of the row's side
    /// For each training step, the index of its first span in this row, and the number of the step.
    std::vector<std::pair<SpanRow::Index, std::int32_t>> steps{};
    /// The spans in which the device is idle because of its host; null: none.
    std::shared_ptr<const SpanRow> idle{};
  };

  /// Reads a file. Damaged blocks of spans are omitted, and damage() describes them. ERRORS: the
  /// file is unreadable, is not a timeline, or has nothing that can be drawn (kRequest); reading
  /// was cancelled (kRun).
  /// Cost: 20 ns per span, divided by the number of cores.
  static core::Expected<std::shared_ptr<const Trace>> open(const std::string& path,
                                                           const OpenControl& control = {});
  /// Reads a timeline from memory. `name`: the name of the timeline in error messages.
  static core::Expected<std::shared_ptr<const Trace>> from_bytes(const std::string& bytes,
                                                                 const std::string& name,
                                                                 const OpenControl& control = {});
  /// Reads a timeline from any source. Each block of spans is read only once.
  static core::Expected<std::shared_ptr<const Trace>> from_source(
      std::shared_ptr<const core::ByteSource> source, const std::string& name,
      const OpenControl& control = {});

  /// Combines other traces. REQUIRES: the track of each row has the same number as the row.
  Trace(std::vector<Side> sides, std::vector<Row> rows, std::vector<AxisStretch> axis,
        std::vector<DifferenceRow> differences, std::shared_ptr<const TraceParts> parts);

  /// Returns the sides of the trace: one or two.
  [[nodiscard]] const std::vector<Side>& sides() const { return sides_; }
  /// Functions such as run() and steps() return the data of the first side.
  [[nodiscard]] const core::RunInfo& run() const { return sides_.front().run; }
  [[nodiscard]] const std::vector<core::StepRecord>& steps() const { return sides_.front().steps; }
  /// Returns the steady state; nullopt unless workers are asynchronous.
  [[nodiscard]] const std::optional<core::SteadyState>& steady() const {
    return sides_.front().steady;
  }
  [[nodiscard]] const std::vector<core::PackRecord>& packs() const { return sides_.front().packs; }
  [[nodiscard]] const std::vector<core::LinkRecord>& links() const { return sides_.front().links; }
  [[nodiscard]] const std::vector<core::PathPiece>& path() const { return sides_.front().path; }
  /// Returns false if the run or the file ended early; damage() describes how.
  [[nodiscard]] bool complete() const { return damage().empty(); }
  [[nodiscard]] const std::string& damage() const { return sides_.front().damage; }
  /// Returns the sections of the axis. The labels of each section begin at 0. Empty if the axis has
  /// no sections.
  [[nodiscard]] const std::vector<AxisStretch>& axis() const { return axis_; }
  [[nodiscard]] const std::vector<DifferenceRow>& differences() const { return differences_; }
  /// Returns the interface to the source traces of a combined trace; null if the trace has only one
  /// timeline.
  [[nodiscard]] const TraceParts* parts() const { return parts_.get(); }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] std::int64_t spans() const { return spans_; }
  /// Returns the stamp of the file when it was opened; nullopt if the trace was not read from a
  /// file.
  [[nodiscard]] const std::optional<FileStamp>& stamp() const { return stamp_; }
  /// Returns the time at which the last span ends.
  [[nodiscard]] core::Time length() const { return length_; }
  /// Returns the part of the run whose spans were recorded, according to the timeline's notes;
  /// nullopt if all spans were recorded. Outside of this part, a row may look idle although the
  /// device was busy, because only spans that overlap the part are recorded.
  [[nodiscard]] const std::optional<TimeRange>& recorded() const { return recorded_; }
  /// Returns the kinds of spans in the trace, in descending order of their total times.
  [[nodiscard]] const std::vector<int>& kinds() const { return kinds_; }
  /// Returns true if some spans wait.
  [[nodiscard]] bool has_waits() const { return has_waits_; }
  /// Returns the parts of a row that lie on the critical path of its side, in order of time.
  [[nodiscard]] const std::vector<OnPath>& on_path(std::size_t row) const { return on_path_[row]; }
  /// Returns the row of a track; nullopt if the track has no spans.
  [[nodiscard]] std::optional<std::size_t> row_of(core::TrackId track) const;

  /// Reads a span from the file. The span has the times at which it is shown. ERRORS: the file has
  /// changed since it was opened.
  [[nodiscard]] core::Expected<core::Span> span(std::size_t row, SpanRow::Index index) const;
  /// Reads spans first … end - 1 of a row. Cost: linear in the size of the blocks that contain the
  /// spans.
  [[nodiscard]] core::Expected<std::vector<core::Span>> spans(std::size_t row, SpanRow::Index first,
                                                              SpanRow::Index end) const;

  /// Returns the file's reader; any thread may use the reader. REQUIRES: the trace has only one
  /// timeline.
  [[nodiscard]] const core::TimelineReader& reader() const { return *reader_; }
  /// Calls `each` with every span of a row, in order of time. ERRORS: the file has changed since it
  /// was opened. REQUIRES: the trace has only one timeline.
  core::Expected<void> read_row(std::size_t row,
                                const std::function<void(const core::Span&)>& each) const;

  /// Returns the memory that the rows use, in bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  explicit Trace(core::TimelineReader reader);
  static core::Expected<std::shared_ptr<Trace>> load(core::Expected<core::TimelineReader> reader,
                                                     const OpenControl& control);
  core::Expected<void> read_rows(const OpenControl& control);
  void list_rows();
  void list_blocks();
  void leave_out(const std::vector<core::TimelineReader::SpanBlock>& damaged);
  void measure();
  void measure_recorded();
  void measure_kinds();
  void find_idle_times();
  /// Returns an error that says why a block could not be read: if the file has changed, this is the
  /// reason; otherwise, the reason is `error`.
  [[nodiscard]] core::Error why_not_read(const core::Error& error) const;

  std::string path_;                ///< the path of the file; empty if there is no file
  std::optional<FileStamp> stamp_;  ///< the stamp of the file when it was opened
  /// The file's reader; nullopt: the trace combines other traces.
  std::optional<core::TimelineReader> reader_;
  std::vector<Side> sides_;
  std::vector<Row> rows_;
  /// For each row, the indices of its blocks in reader_->span_blocks(), sorted by time.
  std::vector<std::vector<std::size_t>> blocks_;
  std::map<core::TrackId, std::size_t> row_of_track_;  ///< empty if the trace combines other traces
  std::vector<AxisStretch> axis_;
  std::vector<DifferenceRow> differences_;
  std::shared_ptr<const TraceParts> parts_;
  std::int64_t spans_ = 0;
  core::Time length_;
  std::optional<TimeRange> recorded_;
  std::vector<int> kinds_;
  bool has_waits_ = false;
  std::vector<std::vector<OnPath>> on_path_;  ///< for each row, the parts on the critical path
};

/// Returns the name of a row, such as "compute", "packs, slot 1" or "lane 3".
std::string name_of_row(const core::Track& track);
/// Returns true if the row of the first track is above the row of the second. Rows are ordered by
/// worker, then by device, then computation, packs, lanes.
bool is_listed_before(const core::Track& a, const core::Track& b);

}  // namespace tutti::gui
