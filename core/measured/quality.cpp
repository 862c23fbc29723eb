#include "core/measured/quality.h"

#include <algorithm>
#include <cmath>

namespace tutti::core::nccl {

namespace {

/// Returns the weighted quantile of values that are in ascending order. The quantile is the first
/// value at which the cumulative weight reaches `share` of the total weight.
template <class One, class Value>
double quantile(const std::vector<One>& sorted, double share, Value value) {
  double total = 0, seen = 0;
  for (const One& one : sorted) total += one.weight;
  for (const One& one : sorted) {
    seen += one.weight;
    if (seen >= share * total * (1 - 1e-12)) return value(one);
  }
  return value(sorted.back());
}

}  // namespace

Quality Errors::quality() const {
  Quality quality;
  quality.rows = all_.size();
  if (all_.empty()) return quality;
  std::vector<One> sorted = all_;
  const auto size = [](const One& one) { return std::abs(one.error); };
  std::sort(sorted.begin(), sorted.end(),
            [&](const One& a, const One& b) { return size(a) < size(b); });
  double total = 0;
  for (const One& one : sorted) total += one.weight;
  quality.median = quantile(sorted, 0.5, size);
  quality.p90 = quantile(sorted, 0.9, size);
  for (const One& one : sorted) {
    quality.mean += std::abs(one.error) * one.weight / total;
    quality.bias += one.error * one.weight / total;
  }
  return quality;
}

double interval_score(double measured_us, double low_us, double high_us) {
  constexpr double kBeyond = 2 / 0.2;  // 2 / (1 - the intended coverage of a band)
  double score = std::log(high_us / low_us);
  if (measured_us < low_us) score += kBeyond * std::log(low_us / measured_us);
  if (measured_us > high_us) score += kBeyond * std::log(measured_us / high_us);
  return score;
}

void Bands::add(double measured_us, double predicted_us, const ErrorBand& band, double weight) {
  all_.push_back({band.high / band.low, weight});
  score_ += weight * interval_score(measured_us, predicted_us * band.low, predicted_us * band.high);
  if (measured_us >= predicted_us * band.low && measured_us <= predicted_us * band.high)
    inside_ += weight;
}

BandQuality Bands::quality() const {
  if (all_.empty()) return {};
  std::vector<One> sorted = all_;
  std::sort(sorted.begin(), sorted.end(),
            [](const One& a, const One& b) { return a.width < b.width; });
  double total = 0;
  for (const One& one : sorted) total += one.weight;
  return {inside_ / total, quantile(sorted, 0.5, [](const One& one) { return one.width; }),
          score_ / total};
}

}  // namespace tutti::core::nccl
