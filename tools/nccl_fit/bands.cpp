#include "tools/nccl_fit/bands.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/measured/quality.h"

namespace tutti::nccl_fit {
namespace {

using core::nccl::BandFacts;
using core::nccl::BandQuality;
using core::nccl::Bands;
using core::nccl::ErrorBand;
using core::nccl::ErrorBands;

/// The quantiles of the deviations at which a band ends. A band is fitted to n systems, but has to
/// contain 80 % of the measurements on other systems. The band must therefore contain more than 80
/// % of the measurements on the n systems. In theory, 80 % · (n + 1) / n are required, which is 84
/// % for 20 systems. In tests with systems that were left out of the fit, half of this increase (82
/// %) was sufficient.
constexpr double kLow = 0.09, kHigh = 0.91;
constexpr double kPriorWeight = 3;  ///< weight of the prior that a factor is 1, as a number of
                                    ///< systems
/// The minimum distance between an end of a band and the prediction, as a logarithm of the ratio.
constexpr double kMin = 0.01;
constexpr std::size_t kFewSystems = 5;

using Weighted = std::vector<std::pair<double, double>>;

/// Returns the weighted quantile. REQUIRES: `all` is not empty.
double quantile(Weighted all, double share) {
  std::sort(all.begin(), all.end());
  double total = 0, seen = 0;
  for (const auto& [value, weight] : all) total += weight;
  for (const auto& [value, weight] : all) {
    seen += weight;
    if (seen >= share * total * (1 - 1e-12)) return value;
  }
  return all.back().first;
}

class BandFit {
 public:
  BandFit(const std::vector<Residual>& residuals, bool facts, bool of_systems)
      : all_(residuals), by_facts_(facts) {
    std::map<std::string, double> of_system;
    for (const Residual& one : all_) of_system[one.system] += one.weight;
    for (const Residual& one : all_)
      weights_.push_back(of_systems ? one.weight / std::sqrt(of_system[one.system]) : one.weight);
  }

  ErrorBands run() {
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds && by_facts_; ++round) {
      ends();
      for (std::size_t kind = 0; kind < 3; ++kind) widen(kind);
    }
    ends();
    return made_;
  }

 private:
  [[nodiscard]] double factor(const Residual& one) const {
    double product = 1;
    for (const std::size_t k : ErrorBands::factors_of(one.facts)) product *= factors_[k];
    return product;
  }

  /// Computes the ends of the error band for one node and for several nodes, by size, from the
  /// deviations divided by their factors.
  void ends() {
    std::array<std::array<Weighted, ErrorBands::kSizes>, 2> parts;
    Weighted whole;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const double left = all_[i].log_ratio / factor(all_[i]);
      parts[all_[i].nodes > 1][ErrorBands::size_of(all_[i].bytes)].emplace_back(left, weights_[i]);
      whole.emplace_back(left, weights_[i]);
    }
    for (std::size_t several = 0; several < 2; ++several) {
      for (std::size_t size = 0; size < ErrorBands::kSizes; ++size) {
        const Weighted& part = parts[several][size].empty() ? whole : parts[several][size];
        made_.at(several == 1, size) = {std::exp(std::min(-kMin, quantile(part, kLow))),
                                        std::exp(std::max(kMin, quantile(part, kHigh)))};
      }
    }
    for (std::size_t k = 0; k < factors_.size(); ++k) made_.factors()[k].value = factors_[k];
  }

  /// Fits the factors for one kind of fact about a measurement. The factors for all other kinds
  /// stay fixed.
  void widen(std::size_t kind) {
    std::map<std::size_t, Weighted> far;
    std::map<std::size_t, std::set<std::string>> systems;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Residual& one = all_[i];
      const std::size_t k = ErrorBands::factors_of(one.facts)[kind];
      const ErrorBand& band = made_.at(one.nodes > 1, ErrorBands::size_of(one.bytes));
      const double left = one.log_ratio / (factor(one) / factors_[k]);
      far[k].emplace_back(std::abs(left / std::log(left > 0 ? band.high : band.low)), weights_[i]);
      systems[k].insert(one.system);
    }
    for (const auto& [k, all] : far) {
      const double needed = std::log(std::clamp(quantile(all, kHigh - kLow), 0.2, 5.0));
      const auto n = static_cast<double>(systems[k].size());
      factors_[k] = std::exp(needed * n / (n + kPriorWeight));
    }
  }

  const std::vector<Residual>& all_;
  bool by_facts_;
  std::vector<double> weights_;
  std::array<double, ErrorBands::kFactors> factors_ = filled();
  ErrorBands made_;

  static std::array<double, ErrorBands::kFactors> filled() {
    std::array<double, ErrorBands::kFactors> ones{};
    ones.fill(1);
    return ones;
  }
};

