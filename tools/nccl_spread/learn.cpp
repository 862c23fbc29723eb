#include "tools/nccl_spread/learn.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace tutti::nccl_spread {
namespace {

using core::nccl::ErrorBands;
using core::nccl::MeasuredPoint;
using core::nccl::Scale;
using core::nccl::Spread;
using core::nccl::TimeProcess;

/// Degrees of freedom of the Student's t distribution of a predicted value.
constexpr double kDegrees = 5;
constexpr double kPullSd = 0.7;  ///< standard deviation of the prior of a scale's logarithm
/// In the cost, the data have the weight of this number of systems, relative to the penalty.
constexpr double kSystems = 30;
/// The maximum number of rows of a table that are predicted while the scales are learned.
constexpr std::size_t kMaxRowsPerTable = 8;

std::vector<MeasuredPoint> given_rows(const Case& one) {
  std::vector<MeasuredPoint> rows;
  for (const std::size_t g : one.given) {
    const auto& own = one.system->tables[g].rows;
    rows.insert(rows.end(), own.begin(), own.end());
  }
  return rows;
}

double loss(const std::vector<Case>& cases, const Spread& spread, const Spread& start) {
  double sum = 0, weights = 0;
  for (const Case& one : cases) {
    const TimeProcess process(given_rows(one), spread);
    double of_case = 0, rows = 0;
    for (const std::size_t t : one.requested) {
      const auto requested = core::nccl::thinned(one.system->tables[t].rows, kMaxRowsPerTable);
      for (const MeasuredPoint& row : requested) {
        const auto known = process.at(row.at);
        const double error =
            (std::log(row.measured_us / row.at.us()) - known.log_factor) / known.sd;
        const double of_row =
            std::log(known.sd) + (kDegrees + 1) / 2 * std::log1p(error * error / (kDegrees - 2));
        of_case += of_row / static_cast<double>(requested.size());
      }
      rows += 1;
    }
    // A system with n tables has the weight √n.
    sum += one.weight * of_case / std::sqrt(rows);
    weights += one.weight * std::sqrt(rows);
  }
  double pull = 0;
  for (std::size_t k = 0; k < core::nccl::kScales; ++k) {
    const auto scale = static_cast<Scale>(k);
    const double moved = std::log(spread.at(scale) / start.at(scale)) / kPullSd;
    pull += moved * moved / 2;
  }
  return sum / weights + pull / kSystems / 10;
}

std::vector<Case> training(const std::vector<System>& systems) {
  std::vector<Case> cases = one_all_reduce(systems);
  // If a system has many all-reduce tables, only a few of them are used.
  std::vector<Case> some;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::size_t of_system = 0, index = 0;
    for (std::size_t j = 0; j < cases.size(); ++j) {
      if (cases[j].system != cases[i].system) continue;
      if (j < i) ++index;
      ++of_system;
    }
    constexpr std::size_t kMax = 4;
    const std::size_t every = (of_system + kMax - 1) / kMax;
    if (index % every != 0) continue;
    some.push_back(cases[i]);
    some.back().weight = 1 / std::ceil(static_cast<double>(of_system) / static_cast<double>(every));
  }
  for (Case& one : more_nodes(systems)) some.push_back(one);
  return some;
}

}  // namespace

Spread learn(const std::vector<System>& systems) {
  const std::vector<Case> cases = training(systems);
  Spread start = Spread::initial();
  start.at(Scale::kAcross) = kAcrossNodes;
  Spread spread = start;
  double best = loss(cases, spread, start);
  for (double step = 0.4; step > 0.03;) {
    bool better = false;
    for (std::size_t k = 0; k < core::nccl::kScales; ++k) {
      const auto scale = static_cast<Scale>(k);
      if (scale == Scale::kAcross) continue;
      for (const double factor : {std::exp(step), std::exp(-step)}) {
        Spread there = spread;
        there.at(scale) *= factor;
        if (scale == Scale::kOtherPattern || scale == Scale::kSettings)
          there.at(scale) = std::min(there.at(scale), 1.0);
        const double now = loss(cases, there, start);
        if (now >= best - 1e-5) continue;
        best = now;
        spread = there;
        better = true;
        break;
      }
    }
    if (!better) step /= 2;
  }
  return spread;
}

std::vector<Residual> residuals(const std::vector<Case>& cases, const Spread& spread,
                                const ErrorBands& bands) {
  std::vector<Residual> made;
  for (const Case& one : cases) {
    const TimeProcess process(given_rows(one), spread);
    for (const std::size_t t : one.requested) {
      const Table& table = one.system->tables[t];
      for (const MeasuredPoint& row : table.rows) {
        const auto known = process.at(row.at);
        Residual r;
        r.several_nodes = row.at.nodes > 1;
        r.size = ErrorBands::size_of(row.at.bytes);
        r.cold_log_ratio = std::log(row.measured_us / row.at.us());
        r.log_ratio = r.cold_log_ratio - known.log_factor;
        r.sd = known.sd;
        r.cold = bands.of(row.at.nodes, row.at.bytes, table.facts);
        r.sd_before = known.sd_before;
        r.weight = one.weight / std::sqrt(static_cast<double>(one.requested.size())) /
                   static_cast<double>(table.rows.size());
        made.push_back(r);
      }
    }
  }
  return made;
}

void widen(Spread& spread, const std::vector<Residual>& residuals) {
  for (std::size_t several = 0; several < 2; ++several) {
    for (std::size_t size = 0; size < Spread::kSizes; ++size) {
      std::vector<std::pair<double, double>> far;
      double total = 0;
      for (const Residual& one : residuals) {
        if (one.several_nodes != (several == 1) || one.size != size) continue;
        const double end =
            std::log(one.log_ratio < 0 ? one.cold.low : one.cold.high) * one.sd / one.sd_before;
        far.emplace_back(std::abs(one.log_ratio / end), one.weight);
        total += one.weight;
      }
      std::sort(far.begin(), far.end());
      double seen = 0, factor = 1;
      for (const auto& [value, weight] : far) {
        factor = value;
        seen += weight;
        if (seen >= 0.8 * total) break;
      }
      spread.widening(several == 1, size) = std::max(1.0, factor);
    }
  }
}

}  // namespace tutti::nccl_spread
