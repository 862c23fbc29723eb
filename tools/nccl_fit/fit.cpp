#include "tools/nccl_fit/fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace tutti::nccl_fit {
namespace {

using core::nccl::Parameters;

/// The weight of the penalty on the squared logarithmic change of a parameter. The penalty is so
/// small that it matters only for parameters on which few rows depend. The weights of all penalties
/// were chosen by the errors of systems that were left out of the fit
/// (docs/decisions/0045-regularize-rarely-measured-parameters.md).
constexpr double kPenalty = 1e-3;
/// The weight of the penalty for latencies of networks, which is larger because most networks are
/// used by only few systems.
constexpr double kNetworkPenalty = 1e-2;
/// If fewer systems than this depend on a GPU latency, a penalty pulls the latency towards the
/// latencies of other generations. The weight of the penalty is proportional to the square of (this
/// number / number of systems).
constexpr double kManySystems = 8;
constexpr double kGain = 1e-9;  ///< smaller changes of the error do not count as an improvement

double log_ratio(const Row& row, const Parameters& p) {
  return std::log(row.model->predict(row.index, p).us()) - row.log_us;
}

/// Returns the name of the group of rows that share an offset.
std::string group_of(const Row& row) {
  const auto& facts = row.model->table().facts;
  return system_of(row) + (facts.nodes > 1 ? "|several|" : "|one|") + facts.collective;
}

bool is_latency_of(const core::nccl::Parameter& figure, const char* kind) {
  return figure.unit == "us" && figure.kind.starts_with(kind);
}

bool is_share(const std::string& name) { return name.find("share") != std::string::npos; }

}  // namespace

double offset_of(std::vector<GroupError> errors) {
  // The weight of the additional error 0, as a share of the group's weight. With a share of 1, no
  // group would have an offset; with 0, the offset would be the median of the errors.
  constexpr double kShrink = 0.3;
  double weight = 0;
  for (const GroupError& one : errors) weight += one.weight;
  errors.push_back({0, kShrink * weight});
  std::stable_sort(errors.begin(), errors.end(), [](const GroupError& a, const GroupError& b) {
    return a.log_ratio < b.log_ratio;
  });
  double seen = 0;
  for (const GroupError& one : errors) {
    seen += one.weight;
    if (seen >= (1 + kShrink) / 2 * weight) return one.log_ratio;
  }
  return 0;
}

Fit::Fit(std::vector<Row> rows, const Parameters& start)
    : rows_(std::move(rows)), start_(start), p_(start) {
  const std::size_t n = p_.all().size();
  of_.resize(n);
  identical_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t other = 0; other < n; ++other) {
      if (other != k && p_.all()[k].kind == p_.all()[other].kind) identical_[k].push_back(other);
    }
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (const std::size_t k : rows_[r].touches) of_[k].push_back(r);
    total_ += rows_[r].fit_weight;
  }
  for (std::size_t k = 0; k < n; ++k) penalties_.push_back(penalty_of(p_.all()[k], of_[k]));
  std::map<std::string, std::size_t> groups;
  for (const Row& row : rows_) {
    const auto [group, unused] = groups.emplace(group_of(row), groups.size());
    group_.push_back(group->second);
  }
  offsets_.resize(groups.size());
}

double Fit::penalty_of(const core::nccl::Parameter& figure,
                       const std::vector<std::size_t>& rows) const {
  if (is_latency_of(figure, "net.")) return kNetworkPenalty;
  if (!is_latency_of(figure, "gpu.")) return kPenalty;
  std::set<std::string> systems;
  for (const std::size_t r : rows) systems.insert(system_of(rows_[r]));
  const double missing =
      std::max(1.0, kManySystems / std::max(1.0, static_cast<double>(systems.size())));
  return kPenalty * missing * missing;
}

Parameters Fit::run() {
  constexpr double kFirstStep = 0.25;
  descend(kFirstStep, false);
  descend(kFirstStep / 2, true);
  for (std::size_t k = 0; k < of_.size(); ++k) {
    if (of_[k].empty()) p_.all()[k].value = start_.all()[k].value * std::exp(expected(k));
  }
  return p_;
}

