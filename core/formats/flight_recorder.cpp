#include "core/formats/flight_recorder.h"

#include <cmath>

#include "core/base/number.h"
#include "core/formats/plain_value.h"

namespace tutti::core {
namespace {

std::vector<std::int64_t> flight_ranks(const PlainValue* ranks) {
  std::vector<std::int64_t> made;
  if (ranks == nullptr) return made;
  for (const PlainValue* item : ranks->items) {
    if (item->kind == PlainValue::Kind::kInteger) made.push_back(item->integer);
  }
  // The ranks are a list in the form of a text, such as "[0, 1]".
  std::string_view text = ranks->text;
  while (!text.empty()) {
    const std::size_t begin = text.find_first_of("0123456789");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto rank = whole_number<std::int64_t>(text.substr(0, end));
    if (!rank) return {};
    made.push_back(*rank);
    text.remove_prefix(end);
  }
  return made;
}

/// Returns the total number of elements of tensors with the given shapes, such as [[64, 3], [64]].
/// Returns -1 if there are no shapes, or if an item is not a shape.
std::int64_t elements_of_shapes(const PlainValue* shapes) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 50;
  if (shapes == nullptr || shapes->items.empty()) return -1;
  std::int64_t sum = 0;
  for (const PlainValue* shape : shapes->items) {
    if (shape->kind != PlainValue::Kind::kList) return -1;
    std::int64_t elements = 1;
    for (const PlainValue* side : shape->items) {
      if (side->kind != PlainValue::Kind::kInteger || side->integer < 0) return -1;
      if (side->integer > 0 && elements > kMaxElements / side->integer) return -1;
      elements *= side->integer;
    }
    sum += elements;
    if (sum > kMaxElements) return -1;
  }
  return sum;
}

FlightEntry entry_of(const PlainValue& value) {
  FlightEntry e;
  e.record = value.number("record_id");
  if (const PlainValue* group = value.field("process_group");
      group != nullptr && group->items.size() == 2) {
    e.group_name = group->items[0]->text;
    e.group_description = group->items[1]->text;
  } else {
    e.group_name = value.words("pg_name");
    if (e.group_name.empty() && value.number("pg_id") >= 0)
      e.group_name = std::to_string(value.number("pg_id"));
  }
  e.collective_sequence = value.number("collective_seq_id", value.number("seq_id"));
  e.p2p_sequence = value.number("p2p_seq_id");
  e.name = value.words("profiling_name").substr(0, 128);
  e.state = value.words("state").substr(0, 32);
  e.is_point_to_point = value.number("is_p2p", 0) != 0;
  constexpr std::int64_t kLatest = 3'000'000'000'000'000'000;
  const std::int64_t created = value.number("time_created_ns");
  if (created >= 0 && created <= kLatest) e.created_ns = created;
  const std::int64_t created_us = value.number("time_created_us");  // PyTorch 2.2
  if (created < 0 && created_us >= 0 && created_us <= kLatest / 1000)
    e.created_ns = created_us * 1000;
  if (const PlainValue* ms = value.field("duration_ms")) {
    const double duration = ms->kind == PlainValue::Kind::kReal ? ms->real
                            : ms->kind == PlainValue::Kind::kInteger
                                ? static_cast<double>(ms->integer)
                                : -1;
    if (std::isfinite(duration) && duration >= 0 && duration < 1e10)
      e.duration_ns = static_cast<std::int64_t>(duration * 1e6);
  }
  e.input_elements = elements_of_shapes(value.field("input_sizes"));
  if (e.input_elements < 0) e.input_elements = elements_of_shapes(value.field("sizes"));
  e.output_elements = elements_of_shapes(value.field("output_sizes"));
  for (const char* types : {"input_dtypes", "output_dtypes"}) {
    const PlainValue* list = value.field(types);
    if (e.type.empty() && list != nullptr && !list->items.empty())
      e.type = list->items.front()->text.substr(0, 64);
  }
  return e;
}

}  // namespace

Expected<FlightHeader> read_flight_recorder(ByteInput& input, const std::string& name,
                                            const std::function<void(const FlightHeader&)>& begin,
                                            const std::function<void(const FlightEntry&)>& take,
                                            RecordCounts& counts) {
  const auto document = read_plain_document(input, name);
  if (!document) return tl::make_unexpected(document.error());
  const PlainValue& root = *document->root;
  // The dump of PyTorch 2.2 is a list of entries, without a version and without process groups.
  const bool is_list = root.kind == PlainValue::Kind::kList && !root.items.empty() &&
                       root.items.front()->field("profiling_name") != nullptr;
  const PlainValue* entries = is_list ? &root : root.field("entries");
  if (entries == nullptr || entries->kind != PlainValue::Kind::kList)
    return tl::make_unexpected(Error::request(
        {ProblemCode::kMissing, "entries"},
        "this is not a dump of PyTorch's Flight Recorder: it has no entries", {name, 0, 0}));
  FlightHeader header;
  header.version = root.words("version");
  header.nccl_version = root.words("comm_lib_version");
  if (header.nccl_version.empty()) header.nccl_version = root.words("nccl_version");
  if (header.nccl_version.starts_with("NCCL ")) header.nccl_version.erase(0, 5);
  if (const PlainValue* groups = root.field("pg_config")) {
    for (const auto& [id, group] : groups->fields) {
      FlightHeader::Group made{std::string(group->words("name")), std::string(group->words("desc")),
                               flight_ranks(group->field("ranks"))};
      if (made.name.empty()) made.name = id;
      constexpr std::size_t kMaxGroups = 4096;
      if (header.groups.size() < kMaxGroups) header.groups.push_back(std::move(made));
    }
  }
  header.entries = static_cast<std::int64_t>(entries->items.size());
  begin(header);
  for (const PlainValue* entry : entries->items) {
    if (entry->kind != PlainValue::Kind::kDict) {
      counts.unknown("an entry that is not an object");
      continue;
    }
    take(entry_of(*entry));
  }
  return header;
}

}  // namespace tutti::core
