// A file has one or several blocks. A block begins with a line of columns, before which a line may
// state its ranks:
//
//     [rank0 ~ rank127]                                    or  [ pp_stage1: [rank16, rank17, …] ]
//     comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,…
//     CommType.all_reduce,CommGroup.tp_group,2,16777216,forward.MegatronRowLinear,None,None,,None,…
//
// Enumerators are written with or without their type ("CommType."), depending on the release of
// Python. The size of a computation is a list of shapes in parentheses, which is not needed.

#include "core/formats/aicb.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/number.h"
#include "core/formats/line_stream.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kMaxAicbBytes = std::int64_t{1} << 46;
constexpr std::int64_t kMaxAicbRanks = std::int64_t{1} << 24;

constexpr std::array<std::string_view, 9> kAicbColumns{"comm_type", "comm_group", "comm_group_size",
                                                       "msg_size",  "stage",      "dst",
                                                       "src",       "additional", "_elapsed_time"};
enum class AicbColumn {
  kType,
  kGroup,
  kGroupSize,
  kBytes,
  kStage,
  kDestination,
  kSource,
  kAdditional,
  kElapsed
};

struct AicbType {
  std::string_view name;
  AicbOperation::Kind kind;
  AicbOperation::Collective collective = AicbOperation::Collective::kAllReduce;
};
constexpr std::array kAicbTypes{
    AicbType{"all_reduce", AicbOperation::Kind::kCollective, AicbOperation::Collective::kAllReduce},
    AicbType{"all_gather", AicbOperation::Kind::kCollective, AicbOperation::Collective::kAllGather},
    AicbType{"all_gather_into_tensor", AicbOperation::Kind::kCollective,
             AicbOperation::Collective::kAllGather},
    AicbType{"reduce_scatter", AicbOperation::Kind::kCollective,
             AicbOperation::Collective::kReduceScatter},
    AicbType{"reduce_scatter_tensor", AicbOperation::Kind::kCollective,
             AicbOperation::Collective::kReduceScatter},
    AicbType{"all_to_all", AicbOperation::Kind::kCollective, AicbOperation::Collective::kAllToAll},
    AicbType{"broadcast", AicbOperation::Kind::kCollective, AicbOperation::Collective::kBroadcast},
    AicbType{"reduce", AicbOperation::Kind::kCollective, AicbOperation::Collective::kReduce},
    AicbType{"barrier", AicbOperation::Kind::kCollective, AicbOperation::Collective::kAllReduce},
    AicbType{"isend", AicbOperation::Kind::kSend},
    AicbType{"irecv", AicbOperation::Kind::kReceive},
    AicbType{"computation", AicbOperation::Kind::kComputation},
    AicbType{"epoch_end", AicbOperation::Kind::kIterationEnd}};

using AicbGroup = AicbOperation::Group;
constexpr std::array<std::pair<std::string_view, AicbGroup>, 9> kAicbGroups{
    {{"dp_group", AicbGroup::kData},
     {"tp_group", AicbGroup::kTensor},
     {"pp_group", AicbGroup::kPipeline},
     {"ep_group", AicbGroup::kExpert},
     {"ep_dp_group", AicbGroup::kDataOfExperts},
     {"ep_tp_group", AicbGroup::kTensorOfExperts},
     {"embedding_group", AicbGroup::kEmbedding},
     {"all", AicbGroup::kAll},
     {"all_nodes", AicbGroup::kAll}}};

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Splits a line at the commas outside of parentheses and quotation marks.
std::vector<std::string_view> aicb_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  std::size_t begin = 0;
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ',';
    if (i < line.size() && c == '"') is_quoted = !is_quoted;
    if (c == '(') ++depth;
    if (c == ')' && depth > 0) --depth;
    if (c != ',' || (i < line.size() && (depth > 0 || is_quoted))) continue;
    std::string_view cell = without_blanks(line.substr(begin, i - begin));
    if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"')
      cell = cell.substr(1, cell.size() - 2);
    cells.push_back(cell);
    begin = i + 1;
  }
  return cells;
}

