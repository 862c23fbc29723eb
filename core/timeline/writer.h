#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Writes a timeline to a file of blocks during a run (docs/timelines.md). At most 256 Ki spans are
/// buffered. If the file is truncated, it can be read up to the last complete block.
class TimelineWriter : public TimelineSink {
 public:
  /// Nothing is written before begin() is called. REQUIRES: `out` outlives the writer.
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
  /// Writes all buffered data to the file, so that a crash of this process does not lose the data.
  /// Blocks may be shorter than usual. Only real runs may call this function. In a simulation,
  /// calls at intervals of real time would make the file depend on the speed of the machine.
  void flush();

  /// True if no write to `out` has failed (because the disk was full, for example).
  [[nodiscard]] bool good() const;
  [[nodiscard]] std::int64_t spans() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The first and the last eight bytes of a timeline file.
inline constexpr std::string_view kTimelineMagic("TUTTITL1", 8);
inline constexpr std::string_view kTimelineEnd("TUTTIEND", 8);
/// The maximum length of a block, in bytes.
inline constexpr std::uint64_t kLongestBlock = 1u << 20;
/// The maximum number of entries in a block of spans or an index block.
inline constexpr std::size_t kSpansPerBlock = 4096;
/// The maximum number of entries in any other block.
inline constexpr std::size_t kRecordsPerBlock = 1024;
/// The maximum length of a text, in bytes. Longer texts are truncated, except the scenario's text.
inline constexpr std::size_t kLongestText = 64u << 10;

}  // namespace tutti::core
