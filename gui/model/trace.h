#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/timeline/compare.h"
#include "core/timeline/reader.h"
#include "gui/model/span_row.h"
#include "gui/model/time_range.h"

namespace tutti::gui {

/// How opening a timeline is watched and stopped.
struct OpenControl {
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(double share)> progress{};  ///< called by any thread
};

/// A span of a trace.
struct SpanId {
  std::size_t row = 0;
  SpanRow::Index index = 0;
  bool operator==(const SpanId&) const = default;
};

class Trace;

/// What is said of something, as names and values, in the order in which a reader wants them.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// One of the timelines that a trace shows: all that is said of its run as a whole, at the times at which it is shown.
struct Side {
  std::string name;  ///< "simulated", …; empty if it is the only one
  core::RunInfo run;
  std::vector<core::StepRecord> steps;
  std::vector<core::PackRecord> packs;
  std::vector<core::LinkRecord> links;
  std::vector<core::PathPiece> path;
  std::optional<core::SteadyState> steady{};
  std::string damage{};  ///< as core::TimelineReader::damage() has it; empty: all of the run is there
};

/// Something that two sides did, and how long each took.
struct Difference {
  TimeRange at;  ///< where it is shown
  core::Pair time;
  std::string what;  ///< "step 2", "pack 3"
};
/// Differences of one sort that do not overlap: a line of the window.
struct DifferenceRow {
  std::string name;
  std::vector<Difference> differences;  ///< by time
};

/// A stretch of the time axis that counts from 0.
struct AxisStretch : TimeRange {
  std::string name;  ///< "step 2"
};

/// What a trace that was put together of others asks of whoever did that (see beside.h).
class TraceParts {
 public:
  virtual ~TraceParts() = default;
  /// As Trace::spans().
  [[nodiscard]] virtual core::Expected<std::vector<core::Span>> spans(std::size_t row, SpanRow::Index first,
                                                                      SpanRow::Index end) const = 0;
  /// The trace that a span comes from, and where it is there.
  [[nodiscard]] virtual std::pair<const Trace*, SpanId> origin(SpanId span) const = 0;
  /// The same thing on the other side; none if there it is not, several if it stands for all of a pack there.
  [[nodiscard]] virtual std::vector<SpanId> partners(SpanId span) const = 0;
  /// What is to be said of a span beside its partners.
  [[nodiscard]] virtual Facts facts(SpanId span) const = 0;
  [[nodiscard]] virtual Facts facts() const = 0;
  /// A side's own trace.
  [[nodiscard]] virtual const std::shared_ptr<const Trace>& source(std::size_t side) const = 0;
  /// When what is shown at `shown` was in the side's own run, as the step there has it (packs may be moved apart from their step); in a
  /// pause: when the side had ended its step.
  [[nodiscard]] virtual core::Time own(std::size_t side, core::Time shown) const = 0;
};

/// A timeline as the window holds it: what is in the file about the run as a whole, and for each row what it takes to draw
/// it; or two of them on one time axis. Read once, then never changed, so any thread may look at it.
class Trace {
 public:
  /// A row of spans, in the order in which a person would list them: by worker, device, and there computation, packs,
  /// lanes.
  struct Row {
    core::Track track;
    std::string group;  ///< "worker 0"
    std::string name;   ///< "compute", "packs", "packs, slot 1", "lane 3"
    SpanRow spans;
    std::size_t side = 0;
    std::string timeline{};  ///< name of the side
    /// From which span on the row is of which training step.
    std::vector<std::pair<SpanRow::Index, std::int32_t>> steps{};
  };

  /// Blocks of spans that are damaged are left out; damage() tells of them. ERRORS: unreadable, not a timeline, nothing in it can
  /// be drawn (kRequest); cancelled (kRun).
  /// Cost: 20 ns per span on each of the machine's cores.
  static core::Expected<std::shared_ptr<const Trace>> open(const std::string& path, const OpenControl& control = {});
  /// The same for bytes at hand; `name` is what errors call them.
  static core::Expected<std::shared_ptr<const Trace>> from_bytes(const std::string& bytes, const std::string& name,
                                                                 const OpenControl& control = {});
  /// The same for bytes from anywhere. Reads every block of spans once.
  static core::Expected<std::shared_ptr<const Trace>> from_source(std::shared_ptr<const core::ByteSource> source,
                                                                  const std::string& name,
                                                                  const OpenControl& control = {});

