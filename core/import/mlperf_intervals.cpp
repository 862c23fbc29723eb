// Logs of MLPerf state the speed of a training in many ways. The first of the following that a log
// has is used:
//   1. the times of steps (NVIDIA's language models),
//   2. throughputs, unless the epochs of the log show that they count something else, such as the
//      samples of one GPU,
//   3. two or more epochs: the samples of an epoch divided by its time,
//   4. blocks of training between evaluations (Google, Intel),
//   5. the progress that evaluations state (BERT),
//   6. a single epoch.
// The units of numbers depend on the benchmark. An "epoch" of BERT is a sample, or a step in
// blocks; GPT-3 counts tokens; the logs of RetinaNet (ssd) state the number of batches as
// train_samples.

#include "core/import/mlperf_intervals.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/median.h"
#include "core/base/number.h"

namespace tutti::core {
namespace {

constexpr std::size_t kMaxMlperfEvents = 1 << 20;

/// Progress from this number on counts samples or tokens, not epochs.
constexpr double kMinSamples = 1000;

double median_of_map(const std::map<std::int64_t, double>& values) {
  std::vector<double> all;
  for (const auto& [unused, value] : values) all.push_back(value);
  return median(std::move(all));
}

/// Returns the number of samples that an epoch has; 0 if it is unknown.
double samples_of_epoch(const MlperfIntervals::Workload& workload) {
  const auto samples = static_cast<double>(workload.samples);
  if (workload.benchmark == "gpt3")
    return workload.sequence > 0 ? samples / static_cast<double>(workload.sequence) : 0;
  // The data set of RetinaNet has 1.17 million images.
  constexpr double kMinImages = 1e5;
  if ((workload.benchmark == "ssd" || workload.benchmark == "retinanet") && samples < kMinImages)
    return samples * static_cast<double>(workload.batch);
  // NVIDIA's Transformer states its batch in tokens, and its data set in sentences.
  constexpr std::int64_t kMaxSentences = 16384;
  if (workload.benchmark == "transformer" && workload.batch > kMaxSentences) return 0;
  return samples;
}

}  // namespace

bool MlperfIntervals::take(const MlperfRecord& record, RecordCounts& counts) {
  const std::string& key = record.key;
  if (key == "tracked_stats" || key == "throughput") {
    double rate = record.throughput;
    if (rate < 0 && key == "throughput") rate = number_of(record.value).value_or(-1);
    // Several ranks may log the same interval.
    const std::int64_t number = record.step >= 0 ? record.step : record.time_ms;
    const auto store = [&](std::map<std::int64_t, double>& to, double value) {
      if (value > 0 && to.size() < kMaxMlperfEvents) to.try_emplace(number, value);
    };
    store(throughputs_, rate);
    store(steps_, record.step_s);
    if (rate > 0 || record.step_s > 0)
      counts.use(key);
    else if (key == "throughput")
      counts.incomplete("throughput without a number");
    else
      counts.ignore("statistics without a throughput");
    return true;
  }
  const bool begins = key == "epoch_start";
  if (begins || key == "epoch_stop") {
    if (record.epoch < 0 || record.time_ms < 0) {
      counts.incomplete("epoch without a number or time");
      return true;
    }
    if (begins && training_ms_ < 0) training_ms_ = record.time_ms;
    if (begins && epochs_.empty()) first_epoch_ = record.progress;
    if (epochs_.size() < kMaxMlperfEvents) {
      auto& epoch = epochs_[record.epoch];
      auto& time = begins ? epoch.first : epoch.second;
      if (time == 0) time = record.time_ms;
    }
    counts.use(key);
    return true;
  }
  if (key == "block_start" || key == "block_stop") {
    take_block(record);
    counts.use(key);
    return true;
  }
  if (key == "eval_start" || key == "eval_stop" || key == "eval_accuracy") {
    take_evaluation(record);
    counts.use(key);
    return true;
  }
  return false;
}

void MlperfIntervals::take_block(const MlperfRecord& record) {
  if (record.time_ms < 0) return;
  if (record.key == "block_start") {
    if (training_ms_ < 0) training_ms_ = record.time_ms;
    // Some logs state the samples only at the beginning of blocks.
    if (!blocks_.empty() && blocks_.back().last_sample <= blocks_.back().first_sample)
      blocks_.back().last_sample = record.samples;
    if (blocks_.size() < kMaxMlperfEvents)
      blocks_.push_back({record.time_ms, -1, record.epoch_count, record.samples, -1});
    return;
  }
  if (blocks_.empty()) return;
  if (blocks_.back().stop_ms < 0) blocks_.back().stop_ms = record.time_ms;
  blocks_.back().last_sample = std::max(blocks_.back().last_sample, record.samples);
}

void MlperfIntervals::take_evaluation(const MlperfRecord& record) {
  if (record.time_ms < 0) return;
  const bool begins = record.key == "eval_start";
  // The evaluation at the end of a block is not a part of the training.
  if (begins && !blocks_.empty() && blocks_.back().stop_ms < 0)
    blocks_.back().stop_ms = record.time_ms;
  const bool is_same = !evaluations_.empty() && evaluations_.back().epoch == record.progress &&
                       evaluations_.back().sample == record.samples;
  if (!is_same) {
    if (evaluations_.size() >= kMaxMlperfEvents) return;
    evaluations_.push_back({record.time_ms, record.time_ms, record.progress, record.samples});
  }
  evaluations_.back().stop_ms = std::max(evaluations_.back().stop_ms, record.time_ms);
}

std::map<std::int64_t, double> MlperfIntervals::rates_of_epochs(double samples) const {
  std::map<std::int64_t, double> rates;
  for (const auto& [number, epoch] : epochs_) {
    if (samples > 0 && epoch.first > 0 && epoch.second > epoch.first)
      rates[number] = samples / (static_cast<double>(epoch.second - epoch.first) / 1e3);
  }
  return rates;
}

std::map<std::int64_t, double> MlperfIntervals::rates_of_blocks(const Workload& workload,
                                                                double samples) const {
  std::map<std::int64_t, double> rates;
  for (const Block& block : blocks_) {
    double done = 0;
    if (block.first_sample >= 0 && block.last_sample > block.first_sample)
      done = block.last_sample - block.first_sample;
    else if (workload.benchmark == "bert")
      done = block.epochs > 1 ? block.epochs * static_cast<double>(workload.batch) : 0;
    else if (workload.benchmark == "gpt3")
      done = workload.sequence > 0 ? block.epochs / static_cast<double>(workload.sequence) : 0;
    else if (workload.benchmark != "dlrm")  // whose blocks are parts of an epoch
      done = block.epochs * samples;
    if (done > 0 && block.stop_ms > block.start_ms)
      rates[static_cast<std::int64_t>(rates.size())] =
          done / (static_cast<double>(block.stop_ms - block.start_ms) / 1e3);
  }
  return rates;
}

std::map<std::int64_t, double> MlperfIntervals::rates_of_evaluations(const Workload& workload,
                                                                     double samples) const {
  std::map<std::int64_t, double> rates;
  const auto progress_of = [&](const Evaluation& evaluation) {
    if (evaluation.sample >= 0) return evaluation.sample;
    if (evaluation.epoch < kMinSamples) return (evaluation.epoch - first_epoch_) * samples;
    if (workload.benchmark != "gpt3") return evaluation.epoch;
    return workload.sequence > 0 ? evaluation.epoch / static_cast<double>(workload.sequence) : -1;
  };
  double before = 0;
  std::int64_t since = training_ms_;
  for (const Evaluation& evaluation : evaluations_) {
    const double progress = progress_of(evaluation);
    if (since >= 0 && progress > before && evaluation.start_ms > since)
      rates[static_cast<std::int64_t>(rates.size())] =
          (progress - before) / (static_cast<double>(evaluation.start_ms - since) / 1e3);
    before = std::max(before, progress);
    since = evaluation.stop_ms;
  }
  return rates;
}

std::map<std::int64_t, double> MlperfIntervals::step_times(const Workload& workload,
                                                           const std::string& file,
                                                           std::vector<std::string>& notes) const {
  if (!steps_.empty()) return steps_;
  const double samples = samples_of_epoch(workload);
  std::map<std::int64_t, double> epochs = rates_of_epochs(samples);
  std::map<std::int64_t, double> rates = throughputs_;
  if (!rates.empty() && !epochs.empty()) {
    const double stated = median_of_map(rates), measured = median_of_map(epochs);
    constexpr double kMaxRatio = 2;
    if (measured > kMaxRatio * stated || stated > kMaxRatio * measured) {
      notes.push_back(fmt::format(
          "{}: the log states a throughput of {:.4g} per second, but its epochs process {:.4g} "
          "samples per second; the step times are those of the epochs, because the throughput may "
          "be that of one GPU",
          file, stated, measured));
      rates = epochs;
    }
  }
  if (rates.empty() && epochs.size() > 1) rates = epochs;
  if (rates.empty()) rates = rates_of_blocks(workload, samples);
  if (rates.empty()) rates = rates_of_evaluations(workload, samples);
  if (rates.empty()) rates = std::move(epochs);
  for (auto& [unused, rate] : rates) rate = static_cast<double>(workload.batch) / rate;
  return rates;
}

}  // namespace tutti::core
