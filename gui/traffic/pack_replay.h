#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/symbolic_run.h"
#include "gui/traffic/traffic.h"

namespace tutti::gui {

/// Computes the content of each device's copy of a pack at a time of a run. The replay executes the
/// pack's schedule symbolically, with core::SymbolicRun. Each lane executes the schedule steps
/// that, according to the timeline, the lane had completed at this time.
///
/// A lane that was not recorded executes a step only if a recorded lane needs the data of this
/// step. The content of recorded devices is therefore exact, even if other devices were not
/// recorded.
class PackReplay {
 public:
  /// A part of a device's buffer: the elements offset … offset + count - 1. Each element contains
  /// the contributions of `contributions` ranks.
  struct Piece {
    std::int64_t offset = 0;
    std::int64_t count = 0;
    std::int32_t contributions = 0;  ///< 0: no valid data yet
    bool operator==(const Piece&) const = default;
  };
  /// Collectives with more schedule steps than this number are not replayed.
  static constexpr std::int64_t kMaxSteps = 2'000'000;

  /// Returns a replay, positioned before the pack's first step. ERRORS: the pack cannot be
  /// replayed; the text of the error is a sentence with the reason.
  static core::Expected<std::unique_ptr<PackReplay>> of(std::shared_ptr<const core::Scenario> plan,
                                                        std::shared_ptr<const Traffic> traffic,
                                                        std::int32_t step, std::int32_t pack);

  /// Moves the replay to time `t`. Cost: linear in the number of schedule steps between the
  /// previous time and `t`; if `t` is earlier, between the start of the pack and `t`.
  void show(core::Time t);

  [[nodiscard]] std::int32_t step() const { return step_; }
  [[nodiscard]] std::int32_t pack() const { return pack_; }
  [[nodiscard]] const core::Collective& collective() const { return collective_; }
  /// Returns the number of ranks that contribute. A piece with contributions of all these ranks is
  /// complete.
  [[nodiscard]] std::int32_t contributors() const {
    return static_cast<std::int32_t>(collective_.contributors);
  }
  /// Returns the rank of the device in the collective; -1 if the device does not take part.
  [[nodiscard]] core::Rank rank(std::int32_t device) const;
  /// Returns the content of a rank's buffer, from the first element to the last. Adjacent elements
  /// with the same number of contributions are returned as one piece.
  [[nodiscard]] std::vector<Piece> held(core::Rank rank) const;
  /// Returns the ranks whose contributions an element contains.
  [[nodiscard]] std::vector<core::Rank> contributions(core::Rank rank, std::int64_t element) const;
  /// Returns the elements of the pack that a message carries. Returns nullopt if the message
  /// carries data that is not in the pack's own buffer, or if the schedule step of the message is
  /// unknown.
  [[nodiscard]] std::optional<core::Range> range_of(const Transfer& message) const;

  /// Returns the boundaries of the chunks in which the schedule moves the pack: the starts and ends
  /// of all ranges in its steps, including 0 and the pack's size.
  [[nodiscard]] const std::vector<std::int64_t>& edges() const { return edges_; }
  /// Returns the name of a range in terms of chunks, such as "chunk 3", "chunks 3 to 5" or "part of
  /// chunk 3".
  [[nodiscard]] std::string name_of(std::int64_t offset, std::int64_t count) const;
  [[nodiscard]] std::size_t chunks() const { return edges_.size() - 1; }

 private:
  PackReplay(std::shared_ptr<const core::Scenario> plan, std::shared_ptr<const Traffic> traffic,
             core::Collective collective, std::int32_t step, std::int32_t pack,
             std::vector<std::int32_t> devices);
  void begin();
  void find_edges();
  [[nodiscard]] std::optional<std::size_t> sender_of(std::size_t lane) const;
  bool push(std::size_t wanted);

  std::shared_ptr<const core::Scenario> plan_;
  std::shared_ptr<const Traffic> traffic_;
  core::Collective collective_;
  std::int32_t step_, pack_;
  std::vector<std::int32_t> devices_;  ///< for each rank, the number of its device in Traffic
  core::Contract contract_;
  std::unique_ptr<core::SymbolicRun> run_;
  core::Time shown_;
  std::vector<std::int64_t> edges_;
};

}  // namespace tutti::gui
