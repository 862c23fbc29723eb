// nccl_spread ROWS.csv [-o nccl_spread.csv]
//
// Learns the differences between systems from the output of `nccl_fit --leave-one-out --dump
// ROWS.csv`. Reports the errors of calibrated predictions for systems that were not used for
// learning.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <future>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/median.h"
#include "core/measured/quality.h"
#include "tools/nccl_spread/learn.h"
#include "tools/nccl_spread/systems.h"

namespace {

using namespace tutti::nccl_spread;
using tutti::core::nccl::Bands;
using tutti::core::nccl::ErrorBands;
using tutti::core::nccl::Errors;
using tutti::core::nccl::Spread;

constexpr std::size_t kFolds = 5;

void print(const char* what, const std::vector<Residual>& residuals,
           const std::vector<Spread>& of_fold, const std::vector<std::size_t>& folds) {
  Errors cold, warm;
  Bands before, raw, widened;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const Residual& r = residuals[i];
    cold.add(std::exp(-r.cold_log_ratio) - 1, r.weight);
    warm.add(std::exp(-r.log_ratio) - 1, r.weight);
    before.add(std::exp(r.cold_log_ratio), 1, r.cold, r.weight);
    const double narrower = r.sd / r.sd_before;
    raw.add(std::exp(r.log_ratio), 1,
            {std::pow(r.cold.low, narrower), std::pow(r.cold.high, narrower)}, r.weight);
    const double wide = narrower * of_fold[folds[i]].widening(r.several_nodes, r.size);
    widened.add(std::exp(r.log_ratio), 1, {std::pow(r.cold.low, wide), std::pow(r.cold.high, wide)},
                r.weight);
  }
  fmt::print(
      "{:<76} {:6} rows  error (median / 90th percentile, %)  before {:5.1f} / {:5.1f}  after "
      "{:5.1f} / {:5.1f}",
      what, residuals.size(), 100 * cold.quality().median, 100 * cold.quality().p90,
      100 * warm.quality().median, 100 * warm.quality().p90);
  for (const auto& [name, bands] :
       {std::pair("before", &before), {"raw", &raw}, {"widened", &widened}})
    fmt::print("  {} {:.2f} w {:.2f} s {:.2f}", name, bands->quality().coverage,
               std::log(bands->quality().width), bands->quality().score);
  fmt::print("\n");
}

/// Prints the errors that remain if each predicted table and protocol is multiplied by its own best
/// factor, which no calibration can know.
void print_limit(const std::vector<Case>& cases) {
  std::map<std::pair<const System*, std::size_t>, double> weights;
  for (const Case& one : cases) {
    for (const std::size_t t : one.requested)
      weights[{one.system, t}] += one.weight / std::sqrt(static_cast<double>(one.requested.size()));
  }
  Errors errors;
  for (const auto& [key, weight] : weights) {
    const std::vector<tutti::core::nccl::MeasuredPoint>& rows = key.first->tables[key.second].rows;
    std::map<int, std::vector<double>> by_protocol;
    const auto protocol = [](const tutti::core::nccl::MeasuredPoint& row) {
      return row.at.protocol ? static_cast<int>(*row.at.protocol) : -1;
    };
    for (const auto& row : rows)
      by_protocol[protocol(row)].push_back(row.measured_us / row.at.us());
    for (const auto& row : rows) {
      const double ratio = row.measured_us / row.at.us();
      errors.add(tutti::core::median(by_protocol[protocol(row)]) / ratio - 1,
                 weight / static_cast<double>(rows.size()));
    }
  }
  fmt::print(
      "    errors that would remain if each predicted table and protocol were multiplied by its "
      "own best factor: median {:.1f} %, 90th percentile {:.1f} %\n",
      100 * errors.quality().median, 100 * errors.quality().p90);
}

/// Learns the scales of the Gaussian process, and the factors by which its error bands must be
/// widened.
Spread learned(const std::vector<System>& systems, const ErrorBands& bands) {
  Spread spread = learn(systems);
  std::vector<Residual> own = residuals(one_all_reduce(systems), spread, bands);
  const auto more = residuals(more_nodes(systems), spread, bands);
  own.insert(own.end(), more.begin(), more.end());
  widen(spread, own);
  return spread;
}

}  // namespace

int main(int argc, char** argv) {
  std::string input, output, bands_folder = "scenarios";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-o" && i + 1 < argc)
      output = argv[++i];
    else
      input = word;
  }
  const auto text = tutti::core::read_text_file(input);
  if (!text) return fmt::print(stderr, "{}\n", text.error().message()), 2;
  const auto read = read_systems(*text, input);
  if (!read) return fmt::print(stderr, "{}\n", read.error().message()), 2;
  const std::vector<System>& systems = *read;
  const auto bands = ErrorBands::load(bands_folder);
  if (!bands) return fmt::print(stderr, "{}\n", bands.error().message()), 2;
  std::vector<Spread> of_fold;
  std::vector<std::future<Spread>> learning;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    learning.push_back(std::async(std::launch::async, [&, fold] {
      const auto others = those(systems, [&](std::size_t i) { return i % kFolds != fold; });
      return learned(others, *bands);
    }));
  }
  for (auto& one : learning) of_fold.push_back(one.get());
  using Cases = std::vector<Case> (*)(const std::vector<System>&);
  for (const auto& [what, cases] :
       {std::pair<const char*, Cases>("all tables, predicted from one all-reduce table",
                                      one_all_reduce),
        {"tables of other collectives, predicted from one all-reduce table", other_collectives},
        {"tables of four and more nodes, predicted from tables of one and two nodes", more_nodes},
        {"tables of several nodes, predicted from tables of one node", between_nodes}}) {
    std::vector<Residual> all;
    std::vector<std::size_t> folds;
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      const auto left_out = those(systems, [&](std::size_t i) { return i % kFolds == fold; });
      const auto own = residuals(cases(left_out), of_fold[fold], *bands);
      all.insert(all.end(), own.begin(), own.end());
      folds.resize(all.size(), fold);
    }
    print(what, all, of_fold, folds);
    print_limit(cases(systems));
  }
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    for (const System& system : those(systems, [&](std::size_t i) { return i % kFolds == fold; })) {
      const auto own = residuals(other_collectives({system}), of_fold[fold], *bands);
      if (!own.empty())
        print(system.name.c_str(), own, of_fold, std::vector<std::size_t>(own.size(), fold));
    }
  }
  if (output.empty()) return 0;
  const Spread all = learned(systems, *bands);
  std::ofstream out(output);
  const std::string learnt = fmt::format("learnt from {} systems", systems.size());
  std::string csv = all.to_csv(learnt);
  const std::size_t across = csv.find(learnt, csv.find("\nacross,"));
  csv.replace(across, learnt.size(), "fixed (tools/nccl_spread/learn.h)");
  out << csv;
  out.close();
  if (!out) return fmt::print(stderr, "{}: cannot be written\n", output), 1;
  return 0;
}
