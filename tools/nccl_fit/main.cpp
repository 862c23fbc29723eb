// nccl_fit TABLES.csv META.json [-o nccl_time.csv] [--leave-one-out [--bands nccl_error.csv]]
//          [--dump ROWS.csv]
//
// Fits the parameters of NCCL's time model to published tables: the out-of-place times of valid
// tables, without outliers. In the reported errors, every experiment has the same weight. In the
// fit, a system with n experiments has weight √n, because a system with many experiments would
// otherwise dominate all other systems. A parameter on which no row depends is set to the value of
// similar parameters, and is marked as assumed. The option --leave-one-out predicts each system by
// a fit to all other systems. The option also reports the differences between tables of two systems
// with the same recorded facts. The option --bands fits the error bands to the errors of these
// predictions. This option also leaves each generation of GPUs out of the fit, to widen the bands
// of GPUs whose model is unknown.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "core/measured/quality.h"
#include "core/measured/table_model.h"
#include "core/nccl/calibration/time_process.h"
#include "core/nccl/time/error_bands.h"
#include "tools/nccl_fit/bands.h"
#include "tools/nccl_fit/fit.h"
#include "tools/nccl_fit/quality_line.h"
#include "tools/nccl_fit/rows.h"
#include "tools/nccl_fit/twins.h"

namespace {

using namespace tutti::core;
using nccl::Parameters;
using nccl::TableModel;
using tutti::nccl_fit::between_twins;
using tutti::nccl_fit::Fit;
using tutti::nccl_fit::fit_bands;
using tutti::nccl_fit::print_coverage;
using tutti::nccl_fit::quality_line;
using tutti::nccl_fit::Residual;
using tutti::nccl_fit::Row;
using tutti::nccl_fit::rows_of;
using tutti::nccl_fit::system_of;

double relative(const Row& row, const Parameters& p) {
  return row.model->predict(row.index, p).us() / std::exp(row.log_us) - 1;
}

void print(const std::string& what, const nccl::Quality& q) {
  fmt::print("{}\n", quality_line(what, q));
}

/// Writes the file. On failure, prints the reason and returns false.
bool write(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out)
    fmt::print(stderr,
               "{}: cannot be written; check that the folder exists and the disk has space\n",
               path);
  return !out.fail();
}

bool dump(const std::string& path, const std::vector<Row>& rows,
          const std::function<const Parameters&(const Row&)>& of) {
  std::string out =
      "table,config,system,gpu,nodes,gpus,collective,bytes,algorithm,protocol,channels,measured,"
      "predicted,launch,"
      "hops,fill,transfer,known,others,transport,generation,driving,weight,version,narrowest,"
      "domains,ranks,settings\n";
  for (const Row& row : rows) {
    const auto& facts = row.model->table().facts;
    const auto made = row.model->predict(row.index, of(row));
    const auto& choice = row.model->choice(row.index);
    out += fmt::format(
        "{},\"{}\",\"{}\",{},{},{},{},{},{},{},{},{:.2f},{:.2f},{:.3f},{:.3f},{:.3f},{:.3f},{},{},{"
        "},{},{},{},{},{},{},"
        "{},{}\n",
        facts.table_id, facts.config, facts.system, facts.gpu_model, facts.nodes,
        facts.gpus_per_node, facts.collective, row.model->table().rows[row.index].bytes,
        choice ? to_string(choice->algorithm) : "sends", choice ? to_string(choice->protocol) : "",
        choice ? choice->channels : 0, std::exp(row.log_us), made.us(), made.launch, made.hops,
        made.fill, made.transfer, row.known ? 1 : 0, row.others,
        facts.nodes > 1 ? static_cast<int>(row.model->system().system.transport) : 0,
        static_cast<int>(row.model->system().system.generation),
        static_cast<int>(row.model->system().system.driving), row.weight,
        to_string(row.model->system().version), made.narrowest, row.model->communicator().nodes,
        row.model->communicator().ranks, nccl::settings_digest(facts.env));
  }
  return write(path, out);
}

/// Collects ratios of measured to predicted times, and computes their weighted quantiles.
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

/// Returns the row's group by number of nodes. The file docs/validation/nccl.md lists errors by
/// these groups.
std::string nodes_of(const Row& row) {
  const auto& facts = row.model->table().facts;
  if (facts.nodes <= 2) return facts.nodes == 1 ? "one node" : "two nodes";
  return facts.nodes <= 16 ? "three to 16" : "more than 16";
}
bool is_eight_h100(const Row& row) {
  const auto& facts = row.model->table().facts;
  return facts.nodes == 1 && facts.gpus_per_node == 8 && facts.gpu_model.starts_with("H100");
}

