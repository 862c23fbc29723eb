// Events are read field by field. Most bytes of a trace are arguments of events. The arguments are
// skipped if the category of the event, which Kineto writes before them, is not used.

#include "core/formats/kineto.h"

#include <array>
#include <optional>

#include "core/formats/decimal.h"
#include "core/formats/json_stream.h"

namespace tutti::core {
namespace {

struct NamedCategory {
  std::string_view name;
  KinetoKind kind;
};
constexpr std::array kKinetoCategories{
    NamedCategory{"cpu_op", KinetoKind::kCpuOperator},
    NamedCategory{"Operator", KinetoKind::kCpuOperator},
    NamedCategory{"user_annotation", KinetoKind::kAnnotation},
    NamedCategory{"gpu_user_annotation", KinetoKind::kGpuAnnotation},
    NamedCategory{"cuda_runtime", KinetoKind::kLaunch},
    NamedCategory{"cuda_driver", KinetoKind::kLaunch},
    NamedCategory{"hip_runtime", KinetoKind::kLaunch},
    NamedCategory{"xpu_runtime", KinetoKind::kLaunch},
    NamedCategory{"xpu_driver", KinetoKind::kLaunch},
    NamedCategory{"privateuse1_runtime", KinetoKind::kLaunch},
    NamedCategory{"privateuse1_driver", KinetoKind::kLaunch},
    NamedCategory{"Runtime", KinetoKind::kLaunch},
    NamedCategory{"kernel", KinetoKind::kKernel},
    NamedCategory{"Kernel", KinetoKind::kKernel},
    NamedCategory{"gpu_memcpy", KinetoKind::kCopy},
    NamedCategory{"gpu_memset", KinetoKind::kCopy},
    NamedCategory{"Memcpy", KinetoKind::kCopy},
    NamedCategory{"Memset", KinetoKind::kCopy},
};
/// Categories whose events are never imported.
constexpr std::array<std::string_view, 24> kIgnoredCategories{"python_function",
                                                              "ac2g",
                                                              "fwdbwd",
                                                              "async_cpu_to_gpu",
                                                              "async_gpu",
                                                              "cpu_instant_event",
                                                              "Trace",
                                                              "overhead",
                                                              "mtia_runtime",
                                                              "mtia_ccp_events",
                                                              "mtia_insight",
                                                              "mtia_counters",
                                                              "cuda_sync",
                                                              "glow_runtime",
                                                              "collective_comm",
                                                              "cuda_profiler_range",
                                                              "hpu_op",
                                                              "privateuse1_op",
                                                              "cuda_event",
                                                              "forward_backward",
                                                              "xpu_sync",
                                                              "xpu_scope_profiler",
                                                              "external_correlation",
                                                              "hardware_counters"};

std::optional<KinetoKind> kind_of(std::string_view category) {
  for (const NamedCategory& known : kKinetoCategories) {
    if (known.name == category) return known.kind;
  }
  return std::nullopt;
}

class KinetoReader {
 public:
  KinetoReader(ByteInput& input, const std::string& name, const TakeKinetoEvent& take,
               RecordCounts& counts, const std::function<void(double)>& progress)
      : in_(input, name), take_(take), counts_(counts), progress_(progress) {}

  Expected<KinetoHeader> read() {
    bool events = false;
    if (in_.peek() == JsonStream::Kind::kArray) {
      read_events();
      events = true;
    } else if (in_.enter_object()) {
      while (const auto key = in_.next_key()) {
        if (*key == "traceEvents") {
          read_events();
          events = true;
        } else {
          read_header_field(*key);
        }
      }
    } else if (!in_.failed()) {
      in_.fail({ProblemCode::kWrongType},
               "expected a JSON object with traceEvents, or a list of events");
    }
    if (in_.failed()) return tl::make_unexpected(in_.error());
    if (!events)
      in_.fail({ProblemCode::kMissing, "traceEvents"},
               "this JSON file has no traceEvents, so it is not a trace");
    if (!in_.failed() && !in_.at_end())
      in_.fail({ProblemCode::kSyntax}, "unexpected text after the end of the trace");
    if (in_.failed()) return tl::make_unexpected(in_.error());
    return header_;
  }

 private:
  std::optional<std::int64_t> whole() { return scaled_decimal(in_.scalar(), 0); }
  void whole_into(std::int64_t& to) {
    if (const auto number = whole()) to = *number;
  }
  void text_into(std::string& to) {
    constexpr std::size_t kLongest = std::size_t{4} << 10;
    to = in_.scalar().substr(0, kLongest);
  }

