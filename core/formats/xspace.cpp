// The message of a host may be larger than memory, so it is not parsed as a whole. The fields of
// XSpace, XPlane and XLine are read one by one from the stream; only their leaves (an event, the
// name of a kernel, the HLO of a module) are in memory as bytes:
//
//     XSpace  1 planes, 2 errors, 3 warnings, 4 hostnames
//     XPlane  2 name, 3 lines, 4 and 5 names of events and of statistics by id, 6 statistics
//     XLine   2 name, 3 timestamp_ns, 4 events, 11 display_name
//     XEvent  1 metadata_id, 2 offset_ps, 3 duration_ps, 4 statistics
//     XStat   1 metadata_id, 2 double, 3 uint64, 4 int64, 5 string, 6 bytes,
//             7 a reference: the id of the statistic whose name is the value
//
// Names follow events, so the events of a plane are kept as numbers until the plane ends. The HLO
// of XLA's modules is a statistic of the plane /host:metadata. It has the sizes of collectives.

#include "core/formats/xspace.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/formats/wire.h"
#include "core/formats/xla_shape.h"
#include "core/formats/xspace_stream.h"

namespace tutti::core {
namespace {

constexpr std::size_t kMaxXspaceEvents = 50'000'000;
constexpr std::size_t kMaxXspaceNames = 4'000'000;

class XspaceReader {
 public:
  XspaceReader(ByteInput& input, const std::string& name, const TakeXspace& take,
               RecordCounts& counts, const std::function<void(double)>& progress)
      : in_(input, name), take_(take), counts_(counts), progress_(progress) {}

  Expected<XspaceHeader> read() {
    bool found = false;
    while (const auto field = in_.next(XspaceStream::kToTheEnd)) {
      if (field->number == 1 && field->type == 2) {
        found = true;
        read_plane(in_.end_of(*field));
        if (progress_) progress_(in_.share());
      } else if ((field->number == 2 || field->number == 3) && header_.errors.size() < 20) {
        header_.errors.emplace_back(in_.content(*field).substr(0, 300));
      } else if (field->number == 4 && header_.host.empty()) {
        header_.host = in_.content(*field).substr(0, 256);
      } else {
        in_.skip(*field);
      }
    }
    if (in_.error()) return tl::make_unexpected(*in_.error());
    if (!found) {
      in_.fail("the file has no plane (XPlane), so it contains no profile of TensorFlow or JAX");
      return tl::make_unexpected(*in_.error());
    }
    return std::move(header_);
  }

 private:
  struct Stat {
    std::uint64_t id = 0;
    std::int64_t number = -1;
    std::uint64_t reference = 0;  ///< 0: none
    std::int32_t text = -1;       ///< index into texts_
  };
  struct Event {
    std::uint64_t name = 0;
    std::int64_t start_ns = 0, duration_ns = 0;
    std::uint32_t line = 0, first_stat = 0;
    std::uint16_t stats = 0;
  };
  enum class Plane : std::uint8_t { kGpu, kHost, kMetadata, kOther };

  void read_plane(std::uint64_t end) {
    plane_.clear();
    lines_.clear();
    events_.clear();
    stats_.clear();
    texts_.clear();
    event_names_.clear();
    stat_names_.clear();
    plane_stats_.clear();
    std::int64_t without_stats = 0;
    while (const auto field = in_.next(end)) {
      switch (field->number) {
        case 2: plane_ = in_.content(*field).substr(0, 256); break;
        case 3: read_line(in_.end_of(*field), without_stats); break;
        case 4: read_event_name(in_.content(*field)); break;
        case 5: read_stat_name(in_.content(*field)); break;
        case 6:
          if (const auto stat = stat_of(in_.content(*field))) plane_stats_.push_back(*stat);
          break;
        default: in_.skip(*field);
      }
    }
    if (in_.error()) return;
    if (without_stats > 0) counts_.ignore("event of the host without statistics", without_stats);
    end_plane();
  }

  [[nodiscard]] Plane kind() const {
    if (plane_.starts_with("/device:GPU:")) return Plane::kGpu;
    if (plane_.starts_with("/host:CPU")) return Plane::kHost;
    if (plane_ == "/host:metadata") return Plane::kMetadata;
    return Plane::kOther;
  }

