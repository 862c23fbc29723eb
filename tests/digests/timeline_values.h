#pragma once

// The values of a timeline, without the order of records, the numbers of tracks, and notes. Two
// builds make the same prediction if these values are equal.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::test {

/// A part of a timeline. Each part has its own digest, so that a difference shows which part has
/// changed.
enum class Section {
  kPlan,         ///< the packs' gradients and bytes, and lower bounds
  kSteps,        ///< training steps and their parts
  kPacks,        ///< when each pack was ready, started and ended
  kComputation,  ///< spans of compute streams
  kFlights,      ///< packs and exchanges in flight on each device
  kMessages,     ///< steps of lanes, with the sender of each message
  kLinks,        ///< bytes of each link, and for how long they kept it busy
  kBins,         ///< bytes of each link by time
  kPath,         ///< the critical path
};
inline constexpr std::size_t kSections = 9;
constexpr std::array<Section, kSections> all_sections() {
  return {Section::kPlan,        Section::kSteps,   Section::kPacks,
          Section::kComputation, Section::kFlights, Section::kMessages,
          Section::kLinks,       Section::kBins,    Section::kPath};
}
std::string_view to_string(Section section);

/// Collects the timeline that an executor reports.
class TimelineValues : public core::TimelineSink {
 public:
  /// The set of values that are compared.
  enum class View {
    kAll,
    /// The values that a folded run has in common with a run of all workers: spans and bins of
    /// worker 0, messages without their senders, and devices without worker numbers.
    kOneWorker,
  };

  void begin(const core::RunInfo& run) override { run_ = run; }
  void track(const core::Track& track) override;
  void span(core::TrackId track, const core::Span& span) override;
  void step(const core::StepRecord& step) override { steps_.push_back(step); }
  void pack(const core::PackRecord& pack) override { packs_.push_back(pack); }
  void link(const core::LinkRecord& link) override { links_.push_back(link); }
  void path(const core::PathPiece& piece) override { path_.push_back(piece); }
  void steady(const core::SteadyState&) override {}
  void note(const std::string&) override {}
  void end() override { ended_ = true; }

  /// Sorts the records by their values. To be called once, after the run.
  void sort();

  /// Returns true if the timeline was reported up to its end.
  [[nodiscard]] bool ended() const { return ended_; }
  /// Returns the number of records of a section.
  [[nodiscard]] std::size_t size(Section section) const;
  [[nodiscard]] std::string digest(Section section, View view = View::kAll) const;
  /// Calls `line` with each record of the section as text: "step=0 start=0 end=109000000 …".
  void print(Section section, View view, const std::function<void(const std::string&)>& line) const;

 private:
  struct OneTrack {
    core::Track track;
    std::string name;
    std::vector<core::Span> spans;
  };

  /// Passes every record of the section to `visitor`: each field with its name, and then
  /// end_of_record().
  template <class Visitor>
  void visit(Section section, View view, Visitor& visitor) const;
  template <class Visitor>
  void visit_spans(core::TrackKind kind, View view, Visitor& visitor) const;
  template <class Visitor>
  void visit_path(View view, Visitor& visitor) const;

  core::RunInfo run_;
  std::vector<OneTrack> tracks_;       ///< by number
  std::vector<std::size_t> in_order_;  ///< the tracks, by kind, device, slot and lane
  std::vector<core::StepRecord> steps_;
  std::vector<core::PackRecord> packs_;
  std::vector<core::LinkRecord> links_;
  std::vector<core::PathPiece> path_;
  bool ended_ = false;
};

}  // namespace tutti::test
