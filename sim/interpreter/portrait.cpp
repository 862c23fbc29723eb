#include "sim/interpreter/portrait.h"

#include <algorithm>
#include <utility>

namespace tutti::sim {
namespace {

using core::Time;

class Painter : public StateVisitor {
 public:
  explicit Painter(Time now) { portrait_.at = now; }

  [[nodiscard]] Time now() const override { return portrait_.at; }
  void same(std::int64_t value) override { portrait_.same.push_back(value); }
  void seen(Time time) override {
    same(time == core::kNever ? time.count()
                              : std::max<std::int64_t>(-1, (time - portrait_.at).count()));
  }
  void until(Time& time) override { seen(time); }
  void moment(Time& time) override {
    same((time == core::kNever ? time : time - portrait_.at).count());
  }
  void counted(std::int64_t& count) override { portrait_.counted.push_back(count); }
  void numbered(std::uint64_t& number, int bits) override {
    portrait_.numbered.push_back(static_cast<std::int64_t>(number));
    portrait_.bits.push_back(bits);
  }
  void told(std::int64_t value) override { portrait_.told.push_back(value); }
  void unfit() override { portrait_.fit = false; }

  [[nodiscard]] Portrait portrait() && { return std::move(portrait_); }

 private:
  Portrait portrait_;
};

}  // namespace

Portrait portrait_of(Time now, const std::function<void(StateVisitor&)>& visit) {
  Painter painter(now);
  visit(painter);
  return std::move(painter).portrait();
}

}  // namespace tutti::sim
