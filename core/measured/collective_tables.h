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

/// The known facts about the machines on which a table was measured.
struct TableFacts {
  std::string table_id;
  std::string config;  ///< identifier that repeats of one experiment share
  std::string system;  ///< the owner of the machines; if unknown, the repository of the table
  std::string collective;
  std::string gpu_model;
  std::string intra;  ///< "NVLink4+NVSwitch", "PCIe gen4", …
  std::string nic_type;
  std::string version;  ///< release of NCCL; empty: unknown
  std::string dtype;
  std::optional<nccl::Driving> driving;  ///< empty: not stated
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  std::int64_t gpus_per_node = 0;
  std::optional<std::int64_t> links_per_gpu;
  std::optional<double> link_gb_per_s;
  std::int64_t nics_per_node = 0;
  std::optional<double> nic_gbps;
  bool nvswitch = false;
  bool healthy = false;  ///< false also if unknown
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<std::int64_t> outlier_sizes;
};

struct MeasuredTime {
  std::int64_t bytes = 0;
  double us = 0;  ///< out-of-place time
  bool outlier = false;
};

struct CollectiveTable {
  TableFacts facts;
  std::vector<MeasuredTime> rows;
  /// Errors in the table's record, because of which the measurement is unknown.
  std::vector<Problem> problems = {};
  std::vector<Problem> unread = {};  ///< rows whose size or time is invalid, or that have other
                                     ///< cells than the header; one problem each
};

/// Loads published tables of nccl-tests: `tables` is CSV (table_id, size_bytes, time_us, …), `meta`
/// is a JSON list with a record per table. Tables are in the order of `meta`, followed by those
/// without a record; rows keep their order, including repeated sizes. Problems of a table or a row
/// are stored in it, including a duplicate record or a record without a name. A row whose table
/// name cannot be read belongs to a table without a name. ERRORS: unreadable files; missing
/// columns.
Expected<std::vector<CollectiveTable>> load_collective_tables(const std::string& tables,
                                                              const std::string& meta);

/// Loads the repeatability of experiments: the median coefficient of variation by config. SOURCE: a
/// CSV with columns config, size_bytes, cv; other columns are ignored. The config may be followed
/// by "||", version and environment.
Expected<std::map<std::string, double>> load_noise(const std::string& path);

}  // namespace tutti::core
