#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

class ByteSource;

/// Reads timeline files, also those that were cut off or whose index is gone, and survives those that are damaged or made
/// up: what it gives out is in sane ranges (times from 0 to a little beyond kHorizon, counts not negative), so that sums
/// and differences do not overflow, and takes memory in proportion to the file.
class TimelineReader {
 public:
  /// A block of spans: where it is, and what it covers. Enough to decide whether to read it.
  struct SpanBlock {
    std::uint64_t offset = 0;
    std::uint64_t end = 0;  ///< offset behind it
    TrackId track = 0;
    Time first_start;
    Time last_end;
    std::int64_t spans = 0;

    bool operator==(const SpanBlock&) const = default;
  };

  /// Whether blocks of spans are looked at when the file is opened, which takes as long as reading them, so that damage() knows of
  /// all of them; or only when they are read, for who reads all of them anyway and calls leave_out().
  enum class Check { kNow, kWhenRead };

  /// ERRORS: unreadable, no file (a pipe, …), not a timeline, nothing in it is whole.
  static Expected<TimelineReader> open(const std::string& path, Check spans = Check::kNow);
  /// The same for bytes at hand; `name` is what errors call them.
  static Expected<TimelineReader> from_bytes(std::string bytes, const std::string& name, Check spans = Check::kNow);
  /// The same for bytes from anywhere.
  static Expected<TimelineReader> from_source(std::shared_ptr<const ByteSource> source, const std::string& name,
                                              Check spans = Check::kNow);

  TimelineReader(TimelineReader&&) noexcept;
  TimelineReader& operator=(TimelineReader&&) noexcept;
  ~TimelineReader();

  [[nodiscard]] const RunInfo& run() const;
  [[nodiscard]] const std::vector<Track>& tracks() const;
  [[nodiscard]] const std::vector<StepRecord>& steps() const;
  [[nodiscard]] const std::vector<PackRecord>& packs() const;
  [[nodiscard]] const std::vector<LinkRecord>& links() const;
  [[nodiscard]] const std::vector<PathPiece>& path() const;
  /// Only of workers that do not wait for each other.
  [[nodiscard]] const std::optional<SteadyState>& steady() const;
  [[nodiscard]] const std::vector<SpanBlock>& span_blocks() const;
  /// What the file lacks, in words that go on from "the file …" and end with no full stop; empty if it is whole. What is whole
  /// was read: of a file that was cut off what stands before that; of one that is damaged what the index leads to, or whatever
  /// of the blocks one behind the other holds.
  [[nodiscard]] const std::string& damage() const;
  [[nodiscard]] bool complete() const { return damage().empty(); }

  /// Reads the spans of a block, and no other bytes than those of the block. Any number of threads may read at once.
  /// ERRORS: the block is damaged: with Check::kNow, since it was opened.
  [[nodiscard]] Expected<std::vector<Span>> read(const SpanBlock& block) const;
  /// Takes blocks that turned out to be damaged out of span_blocks(), and tells of them in damage().
  void leave_out(const std::vector<SpanBlock>& damaged);

  /// Feeds everything to a sink in the order in which an executor would. ERRORS: as read().
  Expected<void> replay(TimelineSink& sink) const;

 private:
  struct State;
  explicit TimelineReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tutti::core
