#include "core/algorithm/signals.h"

#include "core/base/check.h"

namespace tutti::core {
namespace {

class Signals : public Schedule {
 public:
  Signals(std::int32_t ranks, Engine engine) : ranks_(ranks), engine_(engine) {
    TUTTI_CHECK(ranks >= 1, "{} ranks", ranks);
  }

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane) const override {
    return rank == 0 ? ranks_ - 1 : 1;
  }
  [[nodiscard]] Step step(Rank rank, Lane, std::int64_t) const override {
    Step step;
    step.kind = rank == 0 ? StepKind::kReceiveAny : StepKind::kSend;
    step.source = step.target = {Buffer::kData, 0, 0};
    step.to = Peer::at(0, 0);
    return step;
  }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }
  [[nodiscard]] std::int32_t arrival_slot(Rank, Lane, Rank sender) const override {
    return sender - 1;
  }

 private:
  std::int32_t ranks_;
  Engine engine_;
};

}  // namespace

std::unique_ptr<Schedule> signals_to_first(std::int32_t ranks, Engine engine) {
  return std::make_unique<Signals>(ranks, engine);
}

}  // namespace tutti::core
