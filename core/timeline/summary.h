#pragma once

#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// The parts of a training step. Forward, backward, other computation, exposed communication and
/// waiting() add up to it.
struct StepParts {
  Time time, forward, backward, other_compute, communication, exposed;
  Time slowed = {};  ///< see StepRecord::slowed
};

/// The key results of a run, collected from its timeline: during the run, or from a file.
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

  /// The steady state's step time: the mean over all steps but the first (over the only one if
  /// there is one), or that of steady_state().
  [[nodiscard]] Time step_time() const;
  /// For asynchronous workers whose run was continued until it was steady.
  [[nodiscard]] const std::optional<SteadyState>& steady_state() const { return steady_; }
  /// The means of all parts over the steps that step_time() averages. Nothing if no step ended.
  [[nodiscard]] std::optional<StepParts> steady_parts() const;
  /// Describes the steps of step_time() and steady_parts(): "the only step", "step 1", "mean of
  /// steps 1 to 4"; empty if no step has ended.
  [[nodiscard]] std::string steady_basis() const;
  /// Returns the first step from which on all take the same time, to the picosecond; -1 if the last
  /// two differ.
  [[nodiscard]] int steady_from() const;
  /// The device that the steady steps waited for most often.
  struct Awaited {
    std::string device;
    int steps = 0;  ///< number of steps in which its gradients were the last to be ready
    Time mean;      ///< mean delay per steady step relative to the others' average, over all last
                    ///< devices
    int of_steps = 0;
  };
  /// Returns it for the steps of step_time(); nullopt if it is not known.
  [[nodiscard]] std::optional<Awaited> awaited() const;
  /// The packs of the last step, in plan order.
  [[nodiscard]] std::vector<PackRecord> last_packs() const;
  /// The number of links in use.
  [[nodiscard]] std::size_t links() const { return links_.size(); }
  /// The links by busy share, busiest first; at most `most`.
  [[nodiscard]] std::vector<LinkRecord> busiest_links(
      std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  /// The end of the last step, which busy shares refer to.
  [[nodiscard]] Time length() const { return steps_.empty() ? Time() : steps_.back().end; }

  /// Describes the critical path of the last step, one sentence per piece.
  [[nodiscard]] std::vector<std::string> path_in_words() const;

 private:
  /// The steps that step_time() is the mean of; the index of the first, and the one after the last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> steady_steps() const;

  RunInfo info_;
  std::vector<StepRecord> steps_;
  std::vector<PackRecord> packs_;
  std::deque<LinkRecord> links_;  ///< may have millions of entries
  std::vector<PathPiece> path_;
  std::optional<SteadyState> steady_;
};

}  // namespace tutti::core
