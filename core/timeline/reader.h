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

/// Reads timeline files, including truncated files and files without an index. Damaged or forged
/// files are safe to read: all returned values are in valid ranges (times from 0 to a little beyond
/// kHorizon, counts at least 0), so that sums and differences do not overflow. Memory is
/// proportional to the size of the file.
class TimelineReader {
 public:
  /// The position and the time range of a block of spans. Callers use the position and the time
  /// range to decide which blocks to read.
  struct SpanBlock {
    std::uint64_t offset = 0;
    std::uint64_t end = 0;  ///< offset just after the block's last byte
    TrackId track = 0;
    Time first_start;
    Time last_end;
    std::int64_t spans = 0;

    bool operator==(const SpanBlock&) const = default;
  };

  /// The time at which blocks of spans are checked. With kNow, all blocks are checked when the file
  /// is opened, so that damage() covers all of them; opening then takes as long as reading the
  /// whole file. With kWhenRead, a block is checked when it is read. kWhenRead is for callers that
  /// read all blocks anyway and call leave_out() for damaged blocks.
  enum class Check { kNow, kWhenRead };

  /// Opens a timeline file.
  /// ERRORS: the file cannot be read, is not a regular file (a pipe, …), is not a timeline, or has
  /// no intact block.
  static Expected<TimelineReader> open(const std::string& path, Check spans = Check::kNow);
  /// Does the same as open(), for bytes in memory. Errors show `name` in place of the file's path.
  static Expected<TimelineReader> from_bytes(std::string bytes, const std::string& name,
                                             Check spans = Check::kNow);
  /// Does the same as open(), for bytes from any source. Errors show `name` as the path of the
  /// file.
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
  /// The steady state; nullopt unless workers are asynchronous.
  [[nodiscard]] const std::optional<SteadyState>& steady() const;
  [[nodiscard]] const std::vector<SpanBlock>& span_blocks() const;
  /// Describes the damage as a phrase that follows the words "the file", without a full stop; empty
  /// if the file is intact. The contents of all intact blocks that were found are available. In a
  /// truncated file, all complete blocks are available. In any other damaged file, the available
  /// blocks are the intact blocks that the index lists or, without an index, the blocks before the
  /// damage.
  [[nodiscard]] const std::string& damage() const;
  [[nodiscard]] bool complete() const { return damage().empty(); }

  /// Reads the spans of a block; accesses only the bytes of this block. Thread-safe.
  /// ERRORS: the block is damaged (with Check::kNow: it was damaged after open()).
  [[nodiscard]] Expected<std::vector<Span>> read(const SpanBlock& block) const;
  /// Removes damaged blocks from span_blocks(), and extends the description damage().
  void leave_out(const std::vector<SpanBlock>& damaged);

  /// Passes all records to a sink, in the order in which an executor would pass them. ERRORS: as
  /// for read().
  Expected<void> replay(TimelineSink& sink) const;

 private:
  struct State;
  explicit TimelineReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tutti::core
