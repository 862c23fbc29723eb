// The schedule of a program (program.h). This file computes a step from its index: step_finder.cpp
// finds the action, and its expressions are evaluated for the rank and the loop iterations. Nothing
// is stored per rank or step.
//
// Every value is made valid: a rank or chunk that is too large wraps around, and a range that is
// too long ends at the end of the buffer. The checker reports errors of an algorithm; this file
// does not detect them.

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/custom/chunk_cut.h"
#include "core/custom/custom_algorithm.h"
#include "core/custom/forestcoll.h"
#include "core/custom/msccl.h"
#include "core/custom/mscclpp/mscclpp.h"
#include "core/custom/program.h"
#include "core/custom/teccl.h"

namespace tutti::core {
namespace {

using custom::ActionCode;
using custom::Area;
using custom::ChunkCut;
using custom::kLaneSlot;
using custom::kRankSlot;
using custom::LaneFamily;
using custom::NodeCode;
using custom::PeerCode;
using custom::Program;
using custom::RangeCode;
using custom::StepFinder;
using custom::Variables;
using custom::WaitCode;
using custom::wrapped;

class CustomSchedule : public Schedule {
 public:
  CustomSchedule(std::shared_ptr<const Program> program, std::int64_t elements,
                 std::int64_t input_shift, Engine engine)
      : program_(std::move(program)),
        finder_(*program_),
        ranks_(program_->shape.ranks),
        input_shift_(input_shift),
        engine_(engine),
        cut_(elements, program_->chunks, has_blocks(program_->kind) ? ranks_ : 1) {
    even_ = cut_.even() && !program_->pieces_vary &&
            std::all_of(program_->piece_counts.begin(), program_->piece_counts.end(),
                        [&](std::int64_t pieces) { return cut_.each % pieces == 0; });
  }

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override {
    return static_cast<std::int32_t>(program_->family_of_lane.size());
  }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }
  [[nodiscard]] int credits(Rank, Lane) const override {
    return program_->slots == 0 ? kUnlimitedCredits : program_->slots;
  }
  [[nodiscard]] std::int64_t scratch(Rank) const override {
    return program_->scratch * cut_.longest();
  }

  /// A single rank has no peers. A single rank only copies its input to the output if the
  /// collective is out of place.
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (ranks_ == 1) return lane == 0 && input_shift_ != 0 && cut_.elements > 0 ? 1 : 0;
    Variables variables = variables_of(rank, lane);
    return finder_.count(family_of(lane).root, variables);
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    return ranks_ == 1 ? copy_of_all() : step_of(rank, lane, index);
  }

  [[nodiscard]] bool same_everywhere(Renumbering by, std::int32_t per_worker) const override {
    const custom::Obstacle& obstacle =
        by == Renumbering::kShift ? program_->to_shift : program_->to_exchange;
    return even_ && obstacle.what.empty() && per_worker == program_->shape.per_node;
  }

  [[nodiscard]] IdenticalSteps identical_from(Rank rank, Lane lane,
                                              std::int64_t index) const override {
    if (!even_ || ranks_ == 1) return {};
    Variables variables = variables_of(rank, lane);
    const StepFinder::Found found = finder_.find(family_of(lane).root, index, variables);
    return {found.identical_period, found.identical_end};
  }

  void visit_ways(Rank rank, Lane lane,
                  const std::function<void(const Step&)>& visit) const override {
    if (ranks_ == 1) return;
    Variables variables = variables_of(rank, lane);
    visit_node(family_of(lane).root, rank, lane, variables, visit);
  }

