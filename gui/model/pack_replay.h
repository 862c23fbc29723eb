#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/symbolic_run.h"
#include "gui/model/traffic.h"

namespace tutti::gui {

/// What every device holds of one pack at a moment of a run: the pack's schedule run on symbols (core's SymbolicRun, which
/// proves schedules) as far as the timeline says that each lane had got.
///
/// Lanes that were not recorded are taken as far as others need it, so what recorded devices hold is right all the same.
class PackReplay {
 public:
  /// The same at one device: elements offset … offset + count - 1, with the contributions of so many ranks in them.
  struct Piece {
    std::int64_t offset = 0;
    std::int64_t count = 0;
    std::int32_t contributions = 0;  ///< 0: nothing of use yet
    bool operator==(const Piece&) const = default;
  };
  /// Steps of a collective that are followed.
  static constexpr std::int64_t kMostSteps = 2'000'000;

  /// Before its first step. ERRORS: what keeps the pack from being followed, in words.
  static core::Expected<std::unique_ptr<PackReplay>> of(std::shared_ptr<const core::Scenario> plan,
                                                        std::shared_ptr<const Traffic> traffic, std::int32_t step,
                                                        std::int32_t pack);

  /// Cost: the steps from the moment before to this one; to an earlier one, all of them from the pack's start.
  void show(core::Time t);

  [[nodiscard]] std::int32_t step() const { return step_; }
  [[nodiscard]] std::int32_t pack() const { return pack_; }
  [[nodiscard]] const core::Collective& collective() const { return collective_; }
  /// Ranks that contribute: so many contributions make it complete.
  [[nodiscard]] std::int32_t contributors() const { return static_cast<std::int32_t>(collective_.contributors); }
  /// The device's place in the collective; -1: it takes no part.
  [[nodiscard]] core::Rank rank(std::int32_t device) const;
  /// What a rank's buffer holds, from the first element to the last, neighbours that are alike joined.
  [[nodiscard]] std::vector<Piece> held(core::Rank rank) const;
  /// The ranks whose contributions are in an element.
  [[nodiscard]] std::vector<core::Rank> contributions(core::Rank rank, std::int64_t element) const;
  /// What a message carries; nothing of one that is not for the pack's own buffer or whose step is not known.
  [[nodiscard]] std::optional<core::Range> range_of(const Transfer& message) const;

  /// The pack in the pieces in which the schedule moves it: the edges of all ranges that steps name, 0 and the end included.
  [[nodiscard]] const std::vector<std::int64_t>& edges() const { return edges_; }
  /// "chunk 3", "chunks 3 to 5" of chunks(); "part of chunk 3".
  [[nodiscard]] std::string name_of(std::int64_t offset, std::int64_t count) const;
  [[nodiscard]] std::size_t chunks() const { return edges_.size() - 1; }

 private:
  PackReplay(std::shared_ptr<const core::Scenario> plan, std::shared_ptr<const Traffic> traffic,
             core::Collective collective, std::int32_t step, std::int32_t pack, std::vector<std::int32_t> devices);
  void begin();
  void find_edges();
  [[nodiscard]] std::optional<std::size_t> sender_of(std::size_t lane) const;
  bool push(std::size_t wanted);

  std::shared_ptr<const core::Scenario> plan_;
  std::shared_ptr<const Traffic> traffic_;
  core::Collective collective_;
  std::int32_t step_, pack_;
  std::vector<std::int32_t> devices_;  ///< by rank
  core::Contract contract_;
  std::unique_ptr<core::SymbolicRun> run_;
  core::Time shown_;
  std::vector<std::int64_t> edges_;
};

}  // namespace tutti::gui
