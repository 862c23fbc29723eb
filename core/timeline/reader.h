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

/// Reads timeline files, including truncated ones and those without an index, and tolerates damaged
/// or forged ones: all returned values are in valid ranges (times from 0 to a little beyond
/// kHorizon, counts not negative), so that sums and differences do not overflow. Memory is
/// proportional to the file.
class TimelineReader {
 public:
  /// The position of a block of spans and its range of time, from which callers decide whether to
  /// read it.
  struct SpanBlock {
    std::uint64_t offset = 0;
    std::uint64_t end = 0;  ///< offset after the block's last byte
    TrackId track = 0;
    Time first_start;
    Time last_end;
    std::int64_t spans = 0;

    bool operator==(const SpanBlock&) const = default;
  };

  /// When blocks of spans are checked: on opening, so that damage() covers all of them, which takes
  /// as long as reading them; or only when they are read, for callers that read all of them anyway
  /// and call leave_out().
  enum class Check { kNow, kWhenRead };

  /// ERRORS: unreadable, not a file (a pipe, …), not a timeline, without any intact block.
  static Expected<TimelineReader> open(const std::string& path, Check spans = Check::kNow);
  /// Like open(), for bytes in memory; errors call them `name`.
  static Expected<TimelineReader> from_bytes(std::string bytes, const std::string& name,
                                             Check spans = Check::kNow);
  /// Like open(), for bytes from any source.
  static Expected<TimelineReader> from_source(std::shared_ptr<const ByteSource> source,
                                              const std::string& name, Check spans = Check::kNow);

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
  /// Describes the damage of the file, as a phrase that continues "the file …", without a full
  /// stop; empty if it is intact. The intact parts were read: of a truncated file, those before the
  /// end; of a damaged one, those that the index refers to, or the sequence of blocks up to the
  /// damage.
  [[nodiscard]] const std::string& damage() const;
  [[nodiscard]] bool complete() const { return damage().empty(); }

  /// Reads the spans of a block, and no bytes outside of it. Thread-safe. ERRORS: the block is
  /// damaged; with Check::kNow, it was damaged after opening.
  [[nodiscard]] Expected<std::vector<Span>> read(const SpanBlock& block) const;
  /// Removes blocks that turned out to be damaged from span_blocks(), and adds them to damage().
  void leave_out(const std::vector<SpanBlock>& damaged);

  /// Sends everything to a sink in the order in which an executor would. ERRORS: as read().
  Expected<void> replay(TimelineSink& sink) const;

 private:
  struct State;
  explicit TimelineReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tutti::core
