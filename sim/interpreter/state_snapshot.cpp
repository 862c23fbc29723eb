#include "sim/interpreter/state_snapshot.h"

#include <algorithm>
#include <utility>

namespace tutti::sim {
namespace {

using core::Time;

class Painter : public StateVisitor {
 public:
  explicit Painter(Time now) { snapshot_.at = now; }

  [[nodiscard]] Time now() const override { return snapshot_.at; }
  void same(std::int64_t value) override { snapshot_.same.push_back(value); }
  void seen(Time time) override {
    same(time == core::kNever ? time.count()
                              : std::max<std::int64_t>(-1, (time - snapshot_.at).count()));
  }
  void until(Time& time) override { seen(time); }
  void moment(Time& time) override {
    same((time == core::kNever ? time : time - snapshot_.at).count());
  }
  void counted(std::int64_t& count) override { snapshot_.counted.push_back(count); }
  void numbered(std::uint64_t& number, int bits) override {
    snapshot_.numbered.push_back(static_cast<std::int64_t>(number));
    snapshot_.bits.push_back(bits);
  }
  void recorded(std::int64_t value) override { snapshot_.recorded.push_back(value); }
  void unfit() override { snapshot_.fit = false; }

  [[nodiscard]] StateSnapshot snapshot() && { return std::move(snapshot_); }

 private:
  StateSnapshot snapshot_;
};

}  // namespace

StateSnapshot snapshot_of(Time now, const std::function<void(StateVisitor&)>& visit) {
  Painter painter(now);
  visit(painter);
  return std::move(painter).snapshot();
}

}  // namespace tutti::sim
