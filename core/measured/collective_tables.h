#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/driving.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// What is known of the machines that a table was measured on.
struct TableFacts {
  std::string table_id;
  std::string config;  ///< the same for repeats of one experiment
  std::string system;  ///< whose machines; the repository that published them where nobody says
  std::string collective;
  std::string gpu_model;
  std::string intra;  ///< "NVLink4+NVSwitch", "PCIe gen4", …
  std::string nic_type;
  std::string version;  ///< of NCCL; empty: not known
  std::string dtype;
  std::optional<nccl::Driving> driving;  ///< nothing: not stated
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  std::int64_t gpus_per_node = 0;
  std::optional<std::int64_t> links_per_gpu;
  std::optional<double> link_gb_per_s;
  std::int64_t nics_per_node = 0;
  std::optional<double> nic_gbps;
  bool nvswitch = false;
  bool healthy = false;  ///< false also where nobody can say
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<std::int64_t> outlier_sizes;
};

struct MeasuredTime {
  std::int64_t bytes = 0;
  double us = 0;  ///< out of place
  bool outlier = false;
};

struct CollectiveTable {
  TableFacts facts;
  std::vector<MeasuredTime> rows;
  std::vector<Problem> problems =
      {};  ///< what is wrong with its record, so that nobody knows what was measured
  std::vector<Problem> unread = {};  ///< its rows whose size or time is none, or that have other
                                     ///< cells than the header; one each
};

/// Published tables of nccl-tests: `tables` is CSV (table_id, size_bytes, time_us, …), `meta` JSON,
/// a list with a record per table. Tables in the order of `meta`, then those that it has no record
/// of; rows as they stand, repeated sizes too. What is wrong with one table or one of its rows
/// stands there: also that there are two records of it, or that a record has no name. A row whose
/// table's name cannot be read is one of a table without a name. ERRORS: files; columns that are
/// missing.
Expected<std::vector<CollectiveTable>> load_collective_tables(const std::string& tables,
                                                              const std::string& meta);

/// How far repeats of one experiment lie apart: the median of their coefficients of variation by
/// config. SOURCE: a CSV with columns config, size_bytes, cv; other columns are passed over. The
/// config may go on with version and environment behind "||".
Expected<std::map<std::string, double>> load_noise(const std::string& path);

}  // namespace tutti::core
