// libFuzzer target: reads any bytes as an algorithm file. The file is either rejected with a
// message that names a place, or compiled. In a compiled algorithm, every step of every rank must
// stay inside its buffers and name existing ranks and lanes, and the checker must terminate.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/custom/custom_algorithm.h"
#include "core/schedule/checker.h"

namespace {

using namespace tutti::core;

constexpr std::int64_t kFewSteps = 20'000;

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void check_problems(Problems& problems) {
  if (problems.empty()) return;
  const tl::unexpected<Error> error = problems.take();
  for (const Problem& problem : error.value().problems())
    demand(problem.where.file == "fuzz" && !problem.text.empty(),
           "a problem has a place and a text");
}

void check_range(const Range& range, std::int64_t data, std::int64_t scratch) {
  const std::int64_t size = range.buffer == Buffer::kData ? data : scratch;
  demand(range.offset >= 0 && range.count >= 0 && range.end() <= size,
         "a range lies in its buffer");
}

void check_peer(const Peer& peer, const Schedule& schedule, Rank rank) {
  const Rank other = peer.rank(rank, schedule.ranks());
  demand(
      other >= 0 && other < schedule.ranks() && peer.lane >= 0 && peer.lane < schedule.lanes(other),
      "a peer is a lane that there is");
}

void check_steps(const Schedule& schedule, std::int64_t data) {
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
      const std::int64_t steps = schedule.steps(rank, lane);
      for (std::int64_t i = 0; i < steps; ++i) {
        const Step step = schedule.step(rank, lane, i);
        check_range(step.source, data, schedule.scratch(rank));
        check_range(step.target, data, schedule.scratch(rank));
        if (receives(step.kind)) check_peer(step.from, schedule, rank);
        if (sends(step.kind)) check_peer(step.to, schedule, rank);
        demand(step.wait.lane < schedule.lanes(rank), "a lane that is waited for is there");
        const IdenticalSteps identical = schedule.identical_from(rank, lane, i);
        demand(identical.period == 0 || (identical.end > i && identical.end <= steps),
               "what is alike ends in its lane");
      }
    }
  }
}

void check_for(const AlgorithmText& text, const AlgorithmShape& shape) {
  Problems problems;
  const auto algorithm = text.for_shape(shape, {}, problems);
  demand(algorithm || !problems.empty(), "what is refused has a reason");
  check_problems(problems);
  if (!algorithm || algorithm->total_steps() > kFewSteps) return;
  for (const std::int64_t each : {0, 1, 7}) {
    const std::int64_t elements =
        algorithm->padded(each * shape.ranks + (has_blocks(algorithm->kind()) ? 0 : each % 3));
    const Contract contract =
        Contract::of(algorithm->kind(), shape.ranks, elements, shape.root, true);
    const auto schedule = algorithm->schedule(elements, contract.input_shift, Engine::kKernel);
    std::int64_t steps = 0;
    for (Rank rank = 0; rank < schedule->ranks(); ++rank) {
      for (Lane lane = 0; lane < schedule->lanes(rank); ++lane)
        steps += schedule->steps(rank, lane);
    }
    if (steps > kFewSteps || schedule->scratch(0) > std::int64_t{1} << 30) return;
    check_steps(*schedule, contract.buffer_elements());
    check(*schedule, contract, {.random_orders = 0});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Problems problems;
  const auto text = read_algorithm({reinterpret_cast<const char*>(data), size}, "fuzz", problems);
  demand(text || !problems.empty(), "what is refused has a reason");
  check_problems(problems);
  if (!text) return 0;
  for (const AlgorithmShape& shape : {AlgorithmShape{1, 1, 0}, {2, 1, 1}, {5, 1, 0}, {8, 4, 3}})
    check_for(*text, shape);
  return 0;
}