/// Returns the parameters that were fitted to `rows`. Each parameter states how many systems and
/// rows it was fitted to.
Parameters fitted(const std::vector<Row>& rows, const Parameters& start) {
  std::vector<std::set<std::string>> systems(start.all().size());
  std::vector<std::size_t> count(start.all().size());
  for (const Row& row : rows) {
    for (const std::size_t k : row.touches) systems[k].insert(system_of(row)), ++count[k];
  }
  Parameters made = Fit(rows, start).run();
  for (std::size_t k = 0; k < count.size(); ++k) {
    if (count[k] > 0)
      made.all()[k].how =
          fmt::format("fitted to {} rows of {} systems", count[k], systems[k].size());
  }
  return made;
}

/// Returns, for each system, the fit to all other systems.
std::map<std::string, Parameters> fits_without_one(const std::vector<Row>& rows,
                                                   const Parameters& start) {
  std::map<std::string, Parameters> left_out;
  for (const Row& row : rows) left_out.emplace(system_of(row), start);
  std::vector<std::string> names;
  for (const auto& [name, unused] : left_out) names.push_back(name);
  std::vector<std::future<void>> workers;
  std::atomic<std::size_t> next = 0;
  for (unsigned worker = 0; worker < std::max(1U, std::thread::hardware_concurrency()); ++worker) {
    workers.push_back(std::async(std::launch::async, [&] {
      for (std::size_t i = next++; i < names.size(); i = next++) {
        std::vector<Row> others;
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(others),
                     [&](const Row& row) { return system_of(row) != names[i]; });
        left_out.at(names[i]) = fitted(std::move(others), start);
      }
    }));
  }
  for (std::future<void>& worker : workers) worker.get();
  return left_out;
}

/// Divides the rows into groups with equal `part`, and corrects the predictions of each group by
/// the median ratio of measured to predicted times. Prints the error that remains.
void print_with_known_factor(const std::string& what, const std::vector<Row>& rows,
                             const std::map<std::string, Parameters>& left_out,
                             const std::function<std::string(const Row&)>& part) {
  const auto ratio = [&](const Row& row) { return 1 + relative(row, left_out.at(system_of(row))); };
  std::map<std::string, Ratios> ratios;
  for (const Row& row : rows) ratios[part(row)].add(ratio(row), row.weight);
  nccl::Errors errors;
  for (const Row& row : rows)
    errors.add(ratio(row) / ratios[part(row)].quantile(0.5) - 1, row.weight);
  print(what, errors.quality());
}

Residual residual_of(const Row& row, const Parameters& parameters) {
  const nccl::System& s = row.model->system().system;
  const int nodes = row.model->communicator().nodes;
  Residual one{system_of(row), "one node", nodes, row.model->table().rows[row.index].bytes, {}, 0,
               row.weight};
  one.facts.kind = row.model->kind();
  one.facts.driving = s.driving;
  if (nodes > 1) {
    one.transport = to_string(s.transport);
    one.facts.network = nccl::known_from(parameters.systems(s.transport));
  }
  one.log_ratio = -std::log(1 + relative(row, parameters));
  return one;
}

/// Returns the residuals of all rows. Each row is predicted with the parameters that were fitted to
/// all other systems.
std::vector<Residual> residuals_of(const std::vector<Row>& rows,
                                   const std::map<std::string, Parameters>& left_out) {
  std::vector<Residual> made;
  for (const Row& row : rows) made.push_back(residual_of(row, left_out.at(system_of(row))));
  return made;
}

/// Returns the residuals of each generation of GPUs, as if no parameters were known for this
/// generation. The parameters are fitted to all other generations, and the parameters of the
/// preceding generation replace its own (for the oldest generation, the parameters of the following
/// generation).
std::map<std::string, std::vector<Residual>> residuals_of_unknown_gpus(const std::vector<Row>& rows,
                                                                       const Parameters& start) {
  using enum nccl::GpuGeneration;
  struct Unknown {
    const char* name;
    nccl::GpuGeneration first, last, nearest;
  };
  std::map<std::string, std::vector<Residual>> made;
  for (const auto& [name, first, last, nearest] :
       {Unknown{"volta", kPascal, kTuring, kAmpere}, Unknown{"ampere", kAmpere, kAda, kVolta},
        Unknown{"hopper", kHopper, kHopper, kAmpere},
        Unknown{"blackwell", kBlackwell, kBlackwell, kHopper}}) {
    std::vector<Row> others;
    std::vector<const Row*> unknown;
    for (const Row& row : rows) {
      const nccl::GpuGeneration of_row = row.model->system().system.generation;
      if (of_row >= first && of_row <= last)
        unknown.push_back(&row);
      else
        others.push_back(row);
    }
    Parameters parameters = fitted(others, start);
    parameters.use_parameters_of(nearest, last);
    for (const Row* row : unknown) made[name].push_back(residual_of(*row, parameters));
  }
  return made;
}

/// The name of a collector who has measured several systems. Results are also reported without the
/// systems of this collector.
constexpr const char* kOneCollector = "aiconfigurator";