 private:
  /// Returns a step if there are several ranks. This function takes a large part of the time of a
  /// simulation. So it returns one variable, which is not copied, and begins with a copy of an
  /// empty step, which is faster than the instruction that fills memory for an initialization.
  [[nodiscard]] Step step_of(Rank rank, Lane lane, std::int64_t index) const {
    Variables variables;
    set_variables(variables, rank, lane);
    const ActionCode& action = *finder_.find(family_of(lane).root, index, variables).action;
    Step step = empty_;
    step.kind = action.kind;
    if (action.wait >= 0) step.wait = wait_of(program_->waits[action.wait], rank, variables);
    if (action.kind == StepKind::kNop) return step;
    set_ranges(step, action, variables);
    bool moves =
        step.source.count > 0 || step.target.count > 0 || action.source.area == Area::kNothing;
    if (switch_use_of(action.kind) != SwitchUse::kNone)
      moves = set_group(step, action, rank, lane, variables) && moves;
    else if (sends(action.kind))
      moves = set_peer(step.to, action.to, rank, lane, variables) && moves;
    if (receives(action.kind))
      moves = set_peer(step.from, action.from, rank, lane, variables) && moves;
    if (step.kind == StepKind::kCopy && step.source == step.target) moves = false;
    if (!moves) {
      const Wait wait = step.wait;
      step = empty_;
      step.wait = wait;
      return step;
    }
    if (action.kind == StepKind::kReduce) {
      step.inputs = 1;
      step.accumulate = true;
    }
    return step;
  }

  [[nodiscard]] const LaneFamily& family_of(Lane lane) const {
    const int family = program_->family_of_lane[lane];
    return program_->families[family];
  }

  [[nodiscard]] Variables variables_of(Rank rank, Lane lane) const {
    Variables variables;
    set_variables(variables, rank, lane);
    return variables;
  }
  /// Sets the variables that do not belong to loops. Values use the variable of a loop only inside
  /// the loop, which sets it.
  void set_variables(Variables& variables, Rank rank, Lane lane) const {
    const LaneFamily& family = family_of(lane);
    variables[kRankSlot] = rank;
    variables[kLaneSlot] = family.first_number + lane - family.first;
  }

  [[nodiscard]] Step copy_of_all() const {
    Step step;
    step.kind = StepKind::kCopy;
    step.source = step.target = {Buffer::kData, 0, cut_.elements};
    step.source.offset += input_shift_;
    return step;
  }

  // --- ranges ---

  void set_ranges(Step& step, const ActionCode& action, const Variables& variables) const {
    step.source = range_of(action.source, variables);
    step.target = action.one_place ? step.source : range_of(action.target, variables);
    if (action.one_place) return;
    // A scratch range gets the length of the data range with which it is copied.
    const bool source_free = action.source.area == Area::kScratch && !action.source.has_like;
    const bool target_free = action.target.area == Area::kScratch && !action.target.has_like;
    if (source_free && !target_free)
      fit(step.source, step.target.count);
    else if (target_free && !source_free)
      fit(step.target, step.source.count);
  }

  void fit(Range& scratch, std::int64_t count) const {
    scratch.count = std::min(count, program_->scratch * cut_.longest() - scratch.offset);
  }

  [[nodiscard]] Range range_of(const RangeCode& place, const Variables& variables) const {
    if (place.area == Area::kNothing) return {};
    const std::int64_t first = program_->values.at(place.first, variables);
    const std::int64_t count =
        place.one ? 1 : std::max<std::int64_t>(0, program_->values.at(place.count, variables));
    Range range;
    if (place.area == Area::kScratch) {
      const std::int64_t longest = cut_.longest();
      const std::int64_t begin = wrapped(first, program_->scratch);
      range = {Buffer::kScratch, begin * longest,
               std::min(count, program_->scratch - begin) * longest};
      if (place.has_like) {
        const std::int64_t like = wrapped(program_->values.at(place.like, variables), cut_.chunks);
        range.count = std::min(range.count, cut_.offset(like + 1) - cut_.offset(like));
      }
    } else {
      const std::int64_t begin = wrapped(first, cut_.chunks);
      const std::int64_t offset = cut_.offset(begin);
      range = {Buffer::kData, offset,
               cut_.offset(begin + std::min(count, cut_.chunks - begin)) - offset};
      if (place.area == Area::kInput) range.offset += input_shift_;
    }
    if (place.in_pieces) {
      const std::int64_t parts = program_->values.at(place.parts, variables);
      const std::int64_t part = wrapped(program_->values.at(place.part, variables), parts);
      const EvenCut cut{range.count, parts};
      range.offset += cut.offset(part);
      range.count = cut.size(part);
    }
    return range;
  }

