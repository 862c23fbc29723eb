// Reads and writes the binary form of GOAL. It begins with a table of the offsets of all ranks. The
// operations of each rank follow. Each operation contains the indices of the operations that wait
// for it.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/formats/goal_readers.h"

namespace tutti::core {
namespace {

class BinaryReader {
 public:
  BinaryReader(ByteInput& input, const std::string& name,
               const std::function<Expected<void>(GoalRank&&)>& take)
      : input_(input), name_(name), take_(take) {}

  Expected<void> read(std::string start, const std::function<void(std::int64_t)>& begin) {
    ahead_ = std::move(start);
    std::string header;
    if (auto got = bytes(kGoalHeaderBytes, header); !got) return got;
    ranks_ = goal_number_at<std::uint32_t>(header.data() + 8);
    if (ranks_ < 1 || ranks_ > kMaxGoalRanks)
      return fail("{} ranks: expected 1 to {}", ranks_, kMaxGoalRanks);
    std::string table;
    if (auto got = bytes(static_cast<std::size_t>(ranks_) * 16, table); !got) return got;
    begin(ranks_);
    for (std::int64_t rank = 0; rank < ranks_; ++rank) {
      const auto* const place = table.data() + rank * 16;
      const auto from = goal_number_at<std::uint64_t>(place),
                 to = goal_number_at<std::uint64_t>(place + 8);
      if (from > to || from + kGoalOffsetsFrom < at_ ||
          to > std::numeric_limits<std::int64_t>::max())
        return fail("rank {} is at bytes {} to {} of the file, but must follow the previous rank",
                    rank, from, to);
      if (auto got = skip(from + kGoalOffsetsFrom - at_); !got) return got;
      std::string data;
      if (auto got = bytes(static_cast<std::size_t>(to - from), data); !got) return got;
      if (auto got = take_rank(rank, data); !got) return got;
    }
    return {};
  }

 private:
  template <class... Args>
  tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) const {
    return tl::make_unexpected(Error::request(
        {ProblemCode::kInvalid, "GOAL"},
        fmt::format("{} (at byte {})", fmt::format(format, std::forward<Args>(args)...), at_),
        {name_, 0, 0}));
  }

  /// Reads `count` bytes. Memory is allocated step by step as bytes are read, because `count` comes
  /// from the file and may be wrong.
  Expected<void> bytes(std::size_t count, std::string& to) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    while (to.size() < count) {
      const std::size_t most = std::min(kPiece, count - to.size());
      if (!ahead_.empty()) {
        const std::size_t some = std::min(most, ahead_.size());
        to.append(ahead_, 0, some);
        ahead_.erase(0, some);
        continue;
      }
      const std::size_t had = to.size();
      to.resize(had + most);
      const auto got = input_.read(to.data() + had, most);
      if (!got) return tl::make_unexpected(got.error());
      to.resize(had + *got);
      if (*got == 0) {
        at_ += to.size();
        return fail("the file ends early");
      }
    }
    at_ += count;
    return {};
  }
  Expected<void> skip(std::uint64_t count) {
    while (count > 0) {
      std::string some;
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(count, 1U << 20));
      if (auto got = bytes(piece, some); !got) return got;
      count -= piece;
    }
    return {};
  }

  Expected<void> take_rank(std::int64_t rank, const std::string& data) {
    if (data.size() < 8) return fail("rank {} has {} bytes", rank, data.size());
    const std::uint64_t nodes = goal_number_at<std::uint32_t>(data.data());
    const std::uint64_t roots = goal_number_at<std::uint32_t>(data.data() + 4);
    const std::uint64_t first = 8 + 4 * roots, appendix = first + kGoalNodeBytes * nodes;
    if (roots > nodes || nodes > kMaxGoalOperations || appendix > data.size())
      return fail("rank {} has {} bytes, which is too few for its {} operations", rank, data.size(),
                  nodes);
    GoalRank one;
    one.rank = rank;
    one.operations.resize(nodes);
    std::vector<std::uint32_t> dependencies(nodes, 0);
    for (std::uint64_t n = 0; n < nodes; ++n) {
      const char* const node = data.data() + first + kGoalNodeBytes * n;
      if (auto got = take_operation(rank, n, node, one.operations[n]); !got) return got;
      for (const bool at_start : {false, true}) {
        const std::uint64_t count = goal_number_at<std::uint32_t>(node + (at_start ? 31 : 23));
        const std::uint64_t index = goal_number_at<std::uint32_t>(node + (at_start ? 35 : 27));
        if (count > 0 && appendix + 4 * (index + count) > data.size())
          return fail(
              "operation {} of rank {}: the list of successors extends past the data of the rank",
              n, rank);
        for (std::uint64_t i = 0; i < count; ++i) {
          const auto after =
              goal_number_at<std::uint32_t>(data.data() + appendix + 4 * (index + i));
          if (after >= nodes)
            return fail("operation {} of rank {}: the successor {} does not exist", n, rank, after);
          ++dependencies[after];
          one.dependencies.push_back(
              {static_cast<std::int32_t>(after), static_cast<std::int32_t>(n), at_start});
          if (one.dependencies.size() > data.size())
            return fail("rank {} lists more dependencies than it has bytes", rank);
        }
      }
    }
    for (std::uint64_t n = 0; n < nodes; ++n) {
      const auto stated = goal_number_at<std::uint32_t>(data.data() + first + kGoalNodeBytes * n);
      if (stated != dependencies[n])
        return fail(
            "operation {} of rank {} states {} dependencies, but {} operations list it as a "
            "successor",
            n, rank, stated, dependencies[n]);
    }
    return take_(std::move(one));
  }

  Expected<void> take_operation(std::int64_t rank, std::uint64_t n, const char* node,
                                GoalOperation& to) {
    const auto type = static_cast<unsigned char>(node[4]);
    const auto peer = goal_number_at<std::uint32_t>(node + 5);
    const auto size = goal_number_at<std::uint64_t>(node + 9);
    const auto tag = goal_number_at<std::uint32_t>(node + 17);
    if (type < 1 || type > 3)
      return fail(
          "operation {} of rank {} is of type {}: expected 1 (send), 2 (receive) or 3 "
          "(compute)",
          n, rank, type);
    if (size > static_cast<std::uint64_t>(kMaxGoalSize))
      return fail("operation {} of rank {} has size {}; the largest allowed size is {}", n, rank,
                  size, kMaxGoalSize);
    to.kind = static_cast<GoalOperation::Kind>(type);
    to.size = static_cast<std::int64_t>(size);
    to.cpu = static_cast<std::uint8_t>(node[21]);
    to.nic = static_cast<std::uint8_t>(node[22]);
    if (to.kind == GoalOperation::Kind::kCompute) return {};
    const bool receives = to.kind == GoalOperation::Kind::kReceive;
    to.peer = receives && peer == kAnyInGoalBinary ? GoalOperation::kAny : std::int64_t{peer};
    to.tag = tag == kAnyInGoalBinary ? GoalOperation::kAny : std::int64_t{tag};
    if (to.tag == GoalOperation::kAny && !receives)
      return fail(
          "operation {} of rank {} is a send without a tag; only receives may accept any tag", n,
          rank);
    if (to.peer >= ranks_ || to.peer == rank)
      return fail("operation {} of rank {} has an invalid peer: rank {}", n, rank, to.peer);
    return {};
  }

  ByteInput& input_;
  const std::string& name_;
  const std::function<Expected<void>(GoalRank&&)>& take_;
  std::string ahead_;  ///< bytes that were read from the input but not used yet
  std::uint64_t at_ = 0;
  std::int64_t ranks_ = 0;
};