  /// Put together of others. REQUIRES: tracks have the numbers of their rows.
  Trace(std::vector<Side> sides, std::vector<Row> rows, std::vector<AxisStretch> axis,
        std::vector<DifferenceRow> differences, std::shared_ptr<const TraceParts> parts);

  /// One, or two.
  [[nodiscard]] const std::vector<Side>& sides() const { return sides_; }
  /// Of the first side.
  [[nodiscard]] const core::RunInfo& run() const { return sides_.front().run; }
  [[nodiscard]] const std::vector<core::StepRecord>& steps() const { return sides_.front().steps; }
  /// Only of workers that do not wait for each other.
  [[nodiscard]] const std::optional<core::SteadyState>& steady() const { return sides_.front().steady; }
  [[nodiscard]] const std::vector<core::PackRecord>& packs() const { return sides_.front().packs; }
  [[nodiscard]] const std::vector<core::LinkRecord>& links() const { return sides_.front().links; }
  [[nodiscard]] const std::vector<core::PathPiece>& path() const { return sides_.front().path; }
  /// False: the run or the file did not end well; damage() says how.
  [[nodiscard]] bool complete() const { return damage().empty(); }
  [[nodiscard]] const std::string& damage() const { return sides_.front().damage; }
  /// Where the time axis counts anew; none if it counts through.
  [[nodiscard]] const std::vector<AxisStretch>& axis() const { return axis_; }
  [[nodiscard]] const std::vector<DifferenceRow>& differences() const { return differences_; }
  /// Null if it is of one file.
  [[nodiscard]] const TraceParts* parts() const { return parts_.get(); }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] std::int64_t spans() const { return spans_; }
  /// When the last thing ends.
  [[nodiscard]] core::Time length() const { return length_; }
  /// The row of a track; nothing if it has no spans.
  [[nodiscard]] std::optional<std::size_t> row_of(core::TrackId track) const;

  /// All that is known of a span: read from the file; at the time at which it is shown. ERRORS: the file has changed since.
  [[nodiscard]] core::Expected<core::Span> span(std::size_t row, SpanRow::Index index) const;
  /// The same of first … end - 1 of a row. Cost: of the blocks that they lie in.
  [[nodiscard]] core::Expected<std::vector<core::Span>> spans(std::size_t row, SpanRow::Index first,
                                                              SpanRow::Index end) const;

  /// Returns the reader of the file, for any thread. REQUIRES: the trace is of one file.
  [[nodiscard]] const core::TimelineReader& reader() const { return *reader_; }
  /// Calls with each span of a row, in order of time. ERRORS: the file has changed since. REQUIRES: the trace is of one file.
  core::Expected<void> read_row(std::size_t row, const std::function<void(const core::Span&)>& each) const;

  /// Bytes of memory for rows.
  [[nodiscard]] std::size_t memory() const;

 private:
  explicit Trace(core::TimelineReader reader);
  static core::Expected<std::shared_ptr<const Trace>> load(core::Expected<core::TimelineReader> reader,
                                                           const OpenControl& control);
  core::Expected<void> read_rows(const OpenControl& control);
  void list_rows();
  void list_blocks();
  void leave_out(const std::vector<core::TimelineReader::SpanBlock>& damaged);
  void measure();

  std::optional<core::TimelineReader> reader_;  ///< nothing: it was put together
  std::vector<Side> sides_;
  std::vector<Row> rows_;
  std::vector<std::vector<std::size_t>> blocks_;  ///< of each row: numbers of reader_.span_blocks(), by time
  std::vector<AxisStretch> axis_;
  std::vector<DifferenceRow> differences_;
  std::shared_ptr<const TraceParts> parts_;
  std::int64_t spans_ = 0;
  core::Time length_;
};

/// What a row is called: "compute", "packs, slot 1", "lane 3".
std::string name_of_row(const core::Track& track);
/// The order in which a person would list rows: by worker, device, and there computation, packs, lanes.
bool is_listed_before(const core::Track& a, const core::Track& b);

}  // namespace tutti::gui