  // --- peers ---

  /// Sets the peer. Returns false if the peer would be the rank itself.
  bool set_peer(Peer& peer, const PeerCode& code, Rank rank, Lane lane,
                const Variables& variables) const {
    const std::int64_t value = wrapped(program_->values.at(code.rank, variables), ranks_);
    peer = code.relative ? Peer::ahead(static_cast<std::int32_t>(value), lane)
                         : Peer::at(static_cast<Rank>(value), lane);
    set_lane(peer, code, variables);
    return peer.rank(rank, ranks_) != rank;
  }

  void set_lane(Peer& peer, const PeerCode& code, const Variables& variables) const {
    if (code.own_lane) return;
    const LaneFamily& family = program_->families[code.family];
    peer.lane = family.first;
    if (family.numbered)
      peer.lane = lane_at(family, program_->values.at(code.lane_number, variables));
  }

  /// Sets the ranks of a multicast or of a reduction in a switch. If only the rank itself
  /// contributes to a sum, the step is a copy. Returns false if the step would have no effect.
  bool set_group(Step& step, const ActionCode& action, Rank rank, Lane lane,
                 const Variables& variables) const {
    const custom::GroupCode& code = action.group;
    const auto ranks = static_cast<std::int64_t>(ranks_);
    const std::int64_t first = wrapped(program_->values.at(code.first, variables), ranks);
    const std::int64_t stride = std::min(program_->values.at(code.stride, variables), ranks);
    const std::int64_t count = std::clamp<std::int64_t>(program_->values.at(code.count, variables),
                                                        0, (ranks - 1 - first) / stride + 1);
    step.group = {static_cast<Rank>(first), static_cast<std::int32_t>(count),
                  static_cast<std::int32_t>(stride)};
    const bool alone = count == 0 || (count == 1 && first == rank);
    if (step.kind == StepKind::kMulticast) {
      step.to = Peer::at(0, lane);
      set_lane(step.to, action.to, variables);
      return !alone;
    }
    if (alone) step.kind = StepKind::kCopy;
    return count > 0;
  }

  static Lane lane_at(const LaneFamily& family, std::int64_t number) {
    return family.first + static_cast<Lane>(wrapped(number - family.first_number, family.count));
  }

  [[nodiscard]] Wait wait_of(const WaitCode& code, Rank rank, const Variables& variables) const {
    const int mark = code.mark;
    const int number = mark < 0 ? code.family : program_->marks[mark].family;
    const LaneFamily& family = program_->families[number];
    std::vector<std::int64_t> arguments;
    for (const custom::Value& argument : code.arguments)
      arguments.push_back(program_->values.at(argument, variables));
    Wait wait{family.first, 0};
    if (family.numbered && !arguments.empty()) {
      wait.lane = lane_at(family, arguments.front());
      arguments.erase(arguments.begin());
    }
    Variables there = variables_of(rank, wait.lane);
    wait.count = mark < 0 ? finder_.count(family.root, there)
                          : finder_.position(program_->marks[mark], arguments, there);
    return wait.count == 0 ? Wait{} : wait;
  }

  // --- ways ---

  void visit_node(int id, Rank rank, Lane lane, Variables& variables,
                  const std::function<void(const Step&)>& visit) const {
    const NodeCode& node = program_->nodes[id];
    switch (node.kind) {
      case NodeCode::Kind::kBlock:
        for (const int child : node.children) visit_node(child, rank, lane, variables, visit);
        return;
      case NodeCode::Kind::kIf:
        return visit_node(
            program_->values.at(node.low, variables) != 0 ? node.body : node.otherwise, rank, lane,
            variables, visit);
      case NodeCode::Kind::kLoop: {
        const std::int64_t low = program_->values.at(node.low, variables);
        const std::int64_t high = program_->values.at(node.high, variables);
        for (std::int64_t number = low; number <= high; ++number) {
          variables[node.slot] = number;
          visit_node(node.body, rank, lane, variables, visit);
          if (!node.ways_vary) return;
        }
        return;
      }
      case NodeCode::Kind::kAction: {
        const ActionCode& action = program_->actions[node.action];
        if (!sends(action.kind) && action.kind != StepKind::kSwitchReduce) return;
        Step step;
        step.kind = action.kind;
        set_ranges(step, action, variables);
        if (switch_use_of(action.kind) != SwitchUse::kNone) {
          if (set_group(step, action, rank, lane, variables) && step.kind == action.kind)
            visit(step);
          return;
        }
        if (set_peer(step.to, action.to, rank, lane, variables)) visit(step);
        return;
      }
      case NodeCode::Kind::kMark: return;
    }
  }

