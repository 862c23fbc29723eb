#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::sim {

/// Stores a timeline in memory until the run is known to be valid, and then passes it to another
/// sink.
class HeldTimeline : public core::TimelineSink {
 public:
  void begin(const core::RunInfo& run) override { held_.emplace_back(run); }
  void track(const core::Track& track) override { held_.emplace_back(track); }
  void span(core::TrackId track, const core::Span& span) override {
    spans_.emplace_back(track, span);
    if (held_.empty() || !std::holds_alternative<SpansUpTo>(held_.back()))
      held_.emplace_back(SpansUpTo());
    std::get<SpansUpTo>(held_.back()).end = spans_.size();
  }
  void step(const core::StepRecord& step) override { held_.emplace_back(step); }
  void pack(const core::PackRecord& pack) override { held_.emplace_back(pack); }
  void link(const core::LinkRecord& link) override { held_.emplace_back(link); }
  void path(const core::PathPiece& piece) override { held_.emplace_back(piece); }
  void steady(const core::SteadyState& state) override { held_.emplace_back(state); }
  void note(const std::string& text) override { held_.emplace_back(text); }
  void end() override { held_.emplace_back(End()); }

  /// Passes the whole timeline to `sink`. Must be called only once.
  void tell(core::TimelineSink& sink) {
    std::size_t next = 0;
    for (const HeldCall& call : held_) {
      if (const auto* const spans = std::get_if<SpansUpTo>(&call)) {
        for (; next < spans->end; ++next) sink.span(spans_[next].first, spans_[next].second);
      } else {
        std::visit([&sink](const auto& what) { pass_on(what, sink); }, call);
      }
    }
    held_.clear();
    spans_.clear();
  }

 private:
  /// An entry of held_ that stands for several consecutive calls of span(), with the spans up to
  /// spans_[end - 1]. Spans are stored in a separate vector, because they are numerous and small.
  struct SpansUpTo {
    std::size_t end = 0;
  };
  struct End {};
  using HeldCall =
      std::variant<core::RunInfo, core::Track, SpansUpTo, core::StepRecord, core::PackRecord,
                   core::LinkRecord, core::PathPiece, core::SteadyState, std::string, End>;

  static void pass_on(const core::RunInfo& run, core::TimelineSink& sink) { sink.begin(run); }
  static void pass_on(const core::Track& track, core::TimelineSink& sink) { sink.track(track); }
  static void pass_on(const SpansUpTo&, core::TimelineSink&) {}
  static void pass_on(const core::StepRecord& step, core::TimelineSink& sink) { sink.step(step); }
  static void pass_on(const core::PackRecord& pack, core::TimelineSink& sink) { sink.pack(pack); }
  static void pass_on(const core::LinkRecord& link, core::TimelineSink& sink) { sink.link(link); }
  static void pass_on(const core::PathPiece& piece, core::TimelineSink& sink) { sink.path(piece); }
  static void pass_on(const core::SteadyState& state, core::TimelineSink& sink) {
    sink.steady(state);
  }
  static void pass_on(const std::string& note, core::TimelineSink& sink) { sink.note(note); }
  static void pass_on(const End&, core::TimelineSink& sink) { sink.end(); }

  std::vector<HeldCall> held_;
  std::vector<std::pair<core::TrackId, core::Span>> spans_;
};

}  // namespace tutti::sim
