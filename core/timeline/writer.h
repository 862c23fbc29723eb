#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Writes a timeline as a file of blocks while it comes into being (docs/timelines.md). At most 256 Ki spans are held
/// back. A file that was cut off can be read up to its last whole block.
class TimelineWriter : public TimelineSink {
 public:
  /// Writes to `out`, which must stay; nothing is written before begin().
  explicit TimelineWriter(std::ostream& out);
  ~TimelineWriter() override;

  void begin(const RunInfo& run) override;
  void track(const Track& track) override;
  void span(TrackId track, const Span& span) override;
  void step(const StepRecord& step) override;
  void pack(const PackRecord& pack) override;
  void link(const LinkRecord& link) override;
  void path(const PathPiece& piece) override;
  void steady(const SteadyState& state) override;
  void note(const std::string& text) override;
  void end() override;
  /// Writes what is held back, in blocks that are shorter than usual: it survives this process. For runs that take real time; of
  /// a simulation the file would depend on how fast the machine is.
  void flush();

  /// Everything arrived at `out` (no disk was full).
  [[nodiscard]] bool good() const;
  [[nodiscard]] std::int64_t spans() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The first and the last eight bytes of a timeline file.
inline constexpr std::string_view kTimelineMagic("TUTTITL1", 8);
inline constexpr std::string_view kTimelineEnd("TUTTIEND", 8);
/// No block is longer in the file.
inline constexpr std::uint64_t kLongestBlock = 1u << 20;
/// No block of spans, and no index block, has more entries.
inline constexpr std::size_t kSpansPerBlock = 4096;
/// No other block has more.
inline constexpr std::size_t kRecordsPerBlock = 1024;
/// Longer texts are cut, except the scenario's.
inline constexpr std::size_t kLongestText = 64u << 10;

}  // namespace tutti::core