/// Predicts each system by a fit to all other systems. Rows are split into two groups: rows whose
/// parameters are all determined by other systems, and all other rows.
void leave_one_system_out(const std::vector<Row>& rows,
                          const std::map<std::string, Parameters>& left_out) {
  nccl::Errors all, known, alone, others;
  std::array<nccl::Errors, nccl::ErrorBands::kSizes> sizes;
  std::map<std::string, nccl::Errors> nodes;
  nccl::Errors eight_h100;
  std::vector<Row> counted;
  for (const auto& [name, without] : left_out) {
    nccl::Errors own;
    for (const Row& row : rows) {
      if (system_of(row) != name) continue;
      const double error = relative(row, without);
      const auto& table = row.model->table();
      const std::size_t size = nccl::ErrorBands::size_of(table.rows[row.index].bytes);
      own.add(error, row.weight);
      all.add(error, row.weight);
      (row.known ? known : alone).add(error, row.weight);
      if (!name.starts_with(kOneCollector)) others.add(error, row.weight);
      if (is_eight_h100(row)) eight_h100.add(error, row.weight);
      if (!row.known) continue;
      nodes[nodes_of(row)].add(error, row.weight);
      sizes[size].add(error, row.weight);
      counted.push_back(row);
    }
    print("without " + name, own.quality());
  }
  print("each system left out of the fit", all.quality());
  print(fmt::format("  … without {}'s machines", kOneCollector), others.quality());
  print("  … whose parameters no other system determines", alone.quality());
  print("  … whose parameters other systems determine, too", known.quality());
  for (std::size_t size = 0; size < sizes.size(); ++size)
    print(fmt::format("      {}", nccl::ErrorBands::kSizeNames[size]), sizes[size].quality());
  for (const auto& [name, errors] : nodes) print("      " + name, errors.quality());
  print("  8 H100 in one node", eight_h100.quality());
  print_with_known_factor("      … if the median error of each system were known", counted,
                          left_out, system_of);
  const auto config = [](const Row& row) { return row.model->table().facts.config; };
  print_with_known_factor("      … if the median error of each experiment were known", counted,
                          left_out, config);
  print_with_known_factor(
      "      … if the median error of each experiment and size range were known", counted, left_out,
      [&](const Row& row) {
        return config(row) +
               std::to_string(nccl::ErrorBands::size_of(row.model->table().rows[row.index].bytes));
      });
  print("predicted from tables of identical systems", between_twins(rows).quality());
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
  if (!bands_path.empty() && !leave_one_out) {
    fmt::print(stderr,
               "nccl_fit: --bands needs --leave-one-out, whose errors determine the bands\n");
    return 2;
  }
  if (files.size() != 2) {
    fmt::print(stderr,
               "usage: nccl_fit TABLES.csv META.json [-o nccl_time.csv] [--leave-one-out [--bands "
               "nccl_error.csv]] "
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
    for (const Problem& row : table.unread) fmt::print("left out: {}\n", to_string(row));
    if (!table.facts.healthy) continue;
    auto model = TableModel::of(table);
    if (model)
      models.push_back(std::move(*model));
    else
      fmt::print("left out: {}: {}\n", table.facts.table_id, model.error().message());
  }
  const Parameters start = Parameters::initial();
  std::vector<Row> rows = rows_of(models, start);
  const Parameters shipped = fitted(rows, start);
  std::vector<std::set<std::string>> systems(shipped.all().size());
  for (const Row& row : rows) {
    for (const std::size_t k : row.touches) systems[k].insert(system_of(row));
  }
  nccl::Errors errors, eight_h100;
  for (const Row& row : rows) {
    const double error = relative(row, shipped);
    errors.add(error, row.weight);
    if (is_eight_h100(row)) eight_h100.add(error, row.weight);
  }
  fmt::print("{} rows of {} tables\n", rows.size(), models.size());
  print("fit", errors.quality());
  print("  8 H100 in one node", eight_h100.quality());
  bool written = output.empty() || write(output, shipped.to_csv());
  if (!leave_one_out) {
    if (!dump_path.empty())
      written = dump(dump_path, rows, [&](const Row&) -> const Parameters& { return shipped; }) &&
                written;
    return written ? 0 : 1;
  }
  for (Row& row : rows) {
    row.known = std::all_of(row.touches.begin(), row.touches.end(),
                            [&](std::size_t k) { return systems[k].size() > 1; });
    row.others = 99;
    for (const std::size_t k : row.touches)
      row.others = std::min(row.others, static_cast<int>(systems[k].size()) - 1);
  }
  const std::map<std::string, Parameters> left_out = fits_without_one(rows, start);
  leave_one_system_out(rows, left_out);
  const std::vector<Residual> residuals = residuals_of(rows, left_out);
  print_coverage(residuals);
  const auto without = [&](const Row& row) -> const Parameters& {
    return left_out.at(system_of(row));
  };
  if (!dump_path.empty()) written = dump(dump_path, rows, without) && written;
  if (bands_path.empty()) return written ? 0 : 1;
  nccl::ErrorBands bands = fit_bands(residuals);
  widen_for_nearest_gpu(residuals_of_unknown_gpus(rows, start), bands);
  return write(bands_path, bands.to_csv()) && written ? 0 : 1;
}