  void read_line(std::uint64_t end, std::int64_t& without_stats) {
    const auto index = static_cast<std::uint32_t>(lines_.size());
    const std::size_t first = events_.size();
    lines_.emplace_back();
    std::int64_t timestamp_ns = 0;
    while (const auto field = in_.next(end)) {
      if (field->number == 2 || field->number == 11) {
        const std::string_view name = in_.content(*field);
        if (field->number == 2 || lines_.back().empty()) lines_.back() = name.substr(0, 256);
      } else if (field->number == 3 && field->type == 0) {
        timestamp_ns = static_cast<std::int64_t>(
            std::min<std::uint64_t>(field->value, 3'000'000'000'000'000'000));
      } else if (field->number == 4 && field->type == 2) {
        read_event(in_.content(*field), index, without_stats);
      } else {
        in_.skip(*field);
      }
    }
    for (std::size_t e = first; e < events_.size(); ++e) events_[e].start_ns += timestamp_ns;
  }

  void read_event(std::string_view message, std::uint32_t line, std::int64_t& without_stats) {
    if (events_.size() >= kMaxXspaceEvents) return too_many();
    constexpr std::uint64_t kLongestPs = std::uint64_t{1} << 62;
    Event event;
    event.line = line;
    event.first_stat = static_cast<std::uint32_t>(stats_.size());
    WireFields fields(message);
    while (const auto field = fields.next()) {
      switch (field->number) {
        case 1: event.name = field->value; break;
        case 2:
          event.start_ns = static_cast<std::int64_t>(std::min(field->value, kLongestPs) / 1000);
          break;
        case 3:
          event.duration_ns = static_cast<std::int64_t>(std::min(field->value, kLongestPs) / 1000);
          break;
        case 4:
          if (const auto stat = stat_of(field->bytes); stat && event.stats < 64) {
            stats_.push_back(*stat);
            ++event.stats;
          }
          break;
        default: break;
      }
    }
    if (fields.damaged()) {
      in_.fail("a damaged event");
      return;
    }
    // Most events of the host are calls of Python functions, which have no statistics.
    if (event.stats == 0 && !plane_.starts_with("/device:")) {
      ++without_stats;
      return;
    }
    events_.push_back(event);
  }

  void too_many() {
    in_.fail(
        fmt::format("a plane with more than {} events; profile fewer steps", kMaxXspaceEvents));
  }

  std::optional<Stat> stat_of(std::string_view message) {
    Stat stat;
    WireFields fields(message);
    while (const auto field = fields.next()) {
      switch (field->number) {
        case 1: stat.id = field->value; break;
        case 3:
        case 4: stat.number = static_cast<std::int64_t>(field->value); break;
        case 5:
        case 6:
          if (texts_.size() >= kMaxXspaceNames) break;
          stat.text = static_cast<std::int32_t>(texts_.size());
          texts_.emplace_back(field->bytes.substr(0, 512));
          break;
        case 7: stat.reference = field->value; break;
        default: break;
      }
    }
    if (fields.damaged()) return std::nullopt;
    return stat;
  }

  /// Reads an entry of the map from ids to the names of events. In /host:metadata, an entry has the
  /// HLO of a module.
  void read_event_name(std::string_view entry) {
    WireFields fields(entry);
    std::uint64_t id = 0;
    while (const auto field = fields.next()) {
      if (field->number == 1) id = field->value;
      if (field->number != 2 || field->type != 2) continue;
      std::string_view name, display;
      WireFields inner(field->bytes);
      while (const auto part = inner.next()) {
        if (part->number == 2) name = part->bytes;
        if (part->number == 4) display = part->bytes;
        if (part->number == 5 && kind() == Plane::kMetadata) read_hlo(part->bytes);
      }
      if (event_names_.size() < kMaxXspaceNames)
        event_names_[id] = std::string(name.empty() ? display : name).substr(0, 512);
    }
  }