  std::shared_ptr<const Program> program_;
  StepFinder finder_;
  std::int32_t ranks_;
  std::int64_t input_shift_;
  Engine engine_;
  ChunkCut cut_;
  bool even_ = false;  ///< true if all chunks and pieces have the same size
  Step empty_;
};

class ProgramAlgorithm : public CustomAlgorithm {
 public:
  explicit ProgramAlgorithm(std::shared_ptr<const Program> program)
      : program_(std::move(program)) {}

  [[nodiscard]] CollectiveKind kind() const override { return program_->kind; }
  [[nodiscard]] const AlgorithmShape& shape() const override { return program_->shape; }
  [[nodiscard]] bool reads_inputs() const override { return program_->names_input; }
  [[nodiscard]] SwitchUse switch_use() const override {
    SwitchUse use = SwitchUse::kNone;
    for (const ActionCode& action : program_->actions)
      use = std::max(use, switch_use_of(action.kind));
    return use;
  }

  [[nodiscard]] std::unique_ptr<Schedule> schedule(std::int64_t elements, std::int64_t input_shift,
                                                   Engine engine, std::int64_t) const override {
    const bool kernel = program_->by_kernel && engine == Engine::kCopyEngine;
    return std::make_unique<CustomSchedule>(program_, elements, input_shift,
                                            kernel ? Engine::kKernel : engine);
  }

  [[nodiscard]] std::optional<std::int64_t> even_elements() const override {
    if (program_->pieces_vary) return std::nullopt;
    constexpr std::int64_t kMaxEvenElements = std::int64_t{1} << 30;
    std::int64_t pieces = 1;
    for (const std::int64_t count : program_->piece_counts) {
      if (count > kMaxEvenElements) return std::nullopt;
      pieces = std::lcm(pieces, count);
      if (pieces > kMaxEvenElements) return std::nullopt;
    }
    if (program_->chunks > kMaxEvenElements / pieces) return std::nullopt;
    return program_->chunks * pieces;
  }

  [[nodiscard]] std::int64_t visits_per_rank() const override { return program_->visits; }
  [[nodiscard]] std::int64_t total_steps() const override {
    if (program_->shape.ranks == 1) return 1;
    const StepFinder finder(*program_);
    constexpr std::int64_t kMax = std::int64_t{1} << 50;
    std::int64_t total = 0;
    for (std::size_t lane = 0; lane < program_->family_of_lane.size(); ++lane) {
      const LaneFamily& family = program_->families[program_->family_of_lane[lane]];
      const std::int64_t fixed = program_->nodes[family.root].count;
      if (fixed >= 0) {
        total = std::min(kMax, total + fixed * program_->shape.ranks);
        continue;
      }
      // If ranks have different numbers of steps, the total is estimated from the first few ranks.
      const Rank some = std::min(program_->shape.ranks, 64);
      std::int64_t steps = 0;
      for (Rank rank = 0; rank < some; ++rank) {
        Variables variables{};
        variables[kRankSlot] = rank;
        variables[kLaneSlot] = family.first_number + static_cast<std::int64_t>(lane) - family.first;
        steps += finder.count(family.root, variables);
      }
      total = std::min(kMax, total + (steps / some + 1) * program_->shape.ranks);
    }
    return total;
  }