template <class Number>
void put(std::string& to, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    to += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFF);
}

}  // namespace

Expected<void> read_goal_binary(std::string start, ByteInput& input, const std::string& name,
                                const std::function<void(std::int64_t)>& begin,
                                const std::function<Expected<void>(GoalRank&&)>& take) {
  return BinaryReader(input, name, take).read(std::move(start), begin);
}

std::string goal_binary(const GoalRank& rank) {
  const std::size_t nodes = rank.operations.size();
  // after[0] lists, for each operation, the operations that wait for its end; after[1] lists those
  // that wait for its start.
  std::array<std::vector<std::vector<std::uint32_t>>, 2> after{
      std::vector<std::vector<std::uint32_t>>(nodes),
      std::vector<std::vector<std::uint32_t>>(nodes)};
  std::vector<std::uint32_t> dependencies(nodes, 0);
  for (const GoalDependency& one : rank.dependencies) {
    after[one.at_start ? 1 : 0][one.on].push_back(static_cast<std::uint32_t>(one.operation));
    ++dependencies[one.operation];
  }
  std::string data, appendix;
  put(data, static_cast<std::uint32_t>(nodes));
  put(data, static_cast<std::uint32_t>(std::count(dependencies.begin(), dependencies.end(), 0U)));
  for (std::size_t n = 0; n < nodes; ++n) {
    if (dependencies[n] == 0) put(data, static_cast<std::uint32_t>(n));
  }
  std::uint32_t listed = 0;
  for (std::size_t n = 0; n < nodes; ++n) {
    const GoalOperation& one = rank.operations[n];
    put(data, dependencies[n]);
    put(data, static_cast<std::uint8_t>(one.kind));
    put(data, static_cast<std::uint32_t>(one.peer));
    put(data, static_cast<std::uint64_t>(one.size));
    put(data, static_cast<std::uint32_t>(one.tag));
    put(data, one.cpu);
    put(data, one.nic);
    for (const auto& lists : after) {
      put(data, static_cast<std::uint32_t>(lists[n].size()));
      put(data, listed);
      for (const std::uint32_t successor : lists[n]) put(appendix, successor);
      listed += static_cast<std::uint32_t>(lists[n].size());
    }
  }
  return data + appendix;
}

void GoalBinaryHeader::add(const GoalRank& rank, std::size_t bytes) {
  sizes_.push_back(bytes);
  for (const GoalOperation& one : rank.operations) {
    max_cpu_ = std::max(max_cpu_, one.cpu);
    max_nic_ = std::max(max_nic_, one.nic);
  }
}

std::string GoalBinaryHeader::bytes() const {
  std::string header;
  put(header, kGoalMagic);
  put(header, static_cast<std::uint32_t>(sizes_.size()));
  put(header, max_cpu_);
  put(header, max_nic_);
  std::uint64_t at = kGoalHeaderBytes + sizes_.size() * 16 - kGoalOffsetsFrom;
  for (const std::uint64_t size : sizes_) {
    put(header, at);
    at += size;
    put(header, at);
  }
  return header;
}

}  // namespace tutti::core