  void read_stat_name(std::string_view entry) {
    WireFields fields(entry);
    std::uint64_t id = 0;
    while (const auto field = fields.next()) {
      if (field->number == 1) id = field->value;
      if (field->number != 2 || field->type != 2) continue;
      WireFields inner(field->bytes);
      while (const auto part = inner.next()) {
        if (part->number == 2 && stat_names_.size() < kMaxXspaceNames)
          stat_names_[id] = std::string(part->bytes.substr(0, 512));
      }
    }
  }

  /// Reads the HLO of a module from a statistic: HloProto 1 module; HloModuleProto 1 name, 3
  /// computations; HloComputationProto 2 instructions.
  void read_hlo(std::string_view stat) {
    std::string_view proto;
    for (WireFields fields(stat); const auto field = fields.next();) {
      if (field->number == 6) proto = field->bytes;
    }
    for (WireFields fields(proto); const auto field = fields.next();) {
      if (field->number != 1 || field->type != 2) continue;
      counts_.use("HLO of a module");
      std::string_view module;
      for (WireFields of_module(field->bytes); const auto part = of_module.next();) {
        if (part->number == 1) module = part->bytes;
      }
      for (WireFields of_module(field->bytes); const auto part = of_module.next();) {
        if (part->number != 3 || part->type != 2) continue;
        for (WireFields computation(part->bytes); const auto one = computation.next();) {
          if (one->number == 2 && one->type == 2) read_instruction(module, one->bytes);
        }
      }
    }
  }

  /// HloInstructionProto: 1 name, 2 opcode, 3 shape, 49 replica groups (1 ids), 87 replica groups
  /// in a list of devices (1 groups, 2 iota: 1 number of groups, 2 ranks of a group).
  void read_instruction(std::string_view module, std::string_view message) {
    XspaceCollective made;
    made.module = module;
    std::string_view shape;
    for (WireFields fields(message); const auto field = fields.next();) {
      if (field->number == 1 && field->type == 2) made.name = field->bytes;
      if (field->number == 2 && field->type == 2) made.opcode = field->bytes;
      if (field->number == 3 && field->type == 2) shape = field->bytes;
      if (field->number == 49 && field->type == 2) add_group(field->bytes, made);
      if (field->number != 87 || field->type != 2) continue;
      for (WireFields list(field->bytes); const auto group = list.next();) {
        if (group->number == 1 && group->type == 2) add_group(group->bytes, made);
        if (group->number == 2 && group->type == 2) read_iota(group->bytes, made);
      }
    }
    constexpr std::array<std::string_view, 6> kCollectives{
        "all-reduce", "all-gather",           "reduce-scatter",
        "all-to-all", "collective-broadcast", "collective-permute"};
    std::string_view opcode = made.opcode;
    if (opcode.ends_with("-start")) opcode.remove_suffix(6);
    if (std::find(kCollectives.begin(), kCollectives.end(), opcode) == kCollectives.end()) return;
    XlaShape size;
    add_shape(shape, 0, size);
    made.type = size.type;
    if (size.unknown_type == 0)
      made.bytes = size.bytes;
    else
      counts_.unknown(fmt::format("element type {} of XLA", size.unknown_type));
    counts_.use("collective of XLA");
    if (take_.collective) take_.collective(made);
  }

  static void read_iota(std::string_view list, XspaceCollective& to) {
    constexpr std::uint64_t kMaxXlaRanks = std::uint64_t{1} << 24;
    for (WireFields fields(list); const auto field = fields.next();) {
      if (field->type != 0 || field->value > kMaxXlaRanks) continue;
      if (field->number == 1) to.groups = static_cast<std::int64_t>(field->value);
      if (field->number == 2) to.group_size = static_cast<std::int64_t>(field->value);
    }
  }

  static void add_group(std::string_view group, XspaceCollective& to) {
    std::int64_t size = 0;
    for (WireFields ids(group); const auto id = ids.next();) {
      if (id->number != 1) continue;
      if (id->type == 0) ++size;
      std::string_view packed = id->bytes;
      while (id->type == 2 && !packed.empty() && WireFields::take_varint(packed)) ++size;
    }
    to.group_size = std::max(to.group_size, size);
    ++to.groups;
  }