  void read_header_field(std::string_view key) {
    if (key == "deviceProperties") {
      if (in_.enter_array())
        while (in_.next_item()) read_device();
    } else if (key == "distributedInfo") {
      if (in_.enter_object())
        while (const auto inner = in_.next_key()) {
          if (*inner == "rank")
            whole_into(header_.rank);
          else if (*inner == "world_size")
            whole_into(header_.world_size);
          else if (*inner == "backend")
            text_into(header_.backend);
          else if (*inner == "nccl_version")
            text_into(header_.nccl_version);
          else
            in_.skip();
        }
    } else if (key == "baseTimeNanoseconds") {
      whole_into(header_.base_ns);
      if (header_.base_ns < 0 || header_.base_ns > 3'000'000'000'000'000'000)
        in_.fail({ProblemCode::kTooLarge, "baseTimeNanoseconds"},
                 "baseTimeNanoseconds is not a time since 1970");
    } else {
      header_.is_rocm = header_.is_rocm || key.starts_with("roctracer") || key.starts_with("hip_");
      in_.skip();
    }
  }

  void read_device() {
    constexpr std::size_t kMaxDevices = 1024;
    KinetoHeader::Device device;
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (*key == "name")
        text_into(device.name);
      else if (*key == "numSms")
        whole_into(device.multiprocessors);
      else
        in_.skip();
    }
    if (header_.devices.size() < kMaxDevices) header_.devices.push_back(std::move(device));
  }

  void read_events() {
    if (in_.peek() != JsonStream::Kind::kArray) {
      in_.fail({ProblemCode::kWrongType, "traceEvents"}, "traceEvents must be a list");
      return;
    }
    if (!in_.enter_array()) return;
    while (in_.next_item()) {
      read_event();
      constexpr std::int64_t kBetween = 1 << 16;
      if (progress_ && ++events_ % kBetween == 0) progress_(in_.share());
    }
  }

  void clear_event() {
    KinetoEvent& e = event_;
    for (std::string* text : {&e.name, &e.pid, &e.tid, &e.input_dims, &e.input_types, &e.collective,
                              &e.data_type, &e.group_name, &e.group_description, &e.group_ranks})
      text->clear();
    e.start_ns = e.duration_ns = 0;
    device_type_ = -1;
    for (std::int64_t* number :
         {&e.correlation, &e.external_id, &e.device, &e.stream, &e.grid, &e.bytes, &e.in_elements,
          &e.out_elements, &e.group_size, &e.rank_start, &e.rank_stride, &e.source_rank,
          &e.destination_rank, &e.sequence})
      *number = -1;
  }

  void read_event() {
    if (in_.peek() != JsonStream::Kind::kObject) {
      in_.skip();
      counts_.unknown("an item that is not an object");
      return;
    }
    const auto at = in_.offset();
    clear_event();
    category_.clear();
    phase_ = 0;
    bool timed = false;
    std::optional<KinetoKind> kind;
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (*key == "ph") {
        const std::string_view phase = in_.scalar();
        phase_ = phase.size() == 1 ? phase.front() : '?';
      } else if (*key == "cat") {
        category_ = in_.scalar().substr(0, 64);
        kind = kind_of(category_);
      } else if (*key == "name") {
        text_into(event_.name);
      } else if (*key == "pid") {
        text_into(event_.pid);
      } else if (*key == "tid") {
        text_into(event_.tid);
      } else if (*key == "ts") {
        timed = time_into(event_.start_ns, "ts");
      } else if (*key == "dur") {
        static_cast<void>(time_into(event_.duration_ns, "dur"));
      } else if (*key == "args" &&
                 (category_.empty() || kind || category_ == "cpu_instant_event")) {
        read_arguments();
      } else {
        in_.skip();
      }
      if (in_.failed()) return;
    }
    if (in_.failed()) return;
    if (is_allocation() && timed) {
      event_.kind = KinetoKind::kAllocation;
      event_.duration_ns = 0;
      take_(event_);
      return;
    }
    if (phase_ != 'X' || !kind) {
      count_unused(kind.has_value());
      return;
    }
    if (!timed || event_.duration_ns < 0) {
      in_.fail({ProblemCode::kMissing, "ts"},
               fmt::format("the event at byte {} has no time, or ends before it begins", at));
      return;
    }
    event_.kind = *kind;
    take_(event_);
  }

  /// True if the event records that the allocator gave out memory of a GPU.
  [[nodiscard]] bool is_allocation() const {
    constexpr std::int64_t kGpu = 1;
    return phase_ == 'i' && event_.name == "[memory]" && event_.bytes > 0 && device_type_ == kGpu;
  }

  void count_unused(bool known_category) {
    if (phase_ == 'M') return counts_.ignore("metadata");
    if (phase_ == 's' || phase_ == 't' || phase_ == 'f') return counts_.ignore("flow");
    if (phase_ == 'i' || phase_ == 'I' || phase_ == 'C')
      return counts_.ignore("instant or counter");
    if (known_category)
      return counts_.unknown(fmt::format("phase {} of {}", phase_name(), category_));
    for (const std::string_view name : kIgnoredCategories) {
      if (name == category_) return counts_.ignore(name);
    }
    counts_.unknown(category_.empty() ? fmt::format("phase {} without a category", phase_name())
                                      : category_);
  }
  [[nodiscard]] std::string phase_name() const {
    return phase_ >= 'A' && phase_ <= 'z' ? std::string(1, phase_) : "?";
  }