  [[nodiscard]] std::optional<Location> place_of(Rank rank, Lane lane,
                                                 std::int64_t index) const override {
    if (program_->shape.ranks == 1 || rank < 0 || rank >= program_->shape.ranks || lane < 0 ||
        static_cast<std::size_t>(lane) >= program_->family_of_lane.size())
      return std::nullopt;
    const LaneFamily& family = program_->families[program_->family_of_lane[lane]];
    Variables variables{};
    variables[kRankSlot] = rank;
    variables[kLaneSlot] = family.first_number + lane - family.first;
    const StepFinder finder(*program_);
    if (index < 0 || index >= finder.count(family.root, variables)) return std::nullopt;
    const Position at = finder.find(family.root, index, variables).action->at;
    return Location{program_->file, at.line, at.column};
  }

  [[nodiscard]] std::string why_not_folded() const override {
    const custom::Obstacle& obstacle = program_->to_shift;
    if (obstacle.what.empty() || program_->to_exchange.what.empty()) return "";
    return fmt::format("{}:{}:{}: {}", program_->file, obstacle.at.line, obstacle.at.column,
                       obstacle.what);
  }

 private:
  std::shared_ptr<const Program> program_;
};

class LanguageText : public AlgorithmText {
 public:
  explicit LanguageText(custom::Syntax syntax) : syntax_(std::move(syntax)) {
    if (syntax_.name.empty()) syntax_.name = std::filesystem::path(syntax_.file).stem().string();
  }

  [[nodiscard]] const std::string& name() const override { return syntax_.name; }
  [[nodiscard]] CollectiveKind kind() const override { return syntax_.collective; }
  [[nodiscard]] std::vector<std::string> parameters() const override {
    std::vector<std::string> names;
    for (const custom::ParameterText& parameter : syntax_.parameters)
      names.push_back(parameter.name);
    return names;
  }
  [[nodiscard]] std::shared_ptr<const CustomAlgorithm> for_shape(
      const AlgorithmShape& shape, const std::vector<AlgorithmParameter>& set,
      Problems& problems) const override {
    auto program = custom::compile(syntax_, shape, set, problems);
    return program ? std::make_shared<ProgramAlgorithm>(std::move(program)) : nullptr;
  }

 private:
  custom::Syntax syntax_;
};

/// A schedule in which each rank copies its input, if it has one, to the output.
class CopyOfInputs : public Schedule {
 public:
  CopyOfInputs(Contract contract, Engine engine)
      : contract_(std::move(contract)), engine_(engine) {}
  [[nodiscard]] std::int32_t ranks() const override { return contract_.members(); }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane) const override {
    return contract_.input(rank).count > 0 ? 1 : 0;
  }
  [[nodiscard]] Step step(Rank rank, Lane, std::int64_t) const override {
    Step step;
    step.kind = StepKind::kCopy;
    step.source = step.target = contract_.input(rank);
    step.source.offset += contract_.input_shift;
    return step;
  }
  [[nodiscard]] bool same_everywhere(Renumbering, std::int32_t) const override {
    return !has_root(contract_.kind);
  }

 private:
  Contract contract_;
  Engine engine_;
};

}  // namespace

std::shared_ptr<const AlgorithmText> read_algorithm(std::string_view text, const std::string& file,
                                                    Problems& problems) {
  if (custom::is_forestcoll(text)) return custom::read_forestcoll(text, file, problems);
  if (custom::is_msccl(text)) return custom::read_msccl(text, file, problems);
  if (custom::is_mscclpp(text) && custom::is_teccl(text))
    return custom::read_teccl(text, file, problems);
  if (custom::is_mscclpp(text)) return custom::read_mscclpp(text, file, problems);
  const std::size_t before = problems.size();
  custom::Syntax syntax = custom::parse_algorithm_text(text, file, problems);
  return problems.size() == before ? std::make_shared<LanguageText>(std::move(syntax)) : nullptr;
}

std::unique_ptr<Schedule> copy_inputs_of(const Contract& contract, Engine engine) {
  return std::make_unique<CopyOfInputs>(contract, engine);
}

}  // namespace tutti::core
