// The plugin prints the events of a collective between the collective's begin and end, so an event
// of a channel or of the proxy belongs to the collective that is open. An end event belongs to the
// oldest open event of its category and name if no open event has its id, because example output in
// NVIDIA's documentation has such end events. Values of arguments may lack their quotes (before
// NCCL 2.30).

#include "core/formats/nccl_profiler.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/formats/decimal.h"
#include "core/formats/json_stream.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kLatestProfilerNs = 3'000'000'000'000'000'000;

class NcclProfilerReader {
 public:
  NcclProfilerReader(ByteInput& input, const std::string& name, const TakeNcclProfiler& take,
                     RecordCounts& counts)
      : in_(input, name), name_(name), take_(take), counts_(counts) {}

  Expected<void> read() {
    if (in_.peek() != JsonStream::Kind::kArray || !in_.enter_array()) {
      in_.fail({ProblemCode::kWrongType},
               "a dump of NCCL's profiler must be a JSON list of events");
      return tl::make_unexpected(in_.error());
    }
    while (in_.next_item()) {
      read_event();
      if (!in_.failed()) take_event();
    }
    if (in_.failed()) return tl::make_unexpected(in_.error());
    for (const auto& [index, open] : open_) counts_.incomplete(open.category + " without an end");
    finish_call();
    if (calls_ == 0)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing, "cat"},
          "this is not a dump of NCCL's example profiler: it has no event of category COLL or P2P",
          {name_, 0, 0}));
    return {};
  }

 private:
  struct Open {
    std::string category, name;
    std::int64_t id = -1, begin_ns = -1;
    std::int64_t peer = -1, channel = -1;
  };

  using OpenEvents = std::map<std::uint64_t, Open>;

  void add_open() {
    const std::uint64_t index = begun_++;
    by_name_[{event_.category, event_.name}].insert({event_.id, index});
    oldest_[{event_.category, event_.name}].insert(index);
    if (event_.category == "PROXY") proxies_.insert(index);
    open_.emplace_hint(open_.end(), index, event_);
  }

  /// Removes an open event. Every removal takes logarithmic time, because damaged dumps may have
  /// 65,536 open events.
  void close(OpenEvents::iterator open) {
    const std::pair key(open->second.category, open->second.name);
    by_name_[key].erase({open->second.id, open->first});
    oldest_[key].erase(open->first);
    if (oldest_[key].empty()) {
      by_name_.erase(key);
      oldest_.erase(key);
    }
    proxies_.erase(open->first);
    open_.erase(open);
  }

  /// Returns the oldest open event with the category and name of the current event, if possible
  /// with its id.
  OpenEvents::iterator begin_of_event() {
    const std::pair key(event_.category, event_.name);
    const auto known = by_name_.find(key);
    if (known == by_name_.end()) return open_.end();
    const auto same = known->second.lower_bound({event_.id, 0});
    const bool has_id = same != known->second.end() && same->first == event_.id;
    return open_.find(has_id ? same->second : *oldest_[key].begin());
  }

  void number_into(std::int64_t& to) {
    const auto number = scaled_decimal(in_.scalar(), 0);
    if (number && *number >= 0 && *number < kLatestProfilerNs) to = *number;
  }
  void text_into(std::string& to) { to = in_.scalar().substr(0, 128); }

  void read_event() {
    event_ = {};
    phase_.clear();
    args_ = {};
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (*key == "name")
        text_into(event_.name);
      else if (*key == "cat")
        text_into(event_.category);
      else if (*key == "ph")
        text_into(phase_);
      else if (*key == "id")
        number_into(event_.id);
      else if (*key == "pid")
        number_into(args_.process);
      else if (*key == "ts") {
        const auto ns = scaled_decimal(in_.scalar(), 3);
        // 0 means that the time was never set.
        if (ns && *ns > 0 && *ns < kLatestProfilerNs) event_.begin_ns = *ns;
      } else if (*key == "args")
        read_arguments();
      else
        in_.skip();
    }
  }

  void read_arguments() {
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (*key == "CommHash")
        text_into(args_.communicator);
      else if (*key == "Rank")
        number_into(args_.rank);
      else if (*key == "Peer")
        number_into(args_.peer);
      else if (*key == "SeqNum")
        number_into(args_.sequence);
      else if (*key == "Count")
        number_into(args_.count);
      else if (*key == "Datatype")
        text_into(args_.type);
      else if (*key == "Algorithm")
        text_into(args_.algorithm);
      else if (*key == "Protocol")
        text_into(args_.protocol);
      else if (*key == "nChannels")
        number_into(args_.channels);
      else if (*key == "Channel")
        number_into(event_.channel);
      else if (*key == "StartGpuClk")
        number_into(args_.gpu_begin_ns);
      else if (*key == "StopGpuClk")
        number_into(args_.gpu_end_ns);
      else
        in_.skip();
    }
  }

  void take_event() {
    if (event_.category.empty() && phase_.empty()) return;  // the empty object that ends the list
    const bool is_call = event_.category == "COLL" || event_.category == "P2P";
    const bool is_wait = event_.category == "NET";
    const bool is_proxy = event_.category == "PROXY";
    if (event_.category == "GPU") return take_channel();
    if (!is_call && !is_wait && !is_proxy) {
      for (const std::string_view known :
           {"GROUP_API", "COLL_API", "P2P_API", "KERNEL_LAUNCH", "GROUP", "NET_IB", "NET_SOCK",
            "CE_COLL", "CE_SYNC", "CE_BATCH"}) {
        if (event_.category == known) return counts_.ignore(event_.category);
      }
      return counts_.unknown(event_.category);
    }
    if (phase_ == "b") {
      constexpr std::size_t kMaxOpen = 1 << 16;
      if (open_.size() >= kMaxOpen) {
        counts_.incomplete(open_.begin()->second.category + " without an end");
        close(open_.begin());
      }
      event_.peer = args_.peer;
      counts_.use(event_.category);
      if (is_call) begin_call();
      add_open();
      return;
    }
    if (phase_ != "e") return counts_.unknown("phase " + phase_.substr(0, 4));
    end_event(is_call, is_wait);
  }

  void end_event(bool is_call, bool is_wait) {
    const auto found = begin_of_event();
    if (found == open_.end()) return counts_.incomplete(event_.category + " without a begin");
    counts_.use(event_.category);
    const Open open = found->second;
    close(found);
    if (is_call && call_) {
      call_->end_ns = event_.begin_ns;
      finish_call();
    } else if (is_wait && take_.wait && open.begin_ns >= 0 && event_.begin_ns >= open.begin_ns) {
      NcclProfilerWait wait{open.name, -1, -1, event_.begin_ns - open.begin_ns};
      // The step belongs to the innermost operation of the proxy, which names the peer.
      if (!proxies_.empty()) {
        const Open& proxy = open_.at(*proxies_.rbegin());
        wait.peer = proxy.peer;
        wait.channel = proxy.channel;
      }
      take_.wait(wait);
    }
  }

  void begin_call() {
    finish_call();
    call_ = args_;
    call_->name = event_.name;
    call_->begin_ns = event_.begin_ns;
    call_->gpu_begin_ns = call_->gpu_end_ns = -1;
  }

  void finish_call() {
    if (!call_) return;
    ++calls_;
    if (take_.call) take_.call(*call_);
    call_.reset();
  }

  /// Adds the times of a channel on the GPU to the open collective. Begin and end of the event have
  /// the same arguments.
  void take_channel() {
    if (!call_) return counts_.incomplete("GPU event outside of a collective");
    if (phase_ == "e") return counts_.use("GPU");
    if (args_.gpu_begin_ns <= 0) return counts_.incomplete("GPU event without a clock");
    counts_.use("GPU");
    ++call_->timed_channels;
    if (call_->gpu_begin_ns < 0 || args_.gpu_begin_ns < call_->gpu_begin_ns)
      call_->gpu_begin_ns = args_.gpu_begin_ns;
    if (args_.gpu_end_ns >= args_.gpu_begin_ns)
      call_->gpu_end_ns = std::max(call_->gpu_end_ns, args_.gpu_end_ns);
  }

  JsonStream in_;
  const std::string& name_;
  const TakeNcclProfiler& take_;
  RecordCounts& counts_;
  Open event_;
  std::string phase_;
  NcclProfilerCall args_;
  OpenEvents open_;          ///< the open events, in the order of their begins
  std::uint64_t begun_ = 0;  ///< index of the next event that begins
  /// For each category and name, the open events: `by_name_` has their ids and indices, and
  /// `oldest_` only their indices.
  std::map<std::pair<std::string, std::string>, std::set<std::pair<std::int64_t, std::uint64_t>>>
      by_name_;
  std::map<std::pair<std::string, std::string>, std::set<std::uint64_t>> oldest_;
  std::set<std::uint64_t> proxies_;       ///< indices of the open operations of the proxy
  std::optional<NcclProfilerCall> call_;  ///< the collective that is open
  std::int64_t calls_ = 0;
};

}  // namespace

Expected<void> read_nccl_profiler(ByteInput& input, const std::string& name,
                                  const TakeNcclProfiler& take, RecordCounts& counts) {
  return NcclProfilerReader(input, name, take, counts).read();
}

}  // namespace tutti::core
