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

/// The tuner of one communicator: the lines of the table that are for it. NCCL makes one for each
/// communicator of each rank. After it is made it changes nothing but what it has logged, so NCCL
/// may call it from any number of threads.
class Communicator {
 public:
  /// Reads the table that the environment names: TUTTI_TUNER_TABLE, or else NCCL_TUNER_CONFIG_FILE,
  /// the variable of NVIDIA's example plugin. Null, which leaves all to NCCL, if there is none, if
  /// it is refused (a warning says why and where), or if no line is for this communicator.
  static std::unique_ptr<Communicator> open(std::size_t ranks, std::size_t nodes, Logger log);

  /// The cost table of one call: algorithms × protocols.
  struct Costs {
    float* first;
    int algorithms;
    int protocols;
    [[nodiscard]] float& at(int algorithm, int protocol) const {
      return first[algorithm * protocols + protocol];
    }
  };

  /// Applies the first line that matches and whose algorithm and protocol NCCL can take. Without
  /// one, neither `costs` nor `channels` is touched.
  void choose(const core::tuner_table::Call& call, const Costs& costs, int* channels);

  /// The same for NCCL 2.21, which says only whether the network and NVLink switches can reduce.
  void choose_without_costs(const core::tuner_table::Call& call, bool collnet, bool nvls,
                            int* algorithm, int* protocol, int* channels);

  /// Sets the size of chunks, if a line that matches says one. `bytes` and `channels` are as in
  /// TunerV6.
  void set_chunk(const core::tuner_table::Call& call, int algorithm, int protocol, int channels,
                 std::size_t* chunk);

 private:
  using Row = core::tuner_table::Row;

  Communicator(std::vector<Row> rows, std::size_t nodes, Logger log);

  /// The messages that were logged about a row, so that each is logged once.
  struct Said {
    std::atomic<bool> applied{false}, impossible{false}, chunk{false};
  };

  [[nodiscard]] bool possible(const Row& row, bool collnet, bool nvls) const;
  void apply(std::size_t index, const core::tuner_table::Call& call, int most_channels,
             int* channels);
  void say_applied(std::size_t index, const core::tuner_table::Call& call, int channels);
  void say_impossible(std::size_t index, const core::tuner_table::Call& call);
  void say_without_line(const core::tuner_table::Call& call);

  std::vector<Row> rows_;
  std::size_t nodes_;
  Logger log_;
  bool choices_logged_ = false;                  ///< set by TUTTI_TUNER_LOG
  std::vector<Said> said_;                       ///< by index in rows_
  std::atomic<bool> said_without_line_[5] = {};  ///< by collective
};

}  // namespace tutti::real::nccl_tuner
