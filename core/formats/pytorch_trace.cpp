// A node has its name before its inputs, so inputs are parsed only for the calls of collectives and
// for the node that defines the process groups. Since schema 1.1.0, a call states its sizes as
// attributes. In older schemas, the sizes follow from the input tensors: a tensor is a list [id,
// storage, offset, elements, bytes per element, device], and the other inputs of a call are
//
//     sequence number, group (name, or name and description), root or peer, name of the collective,
//     …

#include "core/formats/pytorch_trace.h"

#include <algorithm>
#include <optional>

#include "core/formats/decimal.h"
#include "core/formats/json_stream.h"

namespace tutti::core {
namespace {

constexpr std::size_t kLongestCallText = 256;
constexpr std::int64_t kMaxCallElements = std::int64_t{1} << 46;
constexpr std::int64_t kMaxCallGroup = std::int64_t{1} << 24;
constexpr std::size_t kMaxCallGroups = 4096;

class PytorchReader {
 public:
  PytorchReader(ByteInput& input, const std::string& name,
                const std::function<Expected<void>(const PytorchCall&)>& take, RecordCounts& counts)
      : in_(input, name), name_(name), take_(take), counts_(counts) {}

  Expected<PytorchTrace> read() {
    if (in_.peek() == JsonStream::Kind::kArray) return read_param();
    bool found = false;
    if (in_.enter_object()) {
      while (const auto key = in_.next_key()) {
        if (*key == "schema") {
          trace_.schema = in_.scalar().substr(0, kLongestCallText);
        } else if (*key == "nodes" && in_.peek() == JsonStream::Kind::kArray) {
          found = true;
          in_.enter_array();
          while (in_.next_item()) {
            if (auto done = read_node(); !done) return tl::make_unexpected(done.error());
          }
        } else {
          in_.skip();
        }
      }
    }
    if (in_.failed()) return tl::make_unexpected(in_.error());
    if (!found || trace_.schema.empty())
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing, "nodes"},
          "this is not an execution trace of PyTorch: expected {\"schema\": …, \"nodes\": […]}",
          {name_, 0, 0}));
    return std::move(trace_);
  }

 private:
  /// Reads PARAM's own list of calls.
  Expected<PytorchTrace> read_param() {
    in_.enter_array();
    std::int64_t rows = 0;
    while (in_.next_item()) {
      if (!in_.enter_object()) continue;
      read_param_row();
      if (in_.failed()) break;
      const bool is_wait = call_.name == "wait" || call_.name == "init";
      if (call_.name.empty() || is_wait) {
        counts_.ignore(is_wait ? "wait or init" : "row without a call");
        continue;
      }
      ++rows;
      if (auto taken = take_(call_); !taken) return tl::make_unexpected(taken.error());
    }
    if (in_.failed()) return tl::make_unexpected(in_.error());
    if (rows == 0)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing, "comms"},
          "this JSON list has no collective: in PARAM's format, a list of calls, the field "
          "\"comms\" of a call names its collective",
          {name_, 0, 0}));
    trace_.schema = "PARAM";
    return std::move(trace_);
  }

  void read_param_row() {
    call_ = {};
    std::int64_t world = -1, source = -1, destination = -1;
    while (const auto key = in_.next_key()) {
      if (*key == "comms")
        call_.name = in_.scalar().substr(0, kLongestCallText);
      else if (*key == "id")
        call_.id = number(kMaxCallElements);
      else if (*key == "inMsgSize" || *key == "in_msg_size")
        call_.in_elements = number(kMaxCallElements);
      else if (*key == "outMsgSize" || *key == "out_msg_size")
        call_.out_elements = number(kMaxCallElements);
      else if (*key == "dtype")
        call_.type = in_.scalar().substr(0, kLongestCallText);
      else if (*key == "pgId" || *key == "pg_id")
        call_.group.name = in_.scalar().substr(0, kLongestCallText);
      else if (*key == "pgDesc")
        call_.group.description = in_.scalar().substr(0, kLongestCallText);
      else if (*key == "worldSize" || *key == "world_size")
        world = number(kMaxCallGroup);
      else if (*key == "root")
        call_.root = number(kMaxCallGroup);
      else if (*key == "src_rank")
        source = number(kMaxCallGroup);
      else if (*key == "dst_rank")
        destination = number(kMaxCallGroup);
      else if (*key == "inSplit" || *key == "in_split" || *key == "outSplit" || *key == "out_split")
        read_splits();
      else if (*key == "groupRanks") {
        if (!in_.enter_array()) continue;
        while (in_.next_item()) {
          const std::int64_t rank = number(kMaxCallGroup);
          if (rank >= 0) call_.group.ranks.push_back(rank);
        }
      } else {
        in_.skip();
      }
    }
    call_.group.size = call_.group.ranks.empty() ? world : std::ssize(call_.group.ranks);
    if (call_.name.starts_with("send"))
      call_.root = destination;
    else if (call_.name.starts_with("recv"))
      call_.root = source;
    else if (call_.root < 0)
      call_.root = 0;
  }

  std::int64_t number(std::int64_t most) {
    const auto value = scaled_decimal(in_.scalar(), 0);
    return value && *value >= 0 && *value <= most ? *value : -1;
  }

  Expected<void> read_node() {
    std::string name;
    call_ = {};
    positional_ = {};
    bool is_call = false, is_groups = false;
    if (!in_.enter_object()) return {};
    while (const auto key = in_.next_key()) {
      if (*key == "name") {
        name = in_.scalar().substr(0, kLongestCallText);
        is_call = name == "record_param_comms";
        is_groups = name.starts_with("## process_group:init");
      } else if (*key == "id") {
        call_.id = number(kMaxCallElements);
      } else if (*key == "inputs" && (is_call || is_groups)) {
        // Before schema 1.0.2, the inputs are a list of values.
        if (is_call && in_.peek() == JsonStream::Kind::kArray) {
          read_values();
          continue;
        }
        if (!in_.enter_object()) continue;
        while (const auto part = in_.next_key()) {
          if (*part == "values" && is_call)
            read_values();
          else if (*part == "values")
            read_groups();
          else
            in_.skip();
        }
      } else if (*key == "attrs" && is_call) {
        read_attributes();
      } else {
        in_.skip();
      }
    }
    if (in_.failed()) return {};
    if (is_groups) {
      counts_.use("definition of process groups");
      return {};
    }
    if (!is_call) {
      counts_.ignore(name.starts_with("nccl:") ? "operator nccl:… of a call" : "operator");
      return {};
    }
    if (call_.name.empty()) call_.name = positional_.name;
    if (call_.group.name.empty()) call_.group.name = positional_.group;
    call_.root = positional_.root;
    call_.in_bytes = positional_.bytes;
    if (call_.name.empty()) {
      counts_.incomplete("call without the name of its collective");
      return {};
    }
    if (call_.name == "wait" || call_.name == "init") {
      counts_.ignore("wait or init");
      return {};
    }
    return take_(call_);
  }

  void read_attributes() {
    if (!in_.enter_array()) return;
    while (in_.next_item()) {
      std::string name;
      if (!in_.enter_object()) continue;
      while (const auto key = in_.next_key()) {
        if (*key == "name") {
          name = in_.scalar().substr(0, kLongestCallText);
        } else if (*key == "value") {
          take_attribute(name);
        } else {
          in_.skip();
        }
      }
    }
    // The ranks stay a range: a list of up to 2^24 ranks for each call would exhaust memory.
    PytorchGroup& group = call_.group;
    if (rank_start_ >= 0 && rank_stride_ > 0 && group.size > 0) {
      group.first_rank = rank_start_;
      group.stride = rank_stride_;
    }
    rank_start_ = rank_stride_ = -1;
  }

  /// Sets has_splits if the value is a list of sizes, or a list as text, that is not empty.
  void read_splits() {
    if (in_.peek() != JsonStream::Kind::kArray) {
      const std::string_view text = in_.scalar();
      call_.has_splits |= text.find_first_of("0123456789") != std::string_view::npos;
      return;
    }
    in_.enter_array();
    while (in_.next_item()) {
      call_.has_splits = true;
      in_.skip();
    }
  }

  void take_attribute(std::string_view name) {
    const auto text_into = [this](std::string& to) {
      to = in_.scalar().substr(0, kLongestCallText);
    };
    if (name == "collective_name")
      text_into(call_.name);
    else if (name == "dtype")
      text_into(call_.type);
    else if (name == "pg_name")
      text_into(call_.group.name);
    else if (name == "pg_desc")
      text_into(call_.group.description);
    else if (name == "pg_size")
      call_.group.size = number(kMaxCallGroup);
    else if (name == "in_msg_nelems")
      call_.in_elements = number(kMaxCallElements);
    else if (name == "out_msg_nelems")
      call_.out_elements = number(kMaxCallElements);
    else if (name == "global_rank_start")
      rank_start_ = number(kMaxCallGroup);
    else if (name == "global_rank_stride")
      rank_stride_ = number(kMaxCallGroup);
    else if (name == "in_split_size" || name == "out_split_size")
      read_splits();
    else
      in_.skip();
  }

  /// Reads the inputs of a call by position.
  void read_values() {
    if (!in_.enter_array()) return;
    std::int64_t last_number = -1;
    while (in_.next_item()) {
      switch (in_.peek()) {
        case JsonStream::Kind::kArray: read_list(0); break;
        case JsonStream::Kind::kNumber: last_number = number(kMaxCallElements); break;
        case JsonStream::Kind::kString: {
          const std::string text(in_.scalar().substr(0, kLongestCallText));
          const bool is_number = !text.empty() && scaled_decimal(text, 0).has_value();
          if (is_number && positional_.group.empty()) {
            positional_.group = text;
          } else if (!is_number && positional_.name.empty()) {
            positional_.name = text;
            positional_.root = last_number;
          }
          break;
        }
        default: in_.skip();
      }
    }
  }

  /// Reads a tensor, a list of tensors, or the name and description of a group.
  void read_list(int depth) {
    constexpr int kDeepestList = 4;
    if (depth > kDeepestList) return in_.skip();
    in_.enter_array();
    std::vector<std::int64_t> numbers;
    int texts = 0;
    while (in_.next_item()) {
      switch (in_.peek()) {
        case JsonStream::Kind::kArray: read_list(depth + 1); break;
        case JsonStream::Kind::kNumber: numbers.push_back(number(kMaxCallElements)); break;
        case JsonStream::Kind::kString: {
          const std::string_view text = in_.scalar();
          if (texts++ == 0 && numbers.empty() && depth == 0 && positional_.name.empty())
            positional_.group = text.substr(0, kLongestCallText);
          break;
        }
        default: in_.skip();
      }
    }
    constexpr std::size_t kElements = 3, kElementBytes = 4;
    const bool is_tensor = numbers.size() > kElementBytes && numbers[kElements] >= 0 &&
                           numbers[kElementBytes] > 0 && numbers[kElementBytes] <= 16;
    if (!is_tensor || positional_.has_name()) return;
    const std::int64_t bytes = numbers[kElements] * numbers[kElementBytes];
    positional_.bytes =
        std::min(std::max<std::int64_t>(positional_.bytes, 0) + bytes, kMaxCallElements);
  }

  /// Reads the groups, which are JSON inside a string.
  void read_groups() {
    if (!in_.enter_array()) return;
    while (in_.next_item()) {
      if (in_.peek() != JsonStream::Kind::kString) {
        in_.skip();
        continue;
      }
      const std::string text(in_.scalar());
      const auto input = byte_input_of(text, name_);
      JsonStream groups(*input, name_, 4096);
      if (groups.peek() != JsonStream::Kind::kArray || !groups.enter_array()) continue;
      while (groups.next_item() && trace_.groups.size() < kMaxCallGroups) read_group(groups);
      if (groups.failed()) counts_.incomplete("damaged definition of process groups");
    }
  }

  void read_group(JsonStream& in) {
    PytorchGroup group;
    if (!in.enter_object()) return;
    while (const auto key = in.next_key()) {
      if (*key == "pg_name") {
        group.name = in.scalar().substr(0, kLongestCallText);
      } else if (*key == "pg_desc") {
        group.description = in.scalar().substr(0, kLongestCallText);
      } else if (*key == "group_size") {
        const auto size = scaled_decimal(in.scalar(), 0);
        if (size && *size > 0 && *size <= kMaxCallGroup) group.size = *size;
      } else if (*key == "ranks") {
        if (!in.enter_array()) continue;
        while (in.next_item()) {
          const auto rank = scaled_decimal(in.scalar(), 0);
          if (rank && *rank >= 0 && *rank < kMaxCallGroup) group.ranks.push_back(*rank);
        }
      } else {
        in.skip();
      }
    }
    if (!in.failed()) trace_.groups.push_back(std::move(group));
  }

  /// The inputs of a call that were recognised by their positions.
  struct Positional {
    std::string name, group;
    std::int64_t root = -1, bytes = -1;
    [[nodiscard]] bool has_name() const { return !name.empty(); }
  };

  JsonStream in_;
  const std::string& name_;
  const std::function<Expected<void>(const PytorchCall&)>& take_;
  RecordCounts& counts_;
  PytorchTrace trace_;
  PytorchCall call_;
  Positional positional_;
  std::int64_t rank_start_ = -1, rank_stride_ = -1;
};

}  // namespace

bool is_pytorch_trace(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const auto holds = [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  if (first != std::string_view::npos && text[first] == '[')
    return holds("\"comms\"") && (holds("\"inMsgSize\"") || holds("\"in_msg_size\""));
  return first != std::string_view::npos && text[first] == '{' && holds("\"schema\"") &&
         holds("\"nodes\"") && holds("\"rf_id\"");
}

Expected<PytorchTrace> read_pytorch_trace(
    ByteInput& input, const std::string& name,
    const std::function<Expected<void>(const PytorchCall&)>& take, RecordCounts& counts) {
  return PytorchReader(input, name, take, counts).read();
}

}  // namespace tutti::core
