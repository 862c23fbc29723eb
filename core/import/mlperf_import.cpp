// A log of MLPerf has no training steps, but the throughput of intervals. The import makes one step
// for each interval. The duration of the step is the global batch size divided by the throughput.
// If no throughput is logged, epochs give it: the number of training samples divided by the time of
// an epoch.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/formats/mlperf_log.h"
#include "core/import/framework_imports.h"

namespace tutti::core {
namespace {

/// Returns the number of machines and their description in a text such as "8xNVIDIA DGX H100".
std::pair<std::int64_t, std::string> platform_of(const std::string& text) {
  const std::size_t x = text.find_first_not_of("0123456789");
  if (x == std::string::npos || x == 0 || (text[x] != 'x' && text[x] != 'X')) return {0, text};
  const auto nodes = whole_number<std::int64_t>(std::string_view(text).substr(0, x));
  return {nodes.value_or(0), text.substr(x + 1)};
}

/// The latest end of a step, so that times in picoseconds fit into 64 bits.
constexpr std::int64_t kLatestMlperfNs = 9'000'000'000'000'000;

class MlperfImport {
 public:
  MlperfImport(MeasuredRun& run, std::string name) : run_(run), name_(std::move(name)) {}

  Expected<void> read(ByteInput& input) {
    const auto take = [this](const MlperfRecord& record) { take_record(record); };
    if (auto done = read_mlperf_log(input, name_, take, run_.counts); !done) return done;
    run_.format = "MLPerf log";
    run_.files.push_back(name_);
    if (throughputs_.empty()) add_epochs();
    if (batch_ <= 0 || throughputs_.empty())
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing, batch_ <= 0 ? "global_batch_size" : "tracked_stats"},
          fmt::format("this log of MLPerf has no {}, so its step time is unknown",
                      batch_ <= 0 ? "global_batch_size" : "throughput and no epochs"),
          {name_, 0, 0}));
    add_rank();
    return {};
  }

 private:
  void take_record(const MlperfRecord& record) {
    const std::string& key = record.key;
    const auto number = whole_number<std::int64_t>(record.value);
    const auto number_into = [&](std::int64_t& to) {
      if (number && *number > 0 && *number < std::int64_t{1} << 40) to = *number;
      run_.counts.use(key);
    };
    constexpr std::size_t kMaxMlperfRecords = 1 << 20;
    if (key == "global_batch_size") return number_into(batch_);
    if (key == "gradient_accumulation_steps") return number_into(accumulation_);
    if (key == "d_batch_size") return number_into(device_batch_);
    if (key == "train_samples") return number_into(samples_);
    if (key == "submission_benchmark") {
      is_packed_ = record.value == "bert";
      return run_.counts.use(key);
    }
    if (key == "submission_platform") {
      const auto [nodes, text] = platform_of(record.value);
      nodes_ = nodes;
      platform_ = text;
      return run_.counts.use(key);
    }
    if (key == "tracked_stats" || key == "throughput") {
      double rate = record.throughput;
      if (rate < 0 && key == "throughput") rate = number_of(record.value).value_or(-1);
      if (!(rate > 0)) return run_.counts.incomplete("statistics without a throughput");
      // Several ranks may log the same interval.
      const std::int64_t step = record.step >= 0 ? record.step : record.time_ms;
      if (throughputs_.size() < kMaxMlperfRecords) throughputs_.try_emplace(step, rate);
      return run_.counts.use(key);
    }
    if (key == "epoch_start" || key == "epoch_stop") {
      const bool begins = key == "epoch_start";
      if (record.epoch < 0 || record.time_ms < 0)
        return run_.counts.incomplete("epoch without a number or time");
      if (epochs_.size() < kMaxMlperfRecords) {
        auto& epoch = epochs_[record.epoch];
        auto& time = begins ? epoch.first : epoch.second;
        if (time == 0) time = record.time_ms;
      }
      return run_.counts.use(key);
    }
    if (key == "block_start" || key == "block_stop" || key == "run_start" || key == "run_stop" ||
        key == "eval_accuracy")
      return run_.counts.ignore(key);
    run_.counts.ignore("setting or event without timing");
  }

  void add_epochs() {
    if (samples_ <= 0) return;
    for (const auto& [number, epoch] : epochs_) {
      if (epoch.first <= 0 || epoch.second <= epoch.first) continue;
      throughputs_[number] =
          static_cast<double>(samples_) / (static_cast<double>(epoch.second - epoch.first) / 1e3);
    }
  }

  void add_rank() {
    // The product of two numbers of a damaged log may overflow. BERT packs several sequences into
    // one sample, and the global batch counts sequences, so it does not give the number of ranks.
    const std::int64_t batches = device_batch_ > 0 && !is_packed_ ? batch_ / device_batch_ : 0;
    if (accumulation_ <= batches && batch_ % (device_batch_ * accumulation_) == 0) {
      run_.world_size = batches / accumulation_;
      if (nodes_ > 0 && run_.world_size % nodes_ == 0)
        run_.gpus_per_host = run_.world_size / nodes_;
    }
    run_.gpu = platform_;
    MeasuredRank& rank = rank_of(run_, "", -1, 0);
    std::int64_t at = 0;
    for (const auto& [number, rate] : throughputs_) {
      const double ns = static_cast<double>(batch_) / rate * 1e9;
      if (!(ns >= 1 && ns < 1e15)) continue;
      MeasuredStep step;
      step.number = number;
      step.start_ns = at;
      step.end_ns = at + static_cast<std::int64_t>(ns);
      if (step.end_ns > kLatestMlperfNs) {
        run_.counts.incomplete("interval after more than 100 days of training");
        continue;
      }
      step.host_ns = step.end_ns - step.start_ns;
      step.backward_ns = step.backward_end_ns = step.start_ns;  // the parts of a step are unknown
      at = step.end_ns;
      rank.steps.push_back(std::move(step));
    }
    run_.notes.push_back(
        fmt::format("{}: each step stands for an interval of the log; the step time is the global "
                    "batch of {} samples divided by the throughput of the interval, and is not "
                    "divided into computation and communication",
                    name_, batch_));
  }

  MeasuredRun& run_;
  std::string name_;
  std::int64_t batch_ = 0, accumulation_ = 1, device_batch_ = 0, samples_ = 0, nodes_ = 0;
  std::string platform_;
  bool is_packed_ = false;
  std::map<std::int64_t, double> throughputs_;                            ///< by step or epoch
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> epochs_;  ///< start and stop, ms
};

}  // namespace

Expected<void> import_mlperf(ByteInput& input, const std::string& name, MeasuredRun& run) {
  return MlperfImport(run, name).read(input);
}

}  // namespace tutti::core
