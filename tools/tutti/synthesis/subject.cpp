#include "tools/tutti/synthesis/subject.h"

#include "core/custom/msccl.h"
#include "core/edit/overrides.h"
#include "core/scenario/rewrite.h"
#include "core/schedule/checker.h"
#include "core/schedule/stages.h"
#include "core/timeline/timeline.h"
#include "sim/simulator.h"

namespace tutti::tools {
namespace {

using core::Contract;
using core::Expected;
using core::Time;

constexpr const char* kFile = "synthesized.tutti-algorithm";

/// Keeps only the duration of a run's collective.
class CollectiveTime : public core::NullSink {
 public:
  void pack(const core::PackRecord& pack) override { time_ = pack.end - pack.first_start; }
  [[nodiscard]] std::optional<Time> time() const { return time_; }

 private:
  std::optional<Time> time_;
};

std::vector<core::Override> strategy_with(const std::string& algorithm, const std::string& file) {
  std::vector<core::Override> overrides;
  for (const std::string& one :
       {"strategy.algorithm=" + algorithm, "strategy.custom.file=" + file,
        std::string("strategy.custom.set="), std::string("strategy.staging=DIRECT"),
        std::string("run.nccl=RINGS")}) {
    auto parsed = core::parse_override("--set", one);
    if (parsed) overrides.push_back(std::move(*parsed));
  }
  return overrides;
}

}  // namespace

SynthesisSubject::SynthesisSubject(const core::Scenario& scenario, core::CollectiveKind kind,
                                   core::Rank root, core::DataType type, std::int64_t elements,
                                   const Environment& environment)
    : environment_(environment),
      cluster_(scenario.cluster),
      kind_(kind),
      root_(root),
      type_(type),
      elements_(elements),
      file_(scenario.file),
      files_(scenario.files) {
  core::OneBuffer what;
  what.type = type;
  what.elements = elements;
  what.collective = kind;
  what.root = root;
  text_ = core::with_one_buffer(scenario.text, scenario.file, what);
}

core::Bytes SynthesisSubject::bytes() const { return elements_ * core::size_of(type_); }

Expected<std::optional<Time>> SynthesisSubject::time_of(const Expected<core::Scenario>& scenario,
                                                        const core::RunControl& control) const {
  if (!scenario) return tl::make_unexpected(core::without_lines(scenario.error()));
  core::RecordOptions record;
  record.level = core::RecordLevel::kNone;
  CollectiveTime sink;
  if (const auto ran = sim::Simulator().run(*scenario, record, control, sink); !ran)
    return failed(ran);
  if (control.cancel != nullptr && control.cancel->load()) return std::nullopt;
  return sink.time();
}

Expected<std::optional<Time>> SynthesisSubject::time_of_text(
    const std::string& text, const core::RunControl& control) const {
  std::vector<core::Library::File> files = files_;
  files.push_back({core::Library::Kind::kAlgorithm, kFile, kFile, text});
  return time_of(
      core::read_scenario(text_, file_, core::Library(std::move(files)), strategy_with("", kFile)),
      control);
}

Expected<std::optional<Time>> SynthesisSubject::time_of_built_in(
    const std::string& algorithm, const core::RunControl& control) const {
  return time_of(
      core::read_scenario(text_, file_, environment_.library, strategy_with(algorithm, "")),
      control);
}

Expected<std::shared_ptr<const core::CustomAlgorithm>> SynthesisSubject::compiled(
    const std::string& text) const {
  core::Problems problems;
  const auto read = core::read_algorithm(text, kFile, problems);
  std::shared_ptr<const core::CustomAlgorithm> made;
  if (read)
    made = read->for_shape(
        {static_cast<std::int32_t>(cluster_->replicas()), cluster_->replicas_per_worker(), root_},
        {}, problems);
  if (!made) return problems.take();
  return made;
}

std::string SynthesisSubject::flaw_of(const core::CustomAlgorithm& algorithm) const {
  const std::int32_t ranks = algorithm.shape().ranks;
  // Try a number of elements with equal chunks, and a number of elements with chunks of different
  // lengths.
  const std::int64_t even = algorithm.even_elements().value_or(ranks);
  const std::int64_t blocks = has_blocks(kind_) ? ranks : 1;
  for (const std::int64_t elements : {even, (even / blocks + 1) * blocks}) {
    for (const bool out_of_place : {false, true}) {
      const Contract contract = Contract::of(kind_, ranks, elements, root_, out_of_place);
      const auto schedule =
          algorithm.schedule(elements, contract.input_shift, core::Engine::kKernel);
      const auto violations = core::check(*schedule, contract, {.random_orders = 0});
      if (!violations.empty()) return violations.front().text;
    }
  }
  return "";
}

Expected<std::string> SynthesisSubject::msccl_of(const core::CustomAlgorithm& algorithm,
                                                 const std::string& name) const {
  const auto even = algorithm.even_elements();
  if (!even)
    return refused({core::ProblemCode::kUnsupported, "-o"},
                   "-o: MSCCL's XML needs chunks of equal length, which this schedule cannot have; "
                   "use a name that ends in .tutti-algorithm");
  // Try an out-of-place schedule first. If the format does not support its memory, use an in-place
  // schedule.
  Expected<std::string> text = std::string();
  for (const bool out_of_place : {true, false}) {
    const Contract contract =
        Contract::of(kind_, algorithm.shape().ranks, *even, root_, out_of_place);
    const auto schedule = algorithm.schedule(*even, contract.input_shift, core::Engine::kKernel);
    text = core::custom::to_msccl(*schedule, contract, name);
    if (text) break;
  }
  if (!text) return tl::make_unexpected(about("-o", text.error()));
  return text;
}

}  // namespace tutti::tools
