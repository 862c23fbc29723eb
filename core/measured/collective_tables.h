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

/// The recorded facts about a measurement and the machines on which it was made. An unknown fact is
/// an empty text, 0 or nullopt.
struct TableFacts {
  std::string table_id;
  std::string config;  ///< identifier of the experiment; tables of repetitions of the same
                       ///< experiment have the same `config`
  std::string system;  ///< owner of the machines or, if unknown, the repository that contains the
                       ///< table
  std::string collective;
  std::string gpu_model;
  std::string nearest_gpu_model;  ///< if the time model has no parameters for `gpu_model`: the most
                                  ///< similar GPU for which it has parameters
  std::string intra;              ///< links inside a node: "NVLink4+NVSwitch", "PCIe gen4", …
  std::string nic_type;
  std::string version;  ///< release of NCCL
  std::string dtype;
  std::optional<nccl::Driving> driving;  ///< how processes and threads call NCCL; nullopt if
                                         ///< unknown
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  std::int64_t gpus_per_node = 0;
  std::optional<std::int64_t> links_per_gpu;
  std::optional<double> link_gb_per_s;
  std::optional<double> pcie_gb_per_s;  ///< payload rate of a GPU's PCIe link, as NCCL computes it;
                                        ///< nullopt: the rate of the GPU's own connector
  std::int64_t nics_per_node = 0;
  std::optional<double> nic_gbps;
  std::int64_t devices_per_card = 1;  ///< EFA devices or ports that one card of `nics_per_node` has
  std::string ofi_plugin;             ///< release of aws-ofi-nccl; empty: unknown
  bool nvswitch = false;
  bool healthy = false;  ///< true if the machines are known to be healthy
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
  /// Problems of the table's record (an entry of the JSON file), because of which the measurement
  /// cannot be identified.
  std::vector<Problem> problems = {};
  std::vector<Problem> unread = {};  ///< problems of rows that could not be read: their size or
                                     ///< time is invalid, or their number of cells is wrong
};

/// Loads published tables of nccl-tests. `tables` is the path of a CSV file (table_id, size_bytes,
/// time_us, …). `meta` is the path of a JSON file that contains a list with one record per table.
/// Tables are returned in the order of `meta`, followed by tables without a record. Rows keep their
/// order, including repeated sizes. Problems of a record or a row are stored in the table to which
/// the record or row belongs; duplicate records and records without a table_id are such problems.
/// Rows whose table_id cannot be read are collected in a table without a name. ERRORS: unreadable
/// files; missing columns.
Expected<std::vector<CollectiveTable>> load_collective_tables(const std::string& tables,
                                                              const std::string& meta);

/// Loads the variation between repetitions of experiments. The file is a CSV file with the columns
/// config and cv (coefficient of variation); other columns are ignored. Returns the median of cv
/// for each text in the column config. Such a text is TableFacts::config, which may be followed by
/// "||", a version and an environment.
Expected<std::map<std::string, double>> load_noise(const std::string& path);

}  // namespace tutti::core
