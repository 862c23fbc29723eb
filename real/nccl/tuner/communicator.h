#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/tuner_table/table.h"
#include "real/nccl/tuner/api.h"

namespace tutti::real::nccl_tuner {

/// The tuner of one communicator, with the lines of the tuner table that apply to the communicator.
/// NCCL creates one tuner for each communicator of each rank. NCCL may call the tuner from several
/// threads. This is safe, because after construction only the record of logged messages changes.
class Communicator {
 public:
  /// Reads the tuner table. The path of the table is in the environment variable TUTTI_TUNER_TABLE,
  /// or else in NCCL_TUNER_CONFIG_FILE, the variable of NVIDIA's example plugin. Returns null if no
  /// path is set, if the table is invalid (a warning states the place and the reason), or if no
  /// line applies to this communicator. NCCL then decides alone.
  static std::unique_ptr<Communicator> open(std::size_t ranks, std::size_t nodes, Logger log);

  /// The cost table that NCCL passes to one call of the tuner: algorithms × protocols.
  struct Costs {
    float* first;
    int algorithms;
    int protocols;
    [[nodiscard]] float& at(int algorithm, int protocol) const {
      return first[algorithm * protocols + protocol];
    }
  };

  /// Applies the first line that matches the collective, and whose algorithm and protocol NCCL can
  /// use. If there is no such line, `costs` and `channels` remain unchanged.
  void choose(const core::tuner_table::Call& call, const Costs& costs, int* channels);

  /// Applies the first matching line like choose(), but for NCCL 2.21, which has no cost table.
  /// `collnet`: true if network switches can reduce. `nvls`: true if NVLink switches can reduce.
  void choose_without_costs(const core::tuner_table::Call& call, bool collnet, bool nvls,
                            int* algorithm, int* protocol, int* channels);

  /// Sets `chunk` to the chunk size in bytes of the first matching line that specifies a chunk
  /// size. `call.bytes` and `channels` are as in TunerV6.
  void set_chunk(const core::tuner_table::Call& call, int algorithm, int protocol, int channels,
                 std::size_t* chunk);

 private:
  using Row = core::tuner_table::Row;

  Communicator(std::vector<Row> rows, std::size_t nodes, Logger log);

  /// Records which messages about one line of the table have been logged, because each message is
  /// logged only once.
  struct LoggedFlags {
    std::atomic<bool> applied{false}, impossible{false}, chunk{false};
  };

  [[nodiscard]] bool possible(const Row& row, bool collnet, bool nvls) const;
  void apply(std::size_t index, const core::tuner_table::Call& call, int max_channels,
             int* channels);
  void log_applied(std::size_t index, const core::tuner_table::Call& call, int channels);
  void log_impossible(std::size_t index, const core::tuner_table::Call& call);
  void log_without_row(const core::tuner_table::Call& call);

  std::vector<Row> rows_;
  std::size_t nodes_;
  Logger log_;
  bool choices_logged_ = false;      ///< true if TUTTI_TUNER_LOG is set to a value other than 0
  std::vector<LoggedFlags> logged_;  ///< by index in rows_
  std::atomic<bool> logged_without_row_[5] = {};  ///< by collective
};

}  // namespace tutti::real::nccl_tuner
