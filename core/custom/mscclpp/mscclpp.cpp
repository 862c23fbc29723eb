#include "core/custom/mscclpp/mscclpp.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/custom/mscclpp/lanes.h"
#include "core/custom/mscclpp/plan.h"

namespace tutti::core::custom {
namespace {

class PlanSchedule : public Schedule {
 public:
  PlanSchedule(PlanSteps steps, Engine engine)
      : steps_(std::move(steps)), engine_(engine), scratch_(steps_.size()) {
    for (std::size_t rank = 0; rank < steps_.size(); ++rank) {
      for (const auto& lane : steps_[rank]) {
        for (const PlanStep& one : lane) note_scratch(rank, one.step);
      }
    }
  }

  [[nodiscard]] std::int32_t ranks() const override {
    return static_cast<std::int32_t>(steps_.size());
  }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return static_cast<std::int32_t>(steps_[rank].size());
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return static_cast<std::int64_t>(steps_[rank][lane].size());
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    return steps_[rank][lane][index].step;
  }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override { return scratch_[rank]; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

 private:
  /// Enlarges the rank's scratch buffer so that it contains the ranges of the step.
  void note_scratch(std::size_t rank, const Step& step) {
    const auto note = [](std::int64_t& scratch, const Range& range) {
      if (range.buffer == Buffer::kScratch && range.count > 0)
        scratch = std::max(scratch, range.end());
    };
    if (step.kind == StepKind::kNop) return;
    note(scratch_[rank], step.target);
    Range source = step.source;
    if (step.kind == StepKind::kReduce) source.offset += step.stride * (step.inputs - 1);
    note(scratch_[rank], source);
    if (step.kind != StepKind::kSwitchReduce) return;
    for (std::int32_t i = 0; i < step.group.count; ++i)
      note(scratch_[step.group.at(i)], step.source);
  }

  PlanSteps steps_;
  Engine engine_;
  std::vector<std::int64_t> scratch_;
};

class PlanAlgorithm : public CustomAlgorithm {
 public:
  PlanAlgorithm(std::shared_ptr<const Plan> plan, const AlgorithmShape& shape)
      : plan_(std::move(plan)), shape_(shape), unit_(made(1, 0, 4)) {
    for (const auto& gpu : unit_) {
      for (const auto& lane : gpu) {
        total_ += static_cast<std::int64_t>(lane.size());
        for (const PlanStep& one : lane)
          switch_use_ = std::max(switch_use_, switch_use_of(one.step.kind));
      }
    }
  }

