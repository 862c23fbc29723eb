// The programs that write Chakra traces use different types for integer attributes (int32, int64,
// uint64, …), and omit fields that are zero. The reader therefore accepts an attribute of any
// integer type, and does not check the version of the format.

#include "core/formats/chakra.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "core/formats/wire.h"

namespace tutti::core {
namespace {

/// The maximum size of a message. Most messages have a few KiB, but the attributes of the metadata
/// may contain a whole input file.
constexpr std::uint64_t kLongestMessage = std::uint64_t{64} << 20;
/// The limit on times in microseconds. In picoseconds, such times fit into 64 bits.
constexpr std::uint64_t kMaxMicroseconds = std::uint64_t{1} << 42;
constexpr std::size_t kLongestText = 256;

/// The field numbers of a node.
enum NodeField : std::uint32_t {
  kId = 1,
  kName = 2,
  kType = 3,
  kControlDependencies = 4,
  kDataDependencies = 5,
  kStart = 6,
  kDuration = 7,
  kInputs = 8,
  kOutputs = 9,
  kAttribute = 10
};
constexpr std::uint32_t kMetadataVersion = 1, kMetadataAttribute = 2;
constexpr std::uint32_t kAttributeName = 1;
/// The field numbers of the three types of attribute values that Tutti writes.
constexpr std::uint32_t kInt64Arm = 9, kBoolArm = 27, kStringArm = 29;

struct Attribute {
  std::string_view name;
  std::optional<std::int64_t> integer;
  std::string_view text;
  bool has_false_item = false;  ///< true if the value is a list of booleans, at least one of which
                                ///< is false
};

std::int64_t zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

/// True if a list of booleans (field 1 of a message, packed or not) has an item that is false.
bool has_false(std::string_view list) {
  bool found = false;
  for (WireFields fields(list); const auto item = fields.next();) {
    if (item->number != 1) continue;
    if (item->type == 0) found = found || item->value == 0;
    if (item->type == 2) found = found || item->bytes.find('\0') != std::string_view::npos;
  }
  return found;
}

std::optional<Attribute> attribute_of(std::string_view message) {
  Attribute attribute;
  WireFields fields(message);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case kAttributeName: attribute.name = field->bytes; break;
      case 3:
      case 5: {
        const double real = field->real();
        if (real > -9e15 && real < 9e15) attribute.integer = static_cast<std::int64_t>(real);
        break;
      }
      case 15:
      case 17: attribute.integer = zigzag(field->value); break;
      case 7:
      case 9:
      case 11:
      case 13:
      case 21:
      case 25:
      case kBoolArm: attribute.integer = static_cast<std::int64_t>(field->value); break;
      case 19:
      case 23:  // types with four bytes, of which field 23 is signed
        attribute.integer = field->number == 23
                                ? std::int64_t{static_cast<std::int32_t>(field->value)}
                                : static_cast<std::int64_t>(field->value);
        break;
      case 28: attribute.has_false_item = has_false(field->bytes); break;
      case kStringArm:
      case 31: attribute.text = field->bytes; break;
      default: break;  // a comment, or a list
    }
  }
  if (fields.damaged()) return std::nullopt;
  return attribute;
}

void take_attribute(const Attribute& from, ChakraNode& to) {
  const auto set = [&](std::string_view name, std::int64_t& number) {
    if (from.name == name && from.integer) number = *from.integer;
  };
  set("stream", to.stream);
  set("comm_type", to.collective);
  set("comm_size", to.bytes);
  set("comm_src", to.source);
  set("comm_dst", to.destination);
  set("comm_tag", to.tag);
  set("comm_root", to.root);
  set("root_rank", to.root);
  set("tutti_duration_ps", to.duration_ps);
  set("tutti_compute_bound_ppm", to.compute_bound_ppm);
  set("tutti_elements", to.elements);
  set("tutti_collective", to.key);
  if (from.name == "is_cpu_op" && from.integer) to.on_cpu = *from.integer != 0;
  if (from.name == "pg_name") to.group = from.text.substr(0, kLongestText);
  if (from.name == "tutti_type") to.type_name = from.text.substr(0, kLongestText);
  if (from.name == "involved_dim") to.has_dimensions = from.has_false_item;
}

bool take_ids(const WireFields::Field& field, std::vector<std::uint64_t>& to) {
  if (field.type == 0) return to.push_back(field.value), true;
  std::string_view packed = field.bytes;
  while (!packed.empty()) {
    const auto id = WireFields::take_varint(packed);
    if (!id) return false;
    to.push_back(*id);
  }
  return field.type == 2;
}