using ByGeneration = std::map<std::string, std::vector<Residual>>;

/// Returns the factor by which bands must be widened to contain 80 % of the residuals of all
/// generations of GPUs except `left_out`. Every generation has the same weight.
double factor_without(const ByGeneration& all, const std::string& left_out,
                      const ErrorBands& bands) {
  Weighted far;
  for (const auto& [generation, residuals] : all) {
    if (generation == left_out) continue;
    double total = 0;
    for (const Residual& one : residuals) total += one.weight;
    for (const Residual& one : residuals) {
      const ErrorBand band = bands.of(one.nodes, one.bytes, one.facts);
      const double end = std::log(one.log_ratio > 0 ? band.high : band.low);
      far.emplace_back(std::abs(one.log_ratio / end), one.weight / total);
    }
  }
  return far.empty() ? 1 : std::max(1.0, quantile(far, kHigh - kLow));
}

void print(const std::string& what, const BandQuality& q, const std::string& note = "") {
  fmt::print("  {:<34} in band {:5.1f} %  width {:5.2f}  score {:5.2f}{}\n", what, 100 * q.coverage,
             q.width, q.score, note);
}

}  // namespace

ErrorBands fit_bands(const std::vector<Residual>& residuals) {
  return BandFit(residuals, true, true).run();
}
ErrorBands fit_plain_bands(const std::vector<Residual>& residuals) {
  return BandFit(residuals, false, false).run();
}

void widen_for_nearest_gpu(const ByGeneration& by_generation, ErrorBands& bands) {
  fmt::print(
      "error bands of GPUs without own parameters, whose times are predicted with the parameters "
      "of the nearest known generation (each generation in turn was left out of the fit)\n");
  Bands whole;
  for (const auto& [generation, residuals] : by_generation) {
    const double factor = factor_without(by_generation, generation, bands);
    Bands held;
    for (const Residual& one : residuals) {
      ErrorBand band = bands.of(one.nodes, one.bytes, one.facts);
      band = {std::pow(band.low, factor), std::pow(band.high, factor)};
      held.add(std::exp(one.log_ratio), 1, band, one.weight);
      whole.add(std::exp(one.log_ratio), 1, band, one.weight);
    }
    print(generation, held.quality(), fmt::format("  (widened by {:.2f})", factor));
  }
  print("all", whole.quality());
  BandFacts nearest;
  nearest.nearest_gpu = true;
  bands.factors()[ErrorBands::factors_of(nearest)[3]].value =
      factor_without(by_generation, "", bands);
}

void print_coverage(const std::vector<Residual>& residuals) {
  std::set<std::string> names;
  std::map<std::string, std::set<std::string>> systems_of;
  for (const Residual& one : residuals) {
    names.insert(one.system);
    systems_of[one.transport].insert(one.system);
  }
  using Make = std::function<ErrorBands(const std::vector<Residual>&)>;
  for (const auto& [title, make] :
       {std::pair<const char*, Make>("error bands that depend only on nodes and size",
                                     fit_plain_bands),
        std::pair<const char*, Make>("bands", fit_bands)}) {
    Bands whole;
    std::map<std::string, Bands> parts, networks;
    for (const std::string& name : names) {
      std::vector<Residual> others;
      std::copy_if(residuals.begin(), residuals.end(), std::back_inserter(others),
                   [&](const Residual& one) { return one.system != name; });
      const ErrorBands bands = make(others);
      for (const Residual& one : residuals) {
        if (one.system != name) continue;
        const ErrorBand band = bands.of(one.nodes, one.bytes, one.facts);
        const double measured = std::exp(one.log_ratio);
        whole.add(measured, 1, band, one.weight);
        const char* size = one.bytes <= 65536     ? "at most 64 KiB"
                           : one.bytes <= 4194304 ? "64 KiB to 4 MiB"
                                                  : "more than 4 MiB";
        parts[size].add(measured, 1, band, one.weight);
        parts[one.nodes > 1 ? "several nodes" : "one node"].add(measured, 1, band, one.weight);
        networks[one.transport].add(measured, 1, band, one.weight);
      }
    }
    fmt::print(
        "{}, on systems that were left out of the fit (80 % of the measurements should be in their "
        "bands)\n",
        title);
    print("all", whole.quality());
    for (const auto& [part, held] : parts) print(part, held.quality());
    for (const auto& [network, held] : networks) {
      const std::size_t n = systems_of[network].size();
      print("network: " + network, held.quality(),
            n < kFewSystems
                ? fmt::format("  ({} system{}: too few to generalise)", n, n == 1 ? "" : "s")
                : "");
    }
  }
}

}  // namespace tutti::nccl_fit
