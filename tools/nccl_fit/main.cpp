// nccl_fit TABLES.csv META.json [-o nccl_time.csv] [--leave-one-out [--bands nccl_error.csv]] [--dump ROWS.csv]
// Fits the figures of NCCL's time model to published tables: out-of-place times of healthy tables without their outliers, every experiment weighing the same.
// What is minimised is the mean of |log(predicted / measured)|, one figure after another in ever smaller steps, with a gentle pull towards where it started.
// A figure that no row asks for stays as it was, and says so. --leave-one-out fits again without each system in turn and predicts it with that.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/nccl/time/error_bands.h"
#include "core/nccl/validation/quality.h"
#include "core/nccl/validation/table_model.h"

namespace {

using namespace tutti::core;
using nccl::Parameters;
using nccl::TableModel;

struct Row {
  const TableModel* model = nullptr;
  std::size_t index = 0;
  double log_us = 0;
  double weight = 0;
  std::vector<std::size_t> touches;  ///< parameters that change it
};

/// The pull towards the start, by the square of the logarithm. A figure that the data speak of at all moves against it.
constexpr double kPull = 1e-3;

double error(const Row& row, const Parameters& p) {
  return std::abs(std::log(row.model->predict(row.index, p).us()) - row.log_us);
}

class Fit {
 public:
  Fit(std::vector<Row> rows, const Parameters& start) : rows_(std::move(rows)), start_(start), p_(start) {
    const std::size_t n = p_.all().size();
    of_.resize(n);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (const std::size_t k : rows_[r].touches) of_[k].push_back(r);
    }
    for (const Row& row : rows_) total_ += row.weight;
  }

  Parameters run() {
    double step = 0.25;
    for (int round = 0; round < 40 && step > 0.004; ++round) {
      bool moved = false;
      for (std::size_t k = 0; k < of_.size(); ++k) moved = improve(k, step) || moved;
      if (!moved) step /= 2;
    }
    return p_;
  }
  [[nodiscard]] std::size_t rows_of(std::size_t k) const { return of_[k].size(); }

 private:
  double cost(std::size_t k) {
    double sum = 0;
    for (const std::size_t r : of_[k]) sum += rows_[r].weight * error(rows_[r], p_);
    const double far = std::log(p_.all()[k].value / start_.all()[k].value);
    return sum / total_ + kPull * far * far;
  }

  bool improve(std::size_t k, double step) {
    if (of_[k].empty()) return false;
    double& value = p_.all()[k].value;
    const double before = value;
    double best = cost(k);
    double at = before;
    for (const double factor : {std::exp(step), std::exp(-step)}) {
      value = before * factor;
      if (p_.all()[k].name.find("share") != std::string::npos) value = std::min(value, 1.0);
      const double now = cost(k);
      if (now < best - 1e-9) {
        best = now;
        at = value;
      }
    }
    value = at;
    return at != before;
  }

  std::vector<Row> rows_;
  Parameters start_;
  Parameters p_;
  std::vector<std::vector<std::size_t>> of_;
  double total_ = 0;
};

std::vector<Row> rows_of(const std::vector<TableModel>& models, const Parameters& start) {
  std::map<std::string, double> per_config;
  std::vector<Row> rows;
  for (const TableModel& model : models) {
    for (std::size_t r = 0; r < model.table().rows.size(); ++r) {
      const MeasuredTime& measured = model.table().rows[r];
      if (measured.outlier) continue;
      rows.push_back({&model, r, std::log(measured.us), 0, {}});
      per_config[model.table().facts.config] += 1;
    }
  }
  for (Row& row : rows) row.weight = 1 / per_config[row.model->table().facts.config];
  Parameters p = start;
  for (std::size_t k = 0; k < p.all().size(); ++k) {
    const double value = p.all()[k].value;
    p.all()[k].value = value * 1.5;
    std::vector<double> changed(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) changed[r] = rows[r].model->predict(rows[r].index, p).us();
    p.all()[k].value = value;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (changed[r] != rows[r].model->predict(rows[r].index, p).us()) rows[r].touches.push_back(k);
    }
  }
  return rows;
}

double relative(const Row& row, const Parameters& p) {
  return row.model->predict(row.index, p).us() / std::exp(row.log_us) - 1;
}

void print(const std::string& what, const nccl::Quality& q) {
  fmt::print("{:<46} {:6} rows  median {:5.1f} %  mean {:5.1f} %  90th {:5.1f} %  bias {:+6.1f} %\n",
             what.substr(0, 46), q.rows, 100 * q.median, 100 * q.mean, 100 * q.p90, 100 * q.bias);
}

void dump(const std::string& path, const std::vector<Row>& rows, const Parameters& p) {
  std::ofstream out(path);
  out << "table,config,system,gpu,nodes,gpus,collective,bytes,algorithm,protocol,channels,measured,predicted,launch,"
         "hops,fill,transfer,narrowest\n";
  for (const Row& row : rows) {
    const auto& facts = row.model->table().facts;
    const auto made = row.model->predict(row.index, p);
    const auto& choice = row.model->choice(row.index);
    out << fmt::format("{},\"{}\",\"{}\",{},{},{},{},{},{},{},{},{:.2f},{:.2f},{:.2f},{:.2f},{:.2f},{:.2f},{}\n",
                       facts.table_id, facts.config, facts.system, facts.gpu_model, facts.nodes, facts.gpus_per_node,
                       facts.collective, row.model->table().rows[row.index].bytes,
                       choice ? to_string(choice->algorithm) : "sends", choice ? to_string(choice->protocol) : "",
                       choice ? choice->channels : 0, std::exp(row.log_us), made.us(), made.launch, made.hops,
                       made.fill, made.transfer, made.narrowest);
  }
}