void Fit::descend(double step, bool with_offsets) {
  std::fill(offsets_.begin(), offsets_.end(), 0);
  store_errors();
  for (int round = 0; round < 40 && step > 0.004; ++round) {
    if (with_offsets) update_offsets();
    const std::vector<double> before = values();
    bool better = false;
    for (std::size_t k = 0; k < of_.size(); ++k) better = improve(k, step) || better;
    if (better)
      go_on(before);
    else
      step /= 2;
  }
  std::fill(offsets_.begin(), offsets_.end(), 0);
}

void Fit::update_offsets() {
  std::vector<std::vector<GroupError>> errors(offsets_.size());
  for (std::size_t r = 0; r < rows_.size(); ++r)
    errors[group_[r]].push_back({log_ratio(rows_[r], p_), rows_[r].fit_weight});
  for (std::size_t g = 0; g < errors.size(); ++g) offsets_[g] = offset_of(std::move(errors[g]));
  store_errors();
}

double Fit::error(std::size_t row) const {
  return std::abs(log_ratio(rows_[row], p_) - offsets_[group_[row]]);
}

void Fit::store_errors() {
  errors_.resize(rows_.size());
  for (std::size_t r = 0; r < rows_.size(); ++r) errors_[r] = error(r);
}

double Fit::cost_of(const Parameters& figures) {
  const Parameters kept = p_;
  p_ = figures;
  const double made = cost();
  p_ = kept;
  return made;
}

std::vector<double> Fit::values() const {
  std::vector<double> all;
  for (const core::nccl::Parameter& figure : p_.all()) all.push_back(figure.value);
  return all;
}

void Fit::set(const std::vector<double>& all) {
  for (std::size_t k = 0; k < all.size(); ++k) p_.all()[k].value = all[k];
}

double Fit::moved(std::size_t k) const {
  return std::log(p_.all()[k].value / start_.all()[k].value);
}

double Fit::expected(std::size_t k) const {
  double sum = 0;
  double count = 1;
  for (const std::size_t other : identical_[k]) {
    if (of_[other].empty()) continue;
    sum += moved(other);
    ++count;
  }
  return sum / count;
}

double Fit::pull(std::size_t k) const {
  const double far = moved(k) - expected(k);
  return penalties_[k] * far * far;
}

double Fit::cost(std::size_t k) {
  double sum = 0;
  tried_.clear();
  for (const std::size_t r : of_[k]) {
    tried_.push_back(error(r));
    sum += rows_[r].fit_weight * tried_.back();
  }
  return sum / total_ + pull(k);
}

double Fit::stored_cost(std::size_t k) const {
  double sum = 0;
  for (const std::size_t r : of_[k]) sum += rows_[r].fit_weight * errors_[r];
  return sum / total_ + pull(k);
}

double Fit::cost() const {
  double sum = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r) sum += rows_[r].fit_weight * error(r);
  sum /= total_;
  for (std::size_t k = 0; k < of_.size(); ++k) {
    if (!of_[k].empty()) sum += pull(k);
  }
  return sum;
}

bool Fit::improve(std::size_t k, double step) {
  if (of_[k].empty()) return false;
  double& value = p_.all()[k].value;
  const double before = value;
  double best = stored_cost(k);
  double at = before;
  for (const double factor : {std::exp(step), std::exp(-step)}) {
    value = before * factor;
    if (is_share(p_.all()[k].name)) value = std::min(value, 1.0);
    const double now = cost(k);
    if (now < best - kGain) {
      best = now;
      at = value;
      std::swap(improved_, tried_);
    }
  }
  value = at;
  if (at == before) return false;
  for (std::size_t i = 0; i < of_[k].size(); ++i) errors_[of_[k][i]] = improved_[i];
  return true;
}

void Fit::go_on(const std::vector<double>& before) {
  double best = cost();
  const std::vector<double> here = values();
  std::vector<double> kept = here;
  for (double length = 1; length < 64; length *= 2) {
    std::vector<double> there = here;
    for (std::size_t k = 0; k < there.size(); ++k) {
      there[k] *= std::pow(here[k] / before[k], length);
      if (is_share(p_.all()[k].name)) there[k] = std::min(there[k], 1.0);
    }
    set(there);
    const double now = cost();
    if (now >= best - kGain) break;
    best = now;
    kept = there;
  }
  set(kept);
  store_errors();
}

}  // namespace tutti::nccl_fit
