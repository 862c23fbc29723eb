#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/formats/mlperf_log.h"

namespace tutti::core {

/// Collects the events of an MLPerf log, and computes the times of training steps from them.
class MlperfIntervals {
 public:
  /// The settings of the run that are needed to compute times from events. Unknown numbers are 0.
  struct Workload {
    std::string benchmark;
    std::int64_t batch = 0;     ///< samples of a training step
    std::int64_t samples = 0;   ///< `train_samples` of the log, in the unit of the benchmark
    std::int64_t sequence = 0;  ///< tokens of a sample
  };

  /// Counts the record, and stores its times. Returns false if the record is not an event from
  /// which times are computed.
  bool take(const MlperfRecord& record, RecordCounts& counts);

  /// Returns the time of a training step in seconds for each interval of the log. The key is the
  /// number of the interval, or its time in ms. Returns an empty map if no event gives a time. Adds
  /// notes about values that are not used.
  [[nodiscard]] std::map<std::int64_t, double> step_times(const Workload& workload,
                                                          const std::string& file,
                                                          std::vector<std::string>& notes) const;
  /// True if the log states the times of its training steps.
  [[nodiscard]] bool has_steps() const { return !steps_.empty(); }

 private:
  struct Block {
    std::int64_t start_ms = -1, stop_ms = -1;
    double epochs = -1;                          ///< metadata.epoch_count
    double first_sample = -1, last_sample = -1;  ///< metadata.samples_count
  };
  struct Evaluation {
    std::int64_t start_ms = -1, stop_ms = -1;
    double epoch = -1, sample = -1;  ///< progress of the training
  };

  void take_block(const MlperfRecord& record);
  void take_evaluation(const MlperfRecord& record);
  [[nodiscard]] std::map<std::int64_t, double> rates_of_epochs(double samples) const;
  [[nodiscard]] std::map<std::int64_t, double> rates_of_blocks(const Workload& workload,
                                                               double samples) const;
  [[nodiscard]] std::map<std::int64_t, double> rates_of_evaluations(const Workload& workload,
                                                                    double samples) const;

  std::map<std::int64_t, double> steps_;                                  ///< seconds
  std::map<std::int64_t, double> throughputs_;                            ///< by step or time
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> epochs_;  ///< start and stop, ms
  std::vector<Block> blocks_;
  std::vector<Evaluation> evaluations_;
  std::int64_t training_ms_ = -1;  ///< the time at which the training begins
  double first_epoch_ = 0;         ///< the number of the first epoch
};

}  // namespace tutti::core
