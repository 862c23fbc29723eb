#include "core/schedule/print.h"

#include <fmt/format.h>

namespace tutti::core {

std::string_view to_string(StepKind kind) {
  switch (kind) {
    case StepKind::kNop: return "nop";
    case StepKind::kSend: return "send";
    case StepKind::kReceive: return "receive";
    case StepKind::kReceiveAny: return "receive-any";
    case StepKind::kReceiveReduce: return "receive-reduce";
    case StepKind::kReceiveSend: return "receive-send";
    case StepKind::kReceiveReduceSend: return "receive-reduce-send";
    case StepKind::kReceiveReduceCopySend: return "receive-reduce-copy-send";
    case StepKind::kCopy: return "copy";
    case StepKind::kReduce: return "reduce";
    case StepKind::kScale: return "scale";
    case StepKind::kUpdate: return "update";
    case StepKind::kMulticast: return "multicast";
    case StepKind::kSwitchReduce: return "switch-reduce";
  }
  return "";
}

std::string_view to_string(Engine engine) {
  switch (engine) {
    case Engine::kKernel: return "kernel";
    case Engine::kCopyEngine: return "copy engine";
    case Engine::kCpu: return "cpu";
  }
  return "";
}

namespace {

std::string show(const Range& range) {
  return fmt::format("{}[{}..{})", range.buffer == Buffer::kData ? "data" : "scratch", range.offset,
                     range.end());
}

std::string show(const Peer& peer, Rank rank, std::int32_t ranks) {
  return fmt::format("rank {} lane {}", peer.rank(rank, ranks), peer.lane);
}

std::string show(const RankSet& set) {
  if (set.count == 1) return fmt::format("rank {}", set.first);
  return fmt::format("ranks {}..{}{}", set.first, set.at(set.count - 1),
                     set.stride == 1 ? "" : fmt::format(" by {}", set.stride));
}

}  // namespace

std::string to_string(const Step& step, Rank rank, std::int32_t ranks) {
  std::string text = fmt::format("{:<25}", to_string(step.kind));
  switch (step.kind) {
    case StepKind::kNop: break;
    case StepKind::kSend:
      text += fmt::format("{} → {}", show(step.source), show(step.to, rank, ranks));
      break;
    case StepKind::kReceive:
    case StepKind::kReceiveReduce:
      text += fmt::format("{} ← {}", show(step.target), show(step.from, rank, ranks));
      break;
    case StepKind::kReceiveAny:
      text += fmt::format("{} + {} · slot ← anyone", show(step.target), step.stride);
      break;
    case StepKind::kReceiveSend:
    case StepKind::kReceiveReduceCopySend:
      text += fmt::format("{} ← {} → {}", show(step.target), show(step.from, rank, ranks),
                          show(step.to, rank, ranks));
      break;
    case StepKind::kReceiveReduceSend:
      text += fmt::format("{} ← {} → {}", show(step.source), show(step.from, rank, ranks),
                          show(step.to, rank, ranks));
      break;
    case StepKind::kCopy:
      text += fmt::format("{} from {}", show(step.target), show(step.source));
      break;
    case StepKind::kReduce:
      text += fmt::format("{} {} {} ranges from {} on, every {}", show(step.target),
                          step.accumulate ? "+=" : "=", step.inputs,
                          show({step.source.buffer, step.source.offset, step.target.count}),
                          step.stride);
      break;
    case StepKind::kScale: text += fmt::format("{} · {:g}", show(step.target), step.factor); break;
    case StepKind::kUpdate:
      text += fmt::format("{} in {} passes", show(step.target), step.inputs);
      break;
    case StepKind::kMulticast:
      text += fmt::format("{} → {} lane {}", show(step.source), show(step.group), step.to.lane);
      break;
    case StepKind::kSwitchReduce:
      text += fmt::format("{} = sum of {} at {}", show(step.target), show(step.source),
                          show(step.group));
      break;
  }
  if (step.wait.lane >= 0)
    text += fmt::format("  after {} steps of lane {}", step.wait.count, step.wait.lane);
  return text;
}

std::string print(const Schedule& schedule, const std::function<std::string(Rank)>& name) {
  std::string text;
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    if (schedule.lanes(rank) == 0) continue;
    text += fmt::format("rank {} ({})", rank, name(rank));
    if (schedule.scratch(rank) > 0)
      text += fmt::format(", scratch {} elements", schedule.scratch(rank));
    text += '\n';
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
      const int credits = schedule.credits(rank, lane);
      text += fmt::format("  lane {} ({}{})\n", lane, to_string(schedule.engine(rank, lane)),
                          credits == kUnlimitedCredits ? "" : fmt::format(", {} slots", credits));
      for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i) {
        text += fmt::format("  {:>5}  {}\n", i,
                            to_string(schedule.step(rank, lane, i), rank, schedule.ranks()));
      }
    }
  }
  return text;
}

}  // namespace tutti::core