/// Reads a node from a message. Returns a description of the damage if the message is damaged, and
/// otherwise an empty text.
std::string read_node(std::string_view message, ChakraNode& node) {
  node = {};
  WireFields fields(message);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case kId: node.id = field->value; break;
      case kName: node.name = field->bytes.substr(0, kLongestText); break;
      case kType:
        if (field->value > 7) return fmt::format("a node of type {}", field->value);
        node.type = static_cast<ChakraNode::Type>(field->value);
        break;
      case kControlDependencies:
        if (!take_ids(*field, node.control_dependencies)) return "a damaged list of dependencies";
        break;
      case kDataDependencies:
        if (!take_ids(*field, node.data_dependencies)) return "a damaged list of dependencies";
        break;
      case kDuration:
        if (field->value > kMaxMicroseconds)
          return fmt::format("node {} takes {} µs", node.id, field->value);
        node.duration_us = static_cast<std::int64_t>(field->value);
        break;
      case kAttribute: {
        const auto attribute = attribute_of(field->bytes);
        if (!attribute) return fmt::format("a damaged attribute of node {}", node.id);
        take_attribute(*attribute, node);
        break;
      }
      default: break;
    }
  }
  return fields.damaged() ? fmt::format("node {} is damaged", node.id) : "";
}

std::optional<ChakraMetadata> metadata_of(std::string_view message) {
  ChakraMetadata metadata;
  WireFields fields(message);
  while (const auto field = fields.next()) {
    if (field->type != 2) return std::nullopt;
    if (field->number == kMetadataVersion) metadata.version = field->bytes.substr(0, kLongestText);
    if (field->number != kMetadataAttribute) continue;
    const auto attribute = attribute_of(field->bytes);
    if (!attribute) return std::nullopt;
    if (metadata.attributes.size() < 100)
      metadata.attributes[std::string(attribute->name.substr(0, kLongestText))] =
          attribute->text.substr(0, kLongestText);
  }
  if (fields.damaged()) return std::nullopt;
  return metadata;
}

/// Reads messages with their lengths; one message at a time is in memory.
class Messages {
 public:
  Messages(ByteInput& input, const std::string& name) : input_(input), name_(name) {}

  /// Returns the next message, valid until the next call; nothing at the end of the file.
  Expected<std::optional<std::string_view>> next() {
    buffer_.erase(0, used_);
    used_ = 0;
    std::uint64_t size = 0;
    for (std::size_t i = 0;; ++i) {
      if (i == buffer_.size()) {
        auto got = more();
        if (!got) return tl::make_unexpected(got.error());
        if (!*got && i == 0) return std::optional<std::string_view>();
        if (!*got) return fail("the file ends within the length field of a message");
      }
      const auto byte = static_cast<unsigned char>(buffer_[i]);
      size |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
      if (byte < 0x80) {
        used_ = i + 1;
        break;
      }
      if (i == 4) return fail("the length field of a message has more than 5 bytes");
    }
    if (size > kLongestMessage) return fail("a message of {} bytes", size);
    while (buffer_.size() - used_ < size) {
      auto got = more();
      if (!got) return tl::make_unexpected(got.error());
      if (!*got)
        return fail("the file ends within a message: {} bytes were expected, {} remain", size,
                    buffer_.size() - used_);
    }
    const std::string_view message(buffer_.data() + used_, static_cast<std::size_t>(size));
    begin_ = at_ - buffer_.size() + used_;
    used_ += size;
    return std::optional(message);
  }

  template <class... Args>
  tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) const {
    return tl::make_unexpected(Error::request(
        {ProblemCode::kInvalid, "Chakra"},
        fmt::format("{} (at byte {}); the file is not a Chakra execution trace, or is damaged",
                    fmt::format(format, std::forward<Args>(args)...),
                    used_ == 0 ? at_ - buffer_.size() : begin_),
        {name_, 0, 0}));
  }

 private:
  Expected<bool> more() {
    constexpr std::size_t kPiece = std::size_t{256} << 10;
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kPiece);
    const auto got = input_.read(buffer_.data() + had, kPiece);
    if (!got) return tl::make_unexpected(got.error());
    buffer_.resize(had + *got);
    at_ += *got;
    return *got > 0;
  }

  ByteInput& input_;
  const std::string& name_;
  std::string buffer_;
  std::size_t used_ = 0;     ///< number of bytes of the buffer that belong to earlier messages or
                             ///< to the current one
  std::uint64_t at_ = 0;     ///< offset of the buffer's end in the file
  std::uint64_t begin_ = 0;  ///< offset of the current message in the file
};

std::string attribute(std::string_view name, std::uint32_t arm, std::uint64_t value) {
  return WireMessage().text(kAttributeName, name).number(arm, value).bytes();
}
std::string attribute(std::string_view name, std::string_view value) {
  return WireMessage().text(kAttributeName, name).text(kStringArm, value).bytes();
}

void write(std::ostream& out, const WireMessage& message) {
  std::string length;
  WireMessage::put_varint(length, message.bytes().size());
  out << length << message.bytes();
}

}  // namespace