/// Quantiles of measured over predicted by weight.
class Ratios {
 public:
  void add(double ratio, double weight) { all_.emplace_back(ratio, weight), total_ += weight; }
  double quantile(double share) {
    std::sort(all_.begin(), all_.end());
    double seen = 0;
    for (const auto& [ratio, weight] : all_) {
      seen += weight;
      if (seen >= share * total_) return ratio;
    }
    return 1;
  }

 private:
  std::vector<std::pair<double, double>> all_;
  double total_ = 0;
};

/// Each system predicted by a fit to all others. Rows are told apart by whether every figure that they depend on is also known from another system.
nccl::ErrorBands leave_one_system_out(const std::vector<Row>& rows, const Parameters& start,
                                      const std::vector<std::set<std::string>>& systems) {
  Ratios ratios[2][nccl::ErrorBands::kSizes];
  std::set<std::string> names;
  for (const Row& row : rows) names.insert(row.model->table().facts.system);
  const auto shared = [&](const Row& row) {
    return std::all_of(row.touches.begin(), row.touches.end(), [&](std::size_t k) { return systems[k].size() > 1; });
  };
  nccl::Errors all, known, alone;
  for (const std::string& name : names) {
    std::vector<Row> others;
    for (const Row& row : rows) {
      if (row.model->table().facts.system != name) others.push_back(row);
    }
    const Parameters without = Fit(others, start).run();
    nccl::Errors own;
    for (const Row& row : rows) {
      if (row.model->table().facts.system != name) continue;
      const double error = relative(row, without);
      const auto& table = row.model->table();
      const std::size_t size = nccl::ErrorBands::size_of(table.rows[row.index].bytes);
      ratios[table.facts.nodes > 1][size].add(1 / (1 + error), row.weight);
      own.add(error, row.weight);
      all.add(error, row.weight);
      (shared(row) ? known : alone).add(error, row.weight);
    }
    print("without " + name, own.quality());
    std::fflush(stdout);
  }
  print("leave one system out", all.quality());
  print("  … where another system has the same parts", known.quality());
  print("  … where no other system has them", alone.quality());
  nccl::ErrorBands bands;
  for (const bool several : {false, true}) {
    for (std::size_t size = 0; size < nccl::ErrorBands::kSizes; ++size) {
      Ratios& of = ratios[several][size];
      bands.at(several, size) = {of.quantile(0.1), of.quantile(0.9)};
    }
  }
  return bands;
}

}  // namespace

int main(int argc, char** argv) {
  std::string output, dump_path, bands_path;
  bool leave_one_out = false;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-o" && i + 1 < argc)
      output = argv[++i];
    else if (word == "--dump" && i + 1 < argc)
      dump_path = argv[++i];
    else if (word == "--bands" && i + 1 < argc)
      bands_path = argv[++i];
    else if (word == "--leave-one-out")
      leave_one_out = true;
    else
      files.push_back(word);
  }
  if (files.size() != 2) {
    fmt::print(stderr,
               "usage: nccl_fit TABLES.csv META.json [-o nccl_time.csv] [--leave-one-out [--bands nccl_error.csv]] "
               "[--dump ROWS.csv]\n");
    return 2;
  }
  const auto tables = load_collective_tables(files[0], files[1]);
  if (!tables) {
    fmt::print(stderr, "{}\n", tables.error().message());
    return 2;
  }
  std::vector<TableModel> models;
  for (const CollectiveTable& table : *tables) {
    if (!table.facts.healthy) continue;
    auto model = TableModel::of(table);
    if (model)
      models.push_back(std::move(*model));
    else
      fmt::print("left out: {}: {}\n", table.facts.table_id, model.error().message());
  }
  const Parameters start = Parameters::initial();
  const std::vector<Row> rows = rows_of(models, start);
  Fit fit(rows, start);
  Parameters fitted = fit.run();
  std::vector<std::set<std::string>> systems(fitted.all().size());
  for (const Row& row : rows) {
    for (const std::size_t k : row.touches) systems[k].insert(row.model->table().facts.system);
  }
  for (std::size_t k = 0; k < fitted.all().size(); ++k) {
    if (fit.rows_of(k) == 0) continue;
    fitted.all()[k].how = fmt::format("fitted to {} rows of {} systems", fit.rows_of(k), systems[k].size());
  }
  nccl::Errors errors;
  for (const Row& row : rows) errors.add(relative(row, fitted), row.weight);
  fmt::print("{} rows of {} tables\n", rows.size(), models.size());
  print("fit", errors.quality());
  if (!output.empty()) std::ofstream(output) << fitted.to_csv();
  if (!dump_path.empty()) dump(dump_path, rows, fitted);
  if (!leave_one_out) return 0;
  const nccl::ErrorBands bands = leave_one_system_out(rows, start, systems);
  if (!bands_path.empty()) std::ofstream(bands_path) << bands.to_csv();
  return 0;
}
