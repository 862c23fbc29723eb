// Most logs of MLPerf have no training steps, but the throughput of intervals. The import makes one
// step for each interval. The duration of the step is the global batch size divided by the
// throughput.

#include <map>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/formats/mlperf_log.h"
#include "core/import/framework_imports.h"
#include "core/import/mlperf_intervals.h"

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
    const auto times = intervals_.step_times(workload_, name_, run_.notes);
    const bool has_batch = workload_.batch > 0 || intervals_.has_steps();
    if (!has_batch || times.empty())
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing, !has_batch ? "global_batch_size" : "tracked_stats"},
          fmt::format("this log of MLPerf has no {}, so its step time is unknown",
                      !has_batch ? "global_batch_size"
                                 : "throughput, and no epochs, blocks or evaluations whose number "
                                   "of samples is known"),
          {name_, 0, 0}));
    add_rank(times);
    return {};
  }

 private:
  void take_record(const MlperfRecord& record) {
    const std::string& key = record.key;
    const auto number_into = [&](std::int64_t& to) {
      // Some submissions write whole numbers as 3001600.0.
      constexpr double kMax = 1e12;
      const double number = number_of(record.value).value_or(0);
      if (number >= 1 && number < kMax) to = static_cast<std::int64_t>(number);
      run_.counts.use(key);
    };
    if (key == "global_batch_size") return number_into(workload_.batch);
    if (key == "gradient_accumulation_steps") return number_into(accumulation_);
    if (key == "d_batch_size") return number_into(device_batch_);
    if (key == "train_samples") return number_into(workload_.samples);
    if (key == "max_sequence_length") return number_into(workload_.sequence);
    if (key == "submission_benchmark") {
      workload_.benchmark = record.value;
      return run_.counts.use(key);
    }
    if (key == "submission_platform") {
      const auto [nodes, text] = platform_of(record.value);
      nodes_ = nodes;
      // NVIDIA's scripts write "SUBMISSION_PLATFORM_PLACEHOLDER" unless the user sets a name.
      if (text.find("PLACEHOLDER") == std::string::npos) platform_ = text;
      return run_.counts.use(key);
    }
    if (intervals_.take(record, run_.counts)) return;
    if (key == "run_start" || key == "run_stop") return run_.counts.ignore(key);
    run_.counts.ignore("setting or event without timing");
  }

  void add_rank(const std::map<std::int64_t, double>& times) {
    // The product of two numbers of a damaged log may overflow. BERT packs several sequences into
    // one sample, and the global batch counts sequences, so it does not give the number of ranks.
    const std::int64_t batch = workload_.batch;
    const bool is_packed = workload_.benchmark == "bert";
    const std::int64_t batches = device_batch_ > 0 && !is_packed ? batch / device_batch_ : 0;
    if (accumulation_ <= batches && batch % (device_batch_ * accumulation_) == 0) {
      run_.world_size = batches / accumulation_;
      if (nodes_ > 0 && run_.world_size % nodes_ == 0)
        run_.gpus_per_host = run_.world_size / nodes_;
    }
    run_.gpu = platform_;
    MeasuredRank& rank = rank_of(run_, "", -1, 0);
    std::int64_t at = 0;
    for (const auto& [number, seconds] : times) {
      const double ns = seconds * 1e9;
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
    run_.notes.push_back(fmt::format(
        "{}: {}, and is not divided into computation and communication", name_,
        intervals_.has_steps()
            ? std::string("each step has the duration that the log states for a step")
            : fmt::format("each step stands for an interval of the log; the step time is the "
                          "global batch of {} samples divided by the throughput of the interval",
                          batch)));
  }

  MeasuredRun& run_;
  std::string name_;
  MlperfIntervals intervals_;
  MlperfIntervals::Workload workload_;
  std::int64_t accumulation_ = 1, device_batch_ = 0, nodes_ = 0;
  std::string platform_;
};

}  // namespace

Expected<void> import_mlperf(ByteInput& input, const std::string& name, MeasuredRun& run) {
  return MlperfImport(run, name).read(input);
}

}  // namespace tutti::core
