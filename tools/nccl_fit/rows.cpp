#include "tools/nccl_fit/rows.h"

#include <cmath>
#include <map>
#include <set>

namespace tutti::nccl_fit {

using core::MeasuredTime;
using core::nccl::Parameters;
using core::nccl::TableModel;

std::string system_of(const Row& row) {
  const std::string& name = row.model->table().facts.system;
  return name.substr(0, name.find(" ("));
}

std::vector<Row> rows_of(const std::vector<TableModel>& models, const Parameters& start) {
  std::map<std::string, double> per_config;
  std::vector<Row> rows;
  for (const TableModel& model : models) {
    // Skip tables of in-network reductions. Their predictions use published parameters
    // (docs/nccl.md), and the tables only validate these predictions.
    if (model.communicator().collnet) continue;
    for (std::size_t r = 0; r < model.table().rows.size(); ++r) {
      const MeasuredTime& measured = model.table().rows[r];
      if (measured.outlier) continue;
      rows.push_back({&model, r, std::log(measured.us), 0, 0, {}, 99, false});
      per_config[model.table().facts.config] += 1;
    }
  }
  for (Row& row : rows) row.weight = 1 / per_config[row.model->table().facts.config];
  std::map<std::string, std::set<std::string>> configs;
  for (const Row& row : rows) configs[system_of(row)].insert(row.model->table().facts.config);
  for (Row& row : rows)
    row.fit_weight = row.weight / std::sqrt(static_cast<double>(configs[system_of(row)].size()));
  Parameters p = start;
  for (std::size_t k = 0; k < p.all().size(); ++k) {
    const double value = p.all()[k].value;
    p.all()[k].value = value * 1.5;
    std::vector<double> changed(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
      changed[r] = rows[r].model->predict(rows[r].index, p).us();
    p.all()[k].value = value;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      // The prediction depends on the parameter if it changes by more than rounding differences
      // between compilers.
      const double before = rows[r].model->predict(rows[r].index, p).us();
      if (std::abs(changed[r] - before) > 1e-6 * before) rows[r].touches.push_back(k);
    }
  }
  return rows;
}

}  // namespace tutti::nccl_fit