std::string_view to_string(ChakraNode::Type type) {
  switch (type) {
    case ChakraNode::Type::kInvalid: return "INVALID_NODE";
    case ChakraNode::Type::kMetadata: return "METADATA_NODE";
    case ChakraNode::Type::kMemoryLoad: return "MEM_LOAD_NODE";
    case ChakraNode::Type::kMemoryStore: return "MEM_STORE_NODE";
    case ChakraNode::Type::kCompute: return "COMP_NODE";
    case ChakraNode::Type::kSend: return "COMM_SEND_NODE";
    case ChakraNode::Type::kReceive: return "COMM_RECV_NODE";
    case ChakraNode::Type::kCollective: break;
  }
  return "COMM_COLL_NODE";
}

bool is_chakra(std::string_view first_bytes) {
  const auto size = WireFields::take_varint(first_bytes);
  if (!size || *size < 2 || *size > kLongestMessage) return false;
  const std::string_view message = first_bytes.substr(0, static_cast<std::size_t>(*size));
  // A trace begins with its metadata, whose first field is a version ("1.0.0") or an attribute with
  // a name.
  std::string_view rest = message;
  const auto key = WireFields::take_varint(rest);
  const auto length = WireFields::take_varint(rest);
  if (!key || !length || *length == 0 || *length > *size) return false;
  if (*key == (kMetadataVersion << 3 | 2))
    return *length <= 32 && !rest.empty() && rest.front() >= '0' && rest.front() <= '9' &&
           rest.substr(0, static_cast<std::size_t>(*length)).find('.') != std::string_view::npos;
  return *key == (kMetadataAttribute << 3 | 2) && rest.size() > 2 && rest.front() == '\n' &&
         rest.substr(2).starts_with("schema");
}

Expected<ChakraMetadata> read_chakra(ByteInput& input, const std::string& name,
                                     const std::function<Expected<void>(const ChakraNode&)>& take,
                                     RecordCounts& counts) {
  Messages messages(input, name);
  auto first = messages.next();
  if (!first) return tl::make_unexpected(first.error());
  if (!*first) return messages.fail("the file is empty");
  auto metadata = metadata_of(**first);
  if (!metadata) return messages.fail("the first message is not GlobalMetadata");
  ChakraNode node;
  while (true) {
    const auto message = messages.next();
    if (!message) return tl::make_unexpected(message.error());
    if (!*message) break;
    if (const std::string problem = read_node(**message, node); !problem.empty())
      return messages.fail("{}", problem);
    if (node.type == ChakraNode::Type::kInvalid) {
      counts.unknown(to_string(node.type));
    } else {
      counts.use(to_string(node.type));
    }
    if (auto taken = take(node); !taken) return tl::make_unexpected(taken.error());
  }
  metadata->has_call_stack = metadata->attributes.contains("pid");
  return std::move(*metadata);
}

ChakraWriter::ChakraWriter(std::ostream& out, const ChakraMetadata& metadata) : out_(out) {
  WireMessage message;
  message.text(kMetadataVersion, metadata.version);
  for (const auto& [name, value] : metadata.attributes)
    message.text(kMetadataAttribute, attribute(name, value));
  write(out_, message);
}

void ChakraWriter::add(const ChakraNode& node) {
  WireMessage message;
  message.number(kId, node.id)
      .text(kName, node.name)
      .number(kType, static_cast<std::uint64_t>(node.type));
  const auto ids = [&](std::uint32_t field, const std::vector<std::uint64_t>& all) {
    if (all.empty()) return;
    std::string packed;
    for (const std::uint64_t id : all) WireMessage::put_varint(packed, id);
    message.text(field, packed);
  };
  ids(kControlDependencies, node.control_dependencies);
  ids(kDataDependencies, node.data_dependencies);
  if (node.duration_us > 0) message.number(kDuration, static_cast<std::uint64_t>(node.duration_us));
  const auto integer = [&](std::string_view name, std::int64_t value) {
    message.text(kAttribute, attribute(name, kInt64Arm, static_cast<std::uint64_t>(value)));
  };
  const auto text = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) message.text(kAttribute, attribute(name, value));
  };
  message.text(kAttribute, attribute("is_cpu_op", kBoolArm, node.on_cpu ? 1 : 0));
  if (node.stream >= 0) integer("stream", node.stream);
  if (node.duration_ps >= 0) integer("tutti_duration_ps", node.duration_ps);
  if (node.compute_bound_ppm >= 0) integer("tutti_compute_bound_ppm", node.compute_bound_ppm);
  switch (node.type) {
    case ChakraNode::Type::kCollective:
      integer("comm_type", node.collective);
      integer("comm_size", node.bytes);
      if (node.root != 0) integer("root_rank", node.root);
      text("pg_name", node.group);
      text("tutti_type", node.type_name);
      if (node.elements >= 0) integer("tutti_elements", node.elements);
      if (node.key >= 0) integer("tutti_collective", node.key);
      break;
    case ChakraNode::Type::kSend:
    case ChakraNode::Type::kReceive:
      integer("comm_size", node.bytes);
      integer("comm_src", node.source);
      integer("comm_dst", node.destination);
      integer("comm_tag", node.tag);
      break;
    default: break;
  }
  write(out_, message);
}

}  // namespace tutti::core
