#include "core/formats/horovod_timeline.h"

#include <map>
#include <optional>
#include <vector>

#include "core/base/number.h"
#include "core/formats/decimal.h"
#include "core/formats/json_stream.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kLatestUs = 3'000'000'000'000'000;

class HorovodReader {
 public:
  HorovodReader(ByteInput& input, const std::string& name, const TakeHorovod& take,
                RecordCounts& counts, const std::function<void(double)>& progress)
      : in_(input, name), name_(name), take_(take), counts_(counts), progress_(progress) {}

  Expected<HorovodHeader> read() {
    if (in_.peek() != JsonStream::Kind::kArray || !in_.enter_array()) {
      in_.fail({ProblemCode::kWrongType}, "a Horovod timeline must be a JSON list of events");
      return tl::make_unexpected(in_.error());
    }
    std::int64_t events = 0;
    while (in_.next_item()) {
      read_event();
      constexpr std::int64_t kBetween = 1 << 14;
      if (progress_ && ++events % kBetween == 0) progress_(in_.share());
    }
    header_.cut_off = in_.cut_off();
    if (in_.failed() && !in_.cut_off()) return tl::make_unexpected(in_.error());
    if (header_.cut_off) counts_.incomplete("truncated end of the file");
    for (const auto& [pid, tensor] : tensors_) {
      if (!tensor.open.empty())
        counts_.incomplete("activity without an end",
                           static_cast<std::int64_t>(tensor.open.size()));
    }
    if (activities_ == 0)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing}, "this is not a Horovod timeline: it has no activity of a tensor",
          {name_, 0, 0}));
    return header_;
  }

 private:
  struct Tensor {
    std::string name;
    std::vector<std::pair<std::string, std::int64_t>> open;
  };

  void text_into(std::string& to) { to = in_.scalar().substr(0, 512); }

  void read_event() {
    constexpr std::size_t kMaxTensors = 1 << 20;
    std::string phase, name, type, shape, given_name;
    std::int64_t pid = -1, ts = -1, start = -1;
    if (!in_.enter_object()) {
      if (!in_.failed()) counts_.unknown("an item that is not an object");
      return;
    }
    while (const auto key = in_.next_key()) {
      if (*key == "ph")
        text_into(phase);
      else if (*key == "name")
        text_into(name);
      else if (*key == "pid")
        pid = scaled_decimal(in_.scalar(), 0).value_or(-1);
      else if (*key == "ts")
        ts = scaled_decimal(in_.scalar(), 0).value_or(-1);
      else if (*key == "args") {
        if (!in_.enter_object()) continue;
        while (const auto inner = in_.next_key()) {
          if (*inner == "name")
            text_into(given_name);
          else if (*inner == "dtype")
            text_into(type);
          else if (*inner == "shape")
            text_into(shape);
          else if (*inner == "start_time_since_epoch_in_micros")
            start = scaled_decimal(in_.scalar(), 0).value_or(-1);
          else
            in_.skip();
        }
      } else {
        in_.skip();
      }
    }
    if (in_.failed()) return;
    if (phase == "M") {
      if (start >= 0 && start <= kLatestUs) header_.start_us = start;
      if (name == "process_name" && !given_name.empty() && pid >= 0 &&
          tensors_.size() < kMaxTensors)
        tensors_[pid].name = given_name;
      return counts_.ignore("metadata");
    }
    if (ts < 0 || ts > kLatestUs) return counts_.incomplete("event without a time");
    if (phase == "i" || phase == "I") {
      if (name != "CYCLE_START") return counts_.ignore("other instant");
      take_.cycle(ts);
      return counts_.use("cycle");
    }
    const auto tensor = tensors_.find(pid);
    if (tensor == tensors_.end())
      return counts_.incomplete("an event of a tensor that has no name");
    if (phase == "B") {
      constexpr std::size_t kDeepestActivity = 64;
      if (tensor->second.open.size() >= kDeepestActivity)
        return counts_.incomplete("an activity that is nested too deeply");
      tensor->second.open.emplace_back(name, ts);
    } else if (phase == "E") {
      if (tensor->second.open.empty())
        return counts_.incomplete("an end event without a begin event");
      auto& [activity, began] = tensor->second.open.back();
      HorovodActivity made{tensor->second.name,
                           activity,
                           static_cast<int>(tensor->second.open.size()) - 1,
                           began,
                           std::max(began, ts),
                           type,
                           shape};
      tensor->second.open.pop_back();
      ++activities_;
      counts_.use(made.depth == 0 ? "collective or negotiation" : "activity inside a collective");
      take_.activity(made);
    } else if (phase == "X") {
      const auto rank = whole_number<std::int64_t>(name);
      if (!rank || *rank < 0) return counts_.ignore("other slice");
      counts_.use("rank ready");
      take_.ready(tensor->second.name, *rank, ts);
    } else {
      counts_.unknown("phase " + phase.substr(0, 4));
    }
  }

  JsonStream in_;
  std::string name_;
  const TakeHorovod& take_;
  RecordCounts& counts_;
  const std::function<void(double)>& progress_;
  HorovodHeader header_;
  std::map<std::int64_t, Tensor> tensors_;
  std::int64_t activities_ = 0;
};

}  // namespace

Expected<HorovodHeader> read_horovod_timeline(ByteInput& input, const std::string& name,
                                              const TakeHorovod& take, RecordCounts& counts,
                                              const std::function<void(double)>& progress) {
  return HorovodReader(input, name, take, counts, progress).read();
}

}  // namespace tutti::core
