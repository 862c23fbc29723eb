// The JSON form has one list of nodes. Such files come from a converter of PyTorch's traces, so
// their optional key ctrlDeps is the stack of calls, which is not a dependency. Nodes may be of any
// size, because the lists of dependencies may be long, but only one node is in memory at a time.

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/formats/chakra.h"
#include "core/formats/decimal.h"
#include "core/formats/json_stream.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kMaxNodeMicroseconds = std::int64_t{1} << 42;
constexpr std::size_t kLongestNodeText = 256;

class ChakraJson {
 public:
  ChakraJson(ByteInput& input, const std::string& name,
             const std::function<Expected<void>(const ChakraNode&)>& take, RecordCounts& counts)
      : in_(input, name), name_(name), take_(take), counts_(counts) {}

  Expected<ChakraMetadata> read() {
    bool found = false;
    if (in_.enter_object()) {
      while (const auto key = in_.next_key()) {
        if (*key == "workload_graph" && in_.peek() == JsonStream::Kind::kArray) {
          found = true;
          if (auto done = read_nodes(); !done) return tl::make_unexpected(done.error());
        } else if (*key == "version" || *key == "schema") {
          metadata_.version = in_.scalar().substr(0, kLongestNodeText);
        } else {
          in_.skip();
        }
      }
    }
    if (in_.failed()) return tl::make_unexpected(in_.error());
    if (!found)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing, "workload_graph"},
          "this is not a Chakra trace in the JSON form: expected {\"workload_graph\": "
          "[…]}",
          {name_, 0, 0}));
    return std::move(metadata_);
  }

 private:
  Expected<void> read_nodes() {
    in_.enter_array();
    while (in_.next_item()) {
      read_node();
      if (in_.failed()) break;
      if (node_.type == ChakraNode::Type::kInvalid)
        counts_.unknown(to_string(node_.type));
      else
        counts_.use(to_string(node_.type));
      if (auto taken = take_(node_); !taken) return taken;
    }
    return {};
  }

  void wrong(const std::string& text) { in_.fail({ProblemCode::kInvalid, "Chakra"}, text); }

  /// True if a number has no fraction: "7", "7.0" and "7e3", but not "0.9".
  static bool is_whole(std::string_view number) {
    if (number.find_first_of(".eE") == std::string_view::npos) return true;
    const auto value = number_of(std::string(number));
    return value && std::trunc(*value) == *value;
  }

  std::int64_t whole(std::string_view key, std::int64_t least, std::int64_t most) {
    const std::string name(key);
    const std::string_view text = in_.scalar();
    if (in_.failed()) return least;
    const auto value = scaled_decimal(text, 0);
    if (value && *value >= least && *value <= most && is_whole(text)) return *value;
    wrong(fmt::format("{}: expected a whole number from {} to {}, got \"{}\"", name, least, most,
                      text.substr(0, 40)));
    return least;
  }

  void read_ids(std::vector<std::uint64_t>& to) {
    if (!in_.enter_array()) return wrong("expected a list of node ids");
    while (in_.next_item()) {
      const std::int64_t id = whole("node id", 0, std::numeric_limits<std::int64_t>::max());
      if (in_.failed()) return;
      to.push_back(static_cast<std::uint64_t>(id));
    }
  }

  /// Reads a list of flags: true for each dimension of the network that a collective uses.
  void read_dimensions() {
    if (!in_.enter_array()) return wrong("involved_dim: expected a list of true and false");
    while (in_.next_item()) {
      const std::string_view flag = in_.scalar();
      node_.has_dimensions |= flag == "false" || flag == "0";
    }
  }

  void read_node() {
    constexpr std::int64_t kMaxValue = std::numeric_limits<std::int64_t>::max() / 2;
    node_ = {};
    bool has_id = false, has_type = false;
    if (!in_.enter_object()) return wrong("expected a node, which is an object");
    while (const auto next = in_.next_key()) {
      const std::string key(*next);
      if (key == "Id") {
        node_.id = static_cast<std::uint64_t>(whole(key, 0, kMaxValue));
        has_id = true;
      } else if (key == "Name") {
        node_.name = in_.scalar().substr(0, kLongestNodeText);
      } else if (key == "NodeType") {
        node_.type = static_cast<ChakraNode::Type>(whole(key, 0, 7));
        has_type = true;
      } else if (key == "data_deps") {
        read_ids(node_.data_dependencies);
      } else if (key == "ctrlDeps" || key == "ctrl_deps") {
        read_ids(node_.control_dependencies);
        metadata_.has_call_stack = true;
      } else if (key == "runtime") {
        node_.duration_us = whole(key, 0, kMaxNodeMicroseconds);
      } else if (key == "is_cpu_op") {
        const std::string_view value = in_.scalar();
        node_.on_cpu = value != "false" && value != "0";
      } else if (key == "stream") {
        node_.stream = whole(key, -1, std::numeric_limits<std::int32_t>::max());
      } else if (key == "comm_type") {
        node_.collective = whole(key, 0, 9);
      } else if (key == "comm_size") {
        node_.bytes = whole(key, 0, kMaxValue);
      } else if (key == "comm_src") {
        node_.source = whole(key, -1, kMaxValue);
      } else if (key == "comm_dst") {
        node_.destination = whole(key, -1, kMaxValue);
      } else if (key == "comm_tag") {
        node_.tag = whole(key, -1, kMaxValue);
      } else if (key == "root_rank" || key == "comm_root") {
        node_.root = whole(key, 0, kMaxValue);
      } else if (key == "involved_dim") {
        read_dimensions();
      } else if (key == "pg_name") {
        node_.group = in_.scalar().substr(0, kLongestNodeText);
      } else {
        // tensor_size and comm_priority have no effect on a trace with durations.
        in_.skip();
      }
      if (in_.failed()) return;
    }
    if (in_.failed()) return;
    if (!has_id || !has_type) wrong(has_id ? "the node has no NodeType" : "the node has no Id");
  }

  JsonStream in_;
  const std::string& name_;
  const std::function<Expected<void>(const ChakraNode&)>& take_;
  RecordCounts& counts_;
  ChakraMetadata metadata_;
  ChakraNode node_;
};

}  // namespace

bool is_chakra_json(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         text.find("\"workload_graph\"") != std::string_view::npos;
}

Expected<ChakraMetadata> read_chakra_json(
    ByteInput& input, const std::string& name,
    const std::function<Expected<void>(const ChakraNode&)>& take, RecordCounts& counts) {
  return ChakraJson(input, name, take, counts).read();
}

}  // namespace tutti::core
