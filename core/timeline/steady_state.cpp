#include "core/timeline/steady_state.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/check.h"

namespace tutti::core {
namespace {

constexpr int kBatches = 8;
constexpr double kStudent =
    2.365;  // 97.5 % quantile of Student's t distribution with kBatches - 1 degrees of freedom
constexpr double kPrecision = 0.01;

}  // namespace

SteadyStateSearch::SteadyStateSearch(std::int64_t workers, std::int32_t most_rounds)
    : workers_(workers), max_rounds_(std::max(most_rounds, kFirstCheck)) {
  TUTTI_CHECK(workers > 0, "there are {} workers", workers);
}

bool SteadyStateSearch::step_ended(Time now) {
  if (state_ || ++steps_ < workers_) return false;
  steps_ = 0;
  rounds_.push_back(now);
  if (std::ssize(rounds_) == next_check_) check();
  return state_.has_value();
}

void SteadyStateSearch::check() {
  const auto rounds = static_cast<std::int32_t>(rounds_.size());
  const std::int32_t per_batch = rounds * 3 / 4 / kBatches;
  const std::int32_t first = rounds - kBatches * per_batch;
  const auto end = [&](std::int32_t batch) { return rounds_[first + batch * per_batch - 1]; };
  std::array<double, kBatches> means{};
  for (int b = 0; b < kBatches; ++b)
    means[b] = static_cast<double>((end(b + 1) - end(b)).count()) / per_batch;
  const Time whole = end(kBatches) - end(0);
  const double mean = static_cast<double>(whole.count()) / (kBatches * per_batch);
  double squares = 0;
  for (const double m : means) squares += (m - mean) * (m - mean);
  const double half_width = kStudent * std::sqrt(squares / (kBatches - 1) / kBatches);
  const auto half = [&](int from) {
    return static_cast<double>((end(from + kBatches / 2) - end(from)).count()) /
           (kBatches / 2 * per_batch);
  };
  const bool steady = half_width <= kPrecision * mean &&
                      std::abs(half(kBatches / 2) - half(0)) <= kPrecision * mean;
  next_check_ = std::min(rounds + rounds / 2, max_rounds_);
  if (!steady && rounds < max_rounds_) return;

  const auto [least, most] = std::minmax_element(means.begin(), means.end());
  // If the state is not steady, the batches do not come from one distribution, so the interval is
  // extended to the means of all batches.
  const double low = steady ? mean - half_width : std::min(*least, mean - half_width);
  const double high = steady ? mean + half_width : std::max(*most, mean + half_width);
  state_ = SteadyState{Time(whole.count() / (kBatches * per_batch)),
                       Time(std::max(std::int64_t{0}, static_cast<std::int64_t>(low))),
                       Time(static_cast<std::int64_t>(std::ceil(high))),
                       first,
                       rounds,
                       steady};
  rounds_ = {};
}

}  // namespace tutti::core
