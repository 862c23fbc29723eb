#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// The parts of a training step. Forward, backward, other computation, exposed communication and
/// waiting() add up to the time of the step.
struct StepParts {
  Time time, forward, backward, other_compute, communication, exposed;
  Time slowed = {};  ///< see StepRecord::slowed
};

/// Collects the main results of a run. The records may come from a run in progress or from a
/// timeline file.
///
/// The memory is bounded, so that a run of any length can be summarised while it is in progress:
/// steps() has at most kMaxListedSteps records, and only the packs of the last step are stored. All
/// averages are exact for any number of steps, because they come from running totals.
class Summary : public NullSink {
 public:
  /// The maximum number of records in steps(). The steady state of asynchronous workers ends before
  /// this many steps, so steps() contains all steps of the steady state.
  static constexpr std::size_t kMaxListedSteps = 10'000;

  void begin(const RunInfo& run) override { info_ = run; }
  void step(const StepRecord& step) override;
  /// Packs may be recorded before or after their step. Packs of earlier steps are dropped.
  void pack(const PackRecord& pack) override;
  void link(const LinkRecord& link) override { links_.push_back(link); }
  void path(const PathPiece& piece) override { path_.push_back(piece); }
  void steady(const SteadyState& state) override { steady_ = state; }
  void note(const std::string& text) override { info_.notes.push_back(text); }

  [[nodiscard]] const RunInfo& info() const { return info_; }
  /// Returns the records of all steps. If there are more than kMaxListedSteps, returns the records
  /// of the first kMaxListedSteps - 1 steps and of the last step.
  [[nodiscard]] const std::vector<StepRecord>& steps() const { return steps_; }
  /// Returns the number of steps that have been recorded, listed in steps() or not.
  [[nodiscard]] std::int64_t step_count() const { return step_count_; }
  [[nodiscard]] const std::vector<PathPiece>& path() const { return path_; }

  /// Returns the step time in the steady state: the mean over all steps except the first, or the
  /// time of the only step. If the run has a steady_state(), returns the step time of this state.
  [[nodiscard]] Time step_time() const;
  /// Returns the steady state of asynchronous workers; nullopt for all other runs.
  [[nodiscard]] const std::optional<SteadyState>& steady_state() const { return steady_; }
  /// Returns the mean time of each part, over the steps that step_time() averages; nullopt if no
  /// step has ended.
  [[nodiscard]] std::optional<StepParts> steady_parts() const;
  /// Describes the steps that step_time() and steady_parts() average: "the only step", "step 1",
  /// "mean of steps 1 to 4". Empty if no step has ended.
  [[nodiscard]] std::string steady_basis() const;
  /// Returns the first step that takes exactly as long as every later step; -1 if the last two
  /// steps take different times.
  [[nodiscard]] int steady_from() const;
  /// The device for which the training steps waited longest. Only the steps that step_time()
  /// averages are included.
  struct Awaited {
    std::string device;
    int steps = 0;  ///< number of steps in which the device's gradients were ready last
    Time mean;  ///< mean of StepRecord::awaited_for over all `of_steps` steps, including steps that
                ///< waited for other devices
    int of_steps = 0;
  };
  /// Returns nullopt if no step has recorded which device it waited for.
  [[nodiscard]] std::optional<Awaited> awaited() const;
  /// Returns the packs of the last step, in plan order.
  [[nodiscard]] std::vector<PackRecord> last_packs() const;
  /// The number of links that were used.
  [[nodiscard]] std::size_t links() const { return links_.size(); }
  /// Returns the `most` busiest links, the busiest first.
  [[nodiscard]] std::vector<LinkRecord> busiest_links(
      std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  /// Returns the time from the start of the run to the end of the last step. The busy share of a
  /// link is relative to this time.
  [[nodiscard]] Time length() const { return steps_.empty() ? Time() : steps_.back().end; }

  /// Describes the critical path of the last step, in a list of sentences.
  [[nodiscard]] std::vector<std::string> path_in_words() const;

 private:
  /// Totals over several steps, from which averages are computed.
  struct Totals {
    /// The members of StepRecord that are averaged.
    static constexpr std::array kParts{&StepRecord::forward,       &StepRecord::backward,
                                       &StepRecord::other_compute, &StepRecord::communication,
                                       &StepRecord::exposed,       &StepRecord::slowed};
    /// The sum of all times in a forged file could overflow 64 bits.
    __extension__ using Sum = __int128;
    struct OfDevice {
      Time waited;
      int steps = 0;
    };

    std::int64_t steps = 0;
    std::array<Sum, kParts.size()> parts{};
    std::map<std::string, OfDevice> awaited;
    Time waited;

    void add(const StepRecord& step);
  };

  /// Returns the range of the steps that step_time() averages, as indices into steps(); the second
  /// index is excluded. REQUIRES: the run has a steady state, or only one step.
  [[nodiscard]] std::pair<std::size_t, std::size_t> steady_steps() const;
  /// Returns the totals over the steps that step_time() averages.
  [[nodiscard]] Totals steady_totals() const;

  RunInfo info_;
  std::vector<StepRecord> steps_;
  std::int64_t step_count_ = 0;
  Totals after_first_;  ///< totals over all steps except the first
  std::int64_t constant_from_ =
      0;  ///< index of the step with which the latest sequence of equally long steps begins
  std::map<std::int32_t, std::vector<PackRecord>> packs_;  ///< the packs of each step
  std::deque<LinkRecord> links_;                           ///< may have millions of entries
  std::vector<PathPiece> path_;
  std::optional<SteadyState> steady_;
};

}  // namespace tutti::core
