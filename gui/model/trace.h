#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/timeline/reader.h"
#include "gui/model/span_row.h"

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

/// A timeline as the window holds it: what is in the file about the run as a whole, and for each row what it takes to draw
/// it. Read once, then never changed, so any thread may look at it.
class Trace {
 public:
  /// A row of spans, in the order in which a person would list them: by worker, device, and there computation, packs,
  /// lanes.
  struct Row {
    core::Track track;
    std::string group;  ///< "worker 0"
    std::string name;   ///< "compute", "packs", "packs, slot 1", "lane 3"
    SpanRow spans;
  };

  /// ERRORS: unreadable, not a timeline; a damaged block of spans (kRequest); cancelled (kRun).
  /// Cost: 20 ns per span on each of the machine's cores.
  static core::Expected<std::shared_ptr<const Trace>> open(const std::string& path, const OpenControl& control = {});
  /// The same for bytes at hand; `name` is what errors call them.
  static core::Expected<std::shared_ptr<const Trace>> from_bytes(const std::string& bytes, const std::string& name,
                                                                 const OpenControl& control = {});

  [[nodiscard]] const core::RunInfo& run() const { return reader_.run(); }
  [[nodiscard]] const std::vector<core::StepRecord>& steps() const { return reader_.steps(); }
  [[nodiscard]] const std::vector<core::PackRecord>& packs() const { return reader_.packs(); }
  [[nodiscard]] const std::vector<core::LinkRecord>& links() const { return reader_.links(); }
  [[nodiscard]] const std::vector<core::PathPiece>& path() const { return reader_.path(); }
  /// False: the run or the file did not end well.
  [[nodiscard]] bool complete() const { return reader_.complete(); }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] std::int64_t spans() const { return spans_; }
  /// When the last thing ends.
  [[nodiscard]] core::Time length() const { return length_; }
  /// The row of a track; nothing if it has no spans.
  [[nodiscard]] std::optional<std::size_t> row_of(core::TrackId track) const;

  /// All that is known of a span: read from the file. ERRORS: the file has changed since.
  [[nodiscard]] core::Expected<core::Span> span(std::size_t row, SpanRow::Index index) const;
  /// The same of first … end - 1 of a row. Cost: of the blocks that they lie in.
  [[nodiscard]] core::Expected<std::vector<core::Span>> spans(std::size_t row, SpanRow::Index first,
                                                              SpanRow::Index end) const;

  /// A reader of the same file, for another thread, or for all spans of a row. ERRORS: it cannot be read any more.
  [[nodiscard]] core::Expected<core::TimelineReader> another_reader() const { return opener_(); }
  /// Calls with each span of a row, in order of time. `reader`: another_reader(). ERRORS: the file has changed since.
  core::Expected<void> read_row(const core::TimelineReader& reader, std::size_t row,
                                const std::function<void(const core::Span&)>& each) const;

  /// Bytes of memory for rows.
  [[nodiscard]] std::size_t memory() const;

 private:
  explicit Trace(core::TimelineReader reader) : reader_(std::move(reader)) {}
  using Opener = std::function<core::Expected<core::TimelineReader>()>;
  static core::Expected<std::shared_ptr<const Trace>> load(const Opener& open, const OpenControl& control);
  core::Expected<void> read_rows(const Opener& open, const OpenControl& control);
  void list_rows();

  core::TimelineReader reader_;
  Opener opener_;
  std::vector<Row> rows_;
  std::vector<std::vector<std::size_t>> blocks_;  ///< of each row: numbers of reader_.span_blocks(), by time
  std::int64_t spans_ = 0;
  core::Time length_;
};

}  // namespace tutti::gui