std::string_view without_type(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool is_none(std::string_view cell) { return cell.empty() || cell == "None" || cell == "-1"; }

bool is_columns_line(std::string_view line) {
  const auto cells = aicb_cells(line);
  const auto has = [&](std::string_view name) {
    return std::find(cells.begin(), cells.end(), name) != cells.end();
  };
  return has("comm_type") && has("comm_group") && has("msg_size");
}

class AicbReader {
 public:
  AicbReader(ByteInput& input, const std::string& name) : lines_(input, name) {}

  Expected<void> read(const std::function<Expected<void>(const AicbBlock&)>& begin,
                      const std::function<Expected<void>(const AicbOperation&)>& take) {
    std::optional<AicbBlock> ranks;
    bool has_columns = false;
    while (const auto line = lines_.next()) {
      const std::string_view text = without_blanks(*line);
      if (text.empty()) continue;
      if (text.starts_with('[')) {
        const auto block = read_ranks(text);
        if (!block) return tl::make_unexpected(block.error());
        ranks = *block;
        has_columns = false;
        continue;
      }
      if (is_columns_line(text)) {
        if (auto read = read_columns(text); !read) return read;
        has_columns = true;
        if (auto taken = begin(ranks.value_or(AicbBlock{lines_.number(), 0, 0})); !taken)
          return taken;
        continue;
      }
      if (!has_columns)
        return lines_.fail({ProblemCode::kSyntax, "AICB"}, 0, "expected the line of columns: {}",
                           fmt::join(kAicbColumns, ","));
      const auto operation = read_operation(text);
      if (!operation) return tl::make_unexpected(operation.error());
      if (auto taken = take(*operation); !taken) return taken;
    }
    if (lines_.error()) return tl::make_unexpected(*lines_.error());
    if (!has_columns)
      return lines_.fail({ProblemCode::kMissing, "AICB"}, 0,
                         "the file ends before its first operation; is it cut off?");
    return {};
  }

 private:
  /// Reads a line such as "[rank0 ~ rank127]" or "[ pp_stage0: [rank0, rank1] ]".
  [[nodiscard]] Expected<AicbBlock> read_ranks(std::string_view text) const {
    std::vector<std::int64_t> ranks;
    constexpr std::string_view kRank = "rank";
    for (std::size_t at = text.find(kRank); at != std::string_view::npos;
         at = text.find(kRank, at + 1)) {
      const std::string_view rest = text.substr(at + kRank.size());
      const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
      const auto rank = whole_number<std::int64_t>(rest.substr(0, digits));
      if (!rank || *rank >= kMaxAicbRanks)
        return lines_.fail({ProblemCode::kInvalid, "AICB"}, 0, "\"{}\": expected a rank below {}",
                           rest.substr(0, 20), kMaxAicbRanks);
      ranks.push_back(*rank);
    }
    const bool is_range = text.find('~') != std::string_view::npos;
    if (ranks.empty() || (is_range && (ranks.size() != 2 || ranks[1] < ranks[0])))
      return lines_.fail({ProblemCode::kSyntax, "AICB"}, 0,
                         "\"{}\": expected the ranks that execute the following operations, as "
                         "\"[rank0 ~ rank7]\" or \"[ pp_stage0: [rank0, rank1] ]\"",
                         text.substr(0, 80));
    if (is_range) return AicbBlock{lines_.number(), ranks[0], ranks[1] - ranks[0] + 1};
    for (std::size_t i = 1; i < ranks.size(); ++i) {
      if (ranks[i] != ranks[i - 1] + 1)
        return lines_.fail(
            {ProblemCode::kUnsupported, "AICB"}, 0,
            "rank {} follows rank {}; the ranks of a pipeline stage must be consecutive", ranks[i],
            ranks[i - 1]);
    }
    return AicbBlock{lines_.number(), ranks.front(), std::ssize(ranks)};
  }

  Expected<void> read_columns(std::string_view text) {
    const auto cells = aicb_cells(text);
    width_ = cells.size();
    for (std::size_t c = 0; c < kAicbColumns.size(); ++c) {
      const auto found = std::find(cells.begin(), cells.end(), kAicbColumns[c]);
      place_[c] = found == cells.end() ? -1 : found - cells.begin();
    }
    return {};
  }

  [[nodiscard]] Expected<std::int64_t> number(std::string_view cell, AicbColumn column,
                                              std::int64_t least, std::int64_t most) const {
    // pandas writes whole numbers as "4096.0" if a column has empty cells.
    if (cell.ends_with(".0")) cell.remove_suffix(2);
    const auto value = whole_number<std::int64_t>(cell);
    if (value && *value >= least && *value <= most) return *value;
    return lines_.fail(
        {ProblemCode::kInvalid, "AICB"}, 0, "{} is \"{}\"; expected a whole number from {} to {}",
        kAicbColumns[static_cast<std::size_t>(column)], cell.substr(0, 40), least, most);
  }

  [[nodiscard]] Expected<AicbOperation> read_operation(std::string_view text) const {
    const auto cells = aicb_cells(text);
    if (cells.size() != width_)
      return lines_.fail(
          {ProblemCode::kSyntax, "AICB"}, 0,
          "this row has {} cells, but the line of columns has {}; is the file cut off?",
          cells.size(), width_);
    const auto cell = [&](AicbColumn column) {
      const std::ptrdiff_t place = place_[static_cast<std::size_t>(column)];
      return place < 0 ? std::string_view() : cells[place];
    };
    AicbOperation made;
    made.line = lines_.number();
    made.name = cell(AicbColumn::kStage).substr(0, 200);
    const std::string_view type_name = without_type(cell(AicbColumn::kType));
    const auto type = std::find_if(kAicbTypes.begin(), kAicbTypes.end(),
                                   [&](const AicbType& one) { return one.name == type_name; });
    if (type == kAicbTypes.end())
      return lines_.fail({ProblemCode::kUnknownName, "AICB"}, 0, "comm_type is \"{}\"; expected {}",
                         cell(AicbColumn::kType).substr(0, 40), type_names());
    made.kind = type->kind;
    made.collective = type->collective;
    if (const std::string_view elapsed = cell(AicbColumn::kElapsed); !is_none(elapsed)) {
      double value = 0;
      const auto [end, status] =
          std::from_chars(elapsed.data(), elapsed.data() + elapsed.size(), value);
      constexpr double kMost = 1e15;
      if (status != std::errc() || end != elapsed.data() + elapsed.size() || !(value >= 0) ||
          value > kMost)
        return lines_.fail({ProblemCode::kInvalid, "AICB"}, 0,
                           "_elapsed_time is \"{}\"; expected a time", elapsed.substr(0, 40));
      made.elapsed = value;
    }
    if (made.kind == AicbOperation::Kind::kIterationEnd ||
        made.kind == AicbOperation::Kind::kComputation)
      return made;
    const bool is_barrier = type_name == "barrier";
    const auto bytes = is_barrier && is_none(cell(AicbColumn::kBytes))
                           ? Expected<std::int64_t>(4)
                           : number(cell(AicbColumn::kBytes), AicbColumn::kBytes, 0, kMaxAicbBytes);
    if (!bytes) return tl::make_unexpected(bytes.error());
    made.bytes = is_barrier ? 4 : *bytes;
    if (made.kind != AicbOperation::Kind::kCollective) return with_peer(made, cell);
    return with_group(made, cell);
  }

  /// Adds the direction of a send or receive.
  template <class Cell>
  Expected<AicbOperation> with_peer(AicbOperation made, const Cell& cell) const {
    const std::string_view which = cell(AicbColumn::kAdditional);
    const bool sends = made.kind == AicbOperation::Kind::kSend;
    const std::string_view next = sends ? "send_next" : "recv_next";
    const std::string_view previous = sends ? "send_prev" : "recv_prev";
    if (which != next && which != previous)
      return lines_.fail({ProblemCode::kUnknownName, "AICB"}, 0,
                         "additional is \"{}\"; expected {} or {}", which.substr(0, 40), next,
                         previous);
    made.to_next = which == next;
    return made;
  }

  template <class Cell>
  Expected<AicbOperation> with_group(AicbOperation made, const Cell& cell) const {
    const std::string_view name = without_type(cell(AicbColumn::kGroup));
    const auto group = std::find_if(kAicbGroups.begin(), kAicbGroups.end(),
                                    [&](const auto& one) { return one.first == name; });
    if (group == kAicbGroups.end())
      return lines_.fail({ProblemCode::kUnknownName, "AICB"}, 0,
                         "comm_group is \"{}\"; expected dp_group, tp_group, pp_group, ep_group, "
                         "ep_dp_group, ep_tp_group, embedding_group or all",
                         cell(AicbColumn::kGroup).substr(0, 40));
    made.group = group->second;
    if (const auto size = cell(AicbColumn::kGroupSize); !is_none(size)) {
      const auto value = number(size, AicbColumn::kGroupSize, 1, kMaxAicbRanks);
      if (!value) return tl::make_unexpected(value.error());
      made.group_size = *value;
    }
    // A broadcast of AICB always begins at the first rank of the group.
    if (made.collective == AicbOperation::Collective::kReduce) {
      if (const auto root = cell(AicbColumn::kDestination); !is_none(root)) {
        const auto value = number(root, AicbColumn::kDestination, 0, kMaxAicbRanks);
        if (!value) return tl::make_unexpected(value.error());
        made.root = *value;
      }
    }
    return made;
  }

  static std::string type_names() {
    std::vector<std::string_view> names;
    for (const AicbType& one : kAicbTypes) names.push_back(one.name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  LineStream lines_;
  std::array<std::ptrdiff_t, kAicbColumns.size()> place_{};
  std::size_t width_ = 0;
};

}  // namespace

std::string_view to_string(AicbOperation::Group group) {
  for (const auto& [name, known] : kAicbGroups) {
    if (known == group) return name;
  }
  return "";
}

bool is_aicb(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  // A line of ranks may precede the columns.
  for (int line = 0; line < 4 && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = without_blanks(text.substr(0, end));
    if (is_columns_line(one)) return true;
    if (!one.empty() && !(one.starts_with('[') && one.find("rank") != std::string_view::npos))
      return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

Expected<void> read_aicb(ByteInput& input, const std::string& name,
                         const std::function<Expected<void>(const AicbBlock&)>& begin,
                         const std::function<Expected<void>(const AicbOperation&)>& take) {
  return AicbReader(input, name).read(begin, take);
}

}  // namespace tutti::core