  [[nodiscard]] std::string_view name_in(
      const std::unordered_map<std::uint64_t, std::string>& names, std::uint64_t id) const {
    const auto found = names.find(id);
    return found == names.end() ? std::string_view() : std::string_view(found->second);
  }
  [[nodiscard]] std::string_view text_of(const Stat& stat) const {
    if (stat.reference != 0) return name_in(stat_names_, stat.reference);
    return stat.text < 0 ? std::string_view()
                         : std::string_view(texts_[static_cast<std::size_t>(stat.text)]);
  }

  void end_plane() {
    const Plane plane = kind();
    if (plane == Plane::kGpu) {
      ++header_.gpus;
      for (const Stat& stat : plane_stats_) {
        const std::string_view name = name_in(stat_names_, stat.id);
        if (name == "device_name" || name == "gpu_device_name" || name == "device_type_string")
          header_.gpu = text_of(stat);
      }
    }
    if (plane == Plane::kMetadata) return;
    if (plane == Plane::kOther) {
      if (!events_.empty())
        counts_.ignore(fmt::format("event of plane {}", plane_), std::ssize(events_));
      return;
    }
    for (const Event& event : events_) report(event);
  }

  void report(const Event& from) {
    XspaceEvent event;
    event.plane = plane_;
    event.line = lines_[from.line];
    event.name = name_in(event_names_, from.name);
    event.start_ns = from.start_ns;
    event.duration_ns = from.duration_ns;
    for (std::size_t s = 0; s < from.stats; ++s) {
      const Stat& stat = stats_[from.first_stat + s];
      const std::string_view name = name_in(stat_names_, stat.id);
      if (name == "correlation_id")
        event.correlation = stat.number;
      else if (name == "step_num")
        event.step = stat.number;
      else if (name == "group_id")
        event.group = stat.number;
      else if (name == "hlo_op")
        event.hlo_op = text_of(stat);
      else if (name == "hlo_module")
        event.hlo_module = text_of(stat);
      else if (name == "tf_op")
        event.tf_op = text_of(stat);
      else if (name == "name")
        event.op_name = text_of(stat);
      else if (name == "kernel_details")
        event.grid = grid_of(text_of(stat));
    }
    if (take_.event) take_.event(event);
  }

  /// Returns the first dimension of the grid in "regs:32 grid:16,1,1 block:512,1,1".
  static std::int64_t grid_of(std::string_view details) {
    const std::size_t at = details.find("grid:");
    if (at == std::string_view::npos) return -1;
    const std::string_view number = details.substr(at + 5);
    return whole_number<std::int64_t>(number.substr(0, number.find_first_not_of("0123456789")))
        .value_or(-1);
  }

  XspaceStream in_;
  const TakeXspace& take_;
  RecordCounts& counts_;
  const std::function<void(double)>& progress_;
  XspaceHeader header_;
  // The plane that is being read.
  std::string plane_;
  std::vector<std::string> lines_;
  std::vector<Event> events_;
  std::vector<Stat> stats_, plane_stats_;
  std::vector<std::string> texts_;
  std::unordered_map<std::uint64_t, std::string> event_names_, stat_names_;
};

}  // namespace

bool is_xspace(std::string_view bytes) {
  // The first field is a plane. The first fields of a plane are its id and its name.
  const auto key = WireFields::take_varint(bytes);
  const auto length = WireFields::take_varint(bytes);
  if (!key || *key != (1 << 3 | 2) || !length || *length < 4) return false;
  for (int i = 0; i < 2; ++i) {
    const auto field = WireFields::take_varint(bytes);
    const auto value = WireFields::take_varint(bytes);
    if (!field || !value) return false;
    if (*field == (1 << 3)) continue;
    if (*field != (2 << 3 | 2) || *value < 4 || *value > 256) return false;
    const std::string_view name = bytes.substr(0, static_cast<std::size_t>(*value));
    return name.starts_with("/host:") || name.starts_with("/device:") ||
           name.starts_with("Task Environment");
  }
  return false;
}

Expected<XspaceHeader> read_xspace(ByteInput& input, const std::string& name,
                                   const TakeXspace& take, RecordCounts& counts,
                                   const std::function<void(double)>& progress) {
  return XspaceReader(input, name, take, counts, progress).read();
}

}  // namespace tutti::core
