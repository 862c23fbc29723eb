#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// What a training step goes into. Forward, backward, other computation, what is exposed and waiting() add up to it.
struct StepParts {
  Time time, forward, backward, other_compute, communication, exposed;
  Time slowed = {};  ///< StepRecord::slowed
};

/// What a researcher wants to know of a run, taken from its timeline: as it comes into being, or from a file.
class Summary : public DeafSink {
 public:
  void begin(const RunInfo& run) override { info_ = run; }
  void step(const StepRecord& step) override { steps_.push_back(step); }
  void pack(const PackRecord& pack) override { packs_.push_back(pack); }
  void link(const LinkRecord& link) override { links_.push_back(link); }
  void path(const PathPiece& piece) override { path_.push_back(piece); }
  void steady(const SteadyState& state) override { steady_ = state; }
  void note(const std::string& text) override { info_.notes.push_back(text); }

  [[nodiscard]] const RunInfo& info() const { return info_; }
  [[nodiscard]] const std::vector<StepRecord>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<PathPiece>& path() const { return path_; }

  /// The steady state's step time: the mean over all steps but the first (over the only one if there is one), or that of
  /// steady_state().
  [[nodiscard]] Time step_time() const;
  /// Of workers that do not wait for each other, if the run was continued until they were in a steady state.
  [[nodiscard]] const std::optional<SteadyState>& steady_state() const { return steady_; }
  /// The same for what the step goes into: the mean of each part over the steps that step_time() is the mean of. Nothing if no step
  /// ended.
  [[nodiscard]] std::optional<StepParts> steady_parts() const;
  /// "the only step", "step 1", "mean of steps 1 to 4": what step_time() and steady_parts() are of. Empty if no step ended.
  [[nodiscard]] std::string steady_basis() const;
  /// The first step from which on all take the same time to the picosecond; -1 if the last two differ.
  [[nodiscard]] int steady_from() const;
  /// Whom the steady steps waited for most.
  struct Awaited {
    std::string device;
    int steps = 0;  ///< in which it was the last whose gradients were ready
    Time mean;      ///< per steady step: how much later than the others' it was on average; all last ones counted
    int of_steps = 0;
  };
  /// Over the steps that step_time() is the mean of. Nothing if it is not known.
  [[nodiscard]] std::optional<Awaited> awaited() const;
  /// The packs of the last step, in plan order.
  [[nodiscard]] std::vector<PackRecord> last_packs() const;
  /// The links by busy share, busiest first.
  [[nodiscard]] std::vector<LinkRecord> busiest_links() const;
  /// End of the last step: what busy shares refer to.
  [[nodiscard]] Time length() const { return steps_.empty() ? Time() : steps_.back().end; }

  /// The critical path of the last step in sentences, one per stretch.
  [[nodiscard]] std::vector<std::string> path_in_words() const;

 private:
  /// The steps that step_time() is the mean of; the index of the first, and the one after the last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> steady_steps() const;

  RunInfo info_;
  std::vector<StepRecord> steps_;
  std::vector<PackRecord> packs_;
  std::vector<LinkRecord> links_;
  std::vector<PathPiece> path_;
  std::optional<SteadyState> steady_;
};

}  // namespace tutti::core