  /// Reads a time in microseconds with up to three decimals.
  bool time_into(std::int64_t& ns, const char* field) {
    const std::string_view text = in_.scalar();
    if (in_.failed()) return false;
    const auto read = scaled_decimal(text, 3);
    if (!read) {
      in_.fail({ProblemCode::kInvalid, field},
               fmt::format("{} is \"{}\"; expected microseconds", field, text.substr(0, 40)));
      return false;
    }
    // Times must be between 1938 and 2065, and durations at most three years, so that the sum and
    // the difference of any two fit into 64 bits.
    constexpr std::int64_t kEarliest = -1'000'000'000'000'000'000,
                           kLatest = 3'000'000'000'000'000'000, kLongest = 100'000'000'000'000'000;
    if (*read < kEarliest || *read > (std::string_view(field) == "dur" ? kLongest : kLatest)) {
      in_.fail({ProblemCode::kTooLarge, field}, fmt::format("{} is not a valid time", field));
      return false;
    }
    ns = *read;
    return true;
  }

  void read_arguments() {
    KinetoEvent& e = event_;
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (*key == "correlation")
        whole_into(e.correlation);
      else if (*key == "External id" || *key == "external id")
        whole_into(e.external_id);
      else if (*key == "device")
        whole_into(e.device);
      else if (*key == "stream")
        whole_into(e.stream);
      else if (*key == "grid")
        read_grid();
      else if (*key == "Collective name")
        text_into(e.collective);
      else if (*key == "dtype")
        text_into(e.data_type);
      else if (*key == "In msg nelems" || *key == "In msg size")
        whole_into(e.in_elements);
      else if (*key == "Out msg nelems" || *key == "Out msg size")
        whole_into(e.out_elements);
      else if (*key == "Group size")
        whole_into(e.group_size);
      else if (*key == "Process Group Name")
        text_into(e.group_name);
      else if (*key == "Process Group Description")
        text_into(e.group_description);
      else if (*key == "Process Group Ranks" || *key == "Group Ranks")
        flat_into(e.group_ranks);
      else if (*key == "Global rank start")
        whole_into(e.rank_start);
      else if (*key == "Global rank stride")
        whole_into(e.rank_stride);
      else if (*key == "Src Rank")
        whole_into(e.source_rank);
      else if (*key == "Dst Rank")
        whole_into(e.destination_rank);
      else if (*key == "Seq")
        whole_into(e.sequence);
      else if (*key == "Bytes")
        whole_into(e.bytes);
      else if (*key == "Device Type")
        whole_into(device_type_);
      else if (*key == "Input Dims")
        flat_into(e.input_dims);
      else if (*key == "Input type")
        flat_into(e.input_types);
      else
        in_.skip();
      if (in_.failed()) return;
    }
  }

  void read_grid() {
    // The grid is a list or, in some traces, a text that looks like a list ("[8, 1, 1]").
    if (in_.peek() == JsonStream::Kind::kArray) {
      if (!in_.enter_array()) return;
      bool first = true;
      while (in_.next_item()) {
        if (first)
          whole_into(event_.grid);
        else
          in_.skip();
        first = false;
      }
      return;
    }
    const std::string_view text = in_.scalar();
    const std::size_t from = text.find_first_of("0123456789");
    if (from == std::string_view::npos) return;
    if (const auto number =
            scaled_decimal(text.substr(from, text.find_first_of(",]", from) - from), 0))
      event_.grid = *number;
  }

  /// Stores the next value in `to`, without blanks. The value is a string or a list; a list is
  /// converted to text and truncated.
  void flat_into(std::string& to) {
    constexpr std::size_t kLongest = std::size_t{4} << 10;
    to.clear();
    flatten(to, kLongest);
  }
  void flatten(std::string& to, std::size_t longest) {
    const auto kind = in_.peek();
    if (kind == JsonStream::Kind::kArray) {
      if (to.size() < longest) to += '[';
      bool first = true;
      if (!in_.enter_array()) return;
      while (in_.next_item()) {
        if (!first && to.size() < longest) to += ',';
        first = false;
        if (to.size() < longest)
          flatten(to, longest);
        else
          in_.skip();
      }
      if (to.size() < longest) to += ']';
    } else if (kind == JsonStream::Kind::kObject) {
      in_.skip();
    } else {
      for (const char c : in_.scalar()) {
        if (c != ' ' && to.size() < longest) to += c;
      }
    }
  }

  JsonStream in_;
  const TakeKinetoEvent& take_;
  RecordCounts& counts_;
  const std::function<void(double)>& progress_;
  KinetoHeader header_;
  KinetoEvent event_;
  std::string category_;
  char phase_ = 0;
  std::int64_t device_type_ = -1;
  std::int64_t events_ = 0;
};

}  // namespace

Expected<KinetoHeader> read_kineto(ByteInput& input, const std::string& name,
                                   const TakeKinetoEvent& take, RecordCounts& counts,
                                   const std::function<void(double)>& progress) {
  return KinetoReader(input, name, take, counts, progress).read();
}

}  // namespace tutti::core