  [[nodiscard]] CollectiveKind kind() const override { return plan_->kind; }
  [[nodiscard]] const AlgorithmShape& shape() const override { return shape_; }
  [[nodiscard]] bool reads_inputs() const override { return !plan_->in_place; }
  [[nodiscard]] SwitchUse switch_use() const override { return switch_use_; }
  [[nodiscard]] std::int64_t padded(std::int64_t elements) const override {
    return (elements + plan_->chunks - 1) / plan_->chunks * plan_->chunks;
  }
  [[nodiscard]] std::string note() const override {
    std::string note;
    const auto add = [&](const std::string& text) {
      note += (note.empty() ? plan_->name + ": " : "; ") + text;
    };
    if (plan_->packets)
      add("Tutti does not simulate the flags of packets, so a packet takes only the time of its "
          "data");
    if (plan_->has_pipelines)
      add(
          fmt::format("Tutti simulates pipelines with at most {} rounds; for a large message, a "
                      "round moves more than unit_size bytes",
                      plan_->max_rounds));
    if (plan_->reuses_scratch)
      add("Tutti lets the scratch buffer grow with the message, whereas MSCCL++ reuses a scratch "
          "buffer of 64 MiB");
    return note;
  }
  [[nodiscard]] std::optional<std::int64_t> even_elements() const override {
    if (plan_->has_pipelines) return std::nullopt;
    std::int64_t parts = 1;
    for (const PlanGpu& gpu : plan_->gpus) {
      for (const auto& block : gpu.blocks) {
        for (const PlanOp& op : block) {
          parts = std::lcm(parts, std::int64_t{op.parts});
          if (parts > kMaxParts) return std::nullopt;
        }
      }
    }
    return plan_->chunks * parts;
  }
  [[nodiscard]] std::unique_ptr<Schedule> schedule(std::int64_t elements, std::int64_t input_shift,
                                                   Engine engine,
                                                   std::int64_t element_bytes) const override {
    return std::make_unique<PlanSchedule>(
        made(elements / plan_->chunks, input_shift, element_bytes), engine);
  }
  [[nodiscard]] std::int64_t total_steps() const override { return total_; }
  [[nodiscard]] std::optional<Location> place_of(Rank rank, Lane lane,
                                                 std::int64_t index) const override {
    if (rank < 0 || static_cast<std::size_t>(rank) >= unit_.size()) return std::nullopt;
    const auto& lanes = unit_[rank];
    if (lane < 0 || static_cast<std::size_t>(lane) >= lanes.size()) return std::nullopt;
    const auto& steps = lanes[lane];
    if (index < 0 || static_cast<std::size_t>(index) >= steps.size()) return std::nullopt;
    const Position at = steps[index].at;
    return Location{plan_->file, at.line, at.column};
  }
  [[nodiscard]] std::string why_not_folded() const override {
    return fmt::format("{}: the file lists the operations of every GPU separately", plan_->file);
  }

 private:
  static constexpr std::int64_t kMaxParts = 1 << 20;

  [[nodiscard]] PlanSteps made(std::int64_t chunk, std::int64_t input_shift,
                               std::int64_t element_bytes) const {
    return steps_of(lanes_of(*plan_, chunk, input_shift, element_bytes),
                    static_cast<Rank>(plan_->gpus.size()));
  }

  std::shared_ptr<const Plan> plan_;
  AlgorithmShape shape_;
  PlanSteps unit_;  ///< the steps of the plan for chunks of one element
  std::int64_t total_ = 0;
  SwitchUse switch_use_ = SwitchUse::kNone;
};

class PlanText : public AlgorithmText {
 public:
  explicit PlanText(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  [[nodiscard]] const std::string& name() const override { return plan_->name; }
  [[nodiscard]] CollectiveKind kind() const override { return plan_->kind; }
  [[nodiscard]] std::vector<std::string> parameters() const override { return {}; }
  [[nodiscard]] std::shared_ptr<const CustomAlgorithm> for_shape(
      const AlgorithmShape& shape, const std::vector<AlgorithmParameter>& set,
      Problems& problems) const override {
    const Location whole{plan_->file, 0, 0};
    if (!set.empty()) {
      problems.add({ProblemCode::kUnknownName}, whole,
                   "execution plans have no parameters, so \"{}\" cannot be set; remove \"set\" "
                   "from \"custom\"",
                   set.front().name);
      return nullptr;
    }
    if (static_cast<std::size_t>(shape.ranks) != plan_->gpus.size()) {
      problems.add({ProblemCode::kConflict, "gpus"}, whole,
                   "the plan lists the operations of {} GPUs, but {} replicas take part; use a "
                   "cluster of that size",
                   plan_->gpus.size(), shape.ranks);
      return nullptr;
    }
    return std::make_shared<PlanAlgorithm>(plan_, shape);
  }

 private:
  std::shared_ptr<const Plan> plan_;
};

}  // namespace

bool is_mscclpp(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

std::shared_ptr<const AlgorithmText> read_mscclpp(std::string_view text, const std::string& file,
                                                  Problems& problems) {
  auto plan = read_plan(text, file, problems);
  return plan ? std::make_shared<PlanText>(std::move(plan)) : nullptr;
}

}  // namespace tutti::core::custom
