// Recognises the form of a GOAL schedule, and writes the text form. goal_text.cpp reads the text
// form, and goal_binary.cpp reads and writes the binary form.

#include "core/formats/goal.h"

#include <algorithm>
#include <cstring>
#include <ostream>

#include "core/formats/goal_readers.h"

namespace tutti::core {
namespace {

/// An input that first returns bytes which were already read from another input, and then the rest
/// of that input.
class PrefixedInput : public ByteInput {
 public:
  PrefixedInput(std::string first, ByteInput& rest) : first_(std::move(first)), rest_(rest) {}
  Expected<std::size_t> read(char* to, std::size_t most) override {
    if (at_ == first_.size()) return rest_.read(to, most);
    const std::size_t some = std::min(most, first_.size() - at_);
    std::memcpy(to, first_.data() + at_, some);
    at_ += some;
    return some;
  }
  [[nodiscard]] double share() const override { return rest_.share(); }

 private:
  std::string first_;
  std::size_t at_ = 0;
  ByteInput& rest_;
};

}  // namespace

bool is_goal_binary(std::string_view first_bytes) {
  return first_bytes.size() >= 8 && goal_number_at<std::uint64_t>(first_bytes.data()) == kGoalMagic;
}

bool is_goal_text(std::string_view first_bytes) {
  std::string_view rest = first_bytes;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  while (!rest.empty()) {
    const std::size_t first = rest.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    rest.remove_prefix(first);
    if (rest.starts_with("num_ranks")) return true;
    const bool block = rest.starts_with("/*");
    if (!block && !rest.starts_with("//")) return false;
    const std::size_t end = rest.find(block ? "*/" : "\n");
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + (block ? 2 : 1));
  }
  return false;
}

Expected<void> read_goal(ByteInput& input, const std::string& name,
                         const std::function<void(std::int64_t ranks)>& begin,
                         const std::function<Expected<void>(GoalRank&&)>& take) {
  std::string start(8, '\0');
  std::size_t have = 0;
  while (have < start.size()) {
    const auto got = input.read(start.data() + have, start.size() - have);
    if (!got) return tl::make_unexpected(got.error());
    if (*got == 0) break;
    have += *got;
  }
  start.resize(have);
  if (is_goal_binary(start)) return read_goal_binary(std::move(start), input, name, begin, take);
  PrefixedInput whole_input(std::move(start), input);
  LineStream lines(whole_input, name);
  return read_goal_text(lines, begin, take);
}

// --- writing ---

GoalTextWriter::GoalTextWriter(std::ostream& out, std::int64_t ranks, const std::string& comment)
    : out_(out) {
  if (!comment.empty()) out_ << "// " << comment << "\n";
  out_ << "num_ranks " << ranks << "\n";
}

void GoalTextWriter::add(const GoalRank& rank) {
  out_ << "\nrank " << rank.rank << " {\n";
  for (std::size_t i = 0; i < rank.operations.size(); ++i) {
    const GoalOperation& one = rank.operations[i];
    out_ << 'l' << i + 1 << ": ";
    if (one.kind == GoalOperation::Kind::kCompute) {
      out_ << "calc " << one.size;
    } else {
      const bool sends = one.kind == GoalOperation::Kind::kSend;
      out_ << (sends ? "send " : "recv ") << one.size << (sends ? "b to " : "b from ") << one.peer
           << " tag " << one.tag;
    }
    // txt2bin reads the attributes in this order.
    if (one.cpu != 0) out_ << " cpu " << int{one.cpu};
    if (one.nic != 0 && one.kind != GoalOperation::Kind::kCompute) out_ << " nic " << int{one.nic};
    out_ << '\n';
  }
  for (const GoalDependency& one : rank.dependencies)
    out_ << 'l' << one.operation + 1 << (one.at_start ? " irequires l" : " requires l")
         << one.on + 1 << '\n';
  out_ << "}\n";
}

}  // namespace tutti::core
