// Converts the trees of a ForestColl file to a forest of core/synthesis, and writes this forest as
// a text in Tutti's language. Trees from ForestColl and trees from `tutti synthesize` are therefore
// executed in the same way. GPUs have names such as (0, 'GPU', 3), and are numbered as ranks in
// ascending order of these names. Every GPU is the root of trees, which together have
// nchunkspernode chunks. A tree lists its edges in breadth-first order. The file also lists the
// switches on the path of each edge. Tutti ignores the switches in the file and uses the routes of
// the cluster.

#include "core/custom/forestcoll.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/custom/converted.h"
#include "core/nccl/topology/xml_text.h"
#include "core/synthesis/forest.h"
#include "core/synthesis/forest_text.h"

namespace tutti::core::custom {
namespace {

constexpr int kMaxForestGpus = 512;
constexpr std::int64_t kMaxTreeChunks = 1 << 16;  // per GPU

/// Orders names by the numbers in them, so that (2, 'GPU', 0) comes before (10, 'GPU', 0).
struct ByNumbers {
  bool operator()(std::string_view whole_a, std::string_view whole_b) const {
    std::string_view a = whole_a;
    std::string_view b = whole_b;
    while (!a.empty() && !b.empty()) {
      if (is_digit(a.front()) && is_digit(b.front())) {
        const std::string_view x = digits(a);
        const std::string_view y = digits(b);
        if (x.size() != y.size()) return x.size() < y.size();
        if (x != y) return x < y;
        continue;
      }
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
    if (a.size() != b.size()) return a.size() < b.size();
    return whole_a < whole_b;  // "1" and "01" are different names
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  /// Removes the digits at the beginning of the text and returns them without leading zeros.
  static std::string_view digits(std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    std::string_view found = text.substr(0, end);
    text.remove_prefix(end);
    while (found.size() > 1 && found.front() == '0') found.remove_prefix(1);
    return found;
  }
};

class ForestReader {
 public:
  ForestReader(const nccl::XmlText& xml, Problems& problems)
      : xml_(xml), problems_(problems), before_(problems.size()) {}

  std::optional<synthesis::Forest> read() {
    forest_.trees =
        xml_.integer(xml_.root(), "nchunkspernode", 1, kMaxTreeChunks, problems_).value_or(1);
    number_gpus();
    if (good()) read_trees();
    if (good()) count_chunks();
    return good() ? std::optional(std::move(forest_)) : std::nullopt;
  }

 private:
  using Element = pugi::xml_node;

  /// True if no problem has been found in this file so far. Problems of the scenario do not count,
  /// unless there are so many that no further problem can be reported.
  [[nodiscard]] bool good() const { return problems_.size() == before_ && !problems_.full(); }

  template <class... Args>
  void complain(ProblemCode code, const Element& element, const char* attribute,
                fmt::format_string<Args...> format, Args&&... args) {
    xml_.complain(problems_, code, element, attribute, format, std::forward<Args>(args)...);
  }

  void number_gpus() {
    for (const Element& tree : xml_.root().children()) {
      if (problems_.full()) return;
      if (std::string_view(tree.name()) != "tree") {
        complain(ProblemCode::kUnknownField, tree, "", "<{}>: expected <tree>", tree.name());
        continue;
      }
      if (const auto root = xml_.text(tree, "root", problems_)) ranks_[*root] = 0;
    }
    if (!good()) return;
    if (ranks_.size() < 2 || ranks_.size() > kMaxForestGpus) {
      return complain(ranks_.size() < 2 ? ProblemCode::kTooSmall : ProblemCode::kTooLarge,
                      xml_.root(), "",
                      "the number of GPUs that are roots of trees must be from 2 to {} (got {})",
                      kMaxForestGpus, ranks_.size());
    }
    for (auto& [name, rank] : ranks_) rank = forest_.ranks++;
    forest_.contributions = synthesis::one_of_each(forest_.ranks);
  }

  void read_trees() {
    for (const Element& tree : xml_.root().children()) {
      if (problems_.full()) return;
      read_tree(tree);
    }
  }

  void read_tree(const Element& element) {
    synthesis::SpanningTree tree;
    tree.root = ranks_.find(element.attribute("root").value())->second;
    tree.copies = xml_.integer(element, "nchunks", 1, kMaxTreeChunks, problems_).value_or(1);
    tree.parent.assign(forest_.ranks, -1);
    tree.order = {tree.root};
    std::vector<bool> reached(forest_.ranks, false);
    reached[tree.root] = true;
    for (const Element& send : element.children()) {
      if (problems_.full()) return;
      if (std::string_view(send.name()) != "send") {
        complain(ProblemCode::kUnknownField, send, "", "<{}>: expected <send>", send.name());
        continue;
      }
      const auto from = gpu(send, "src");
      const auto to = gpu(send, "dst");
      if (!from || !to) continue;
      if (!reached[*from]) {
        complain(ProblemCode::kConflict, send, "src",
                 "src=\"{}\": no earlier edge of this tree leads to this node; list the edges from "
                 "the root outwards",
                 send.attribute("src").value());
      } else if (reached[*to]) {
        complain(ProblemCode::kConflict, send, "dst",
                 "dst=\"{}\": the tree already reaches this node; a tree reaches each GPU once",
                 send.attribute("dst").value());
      } else {
        reached[*to] = true;
        tree.parent[*to] = *from;
        tree.order.push_back(*to);
      }
    }
    const auto missing = std::find(reached.begin(), reached.end(), false);
    if (missing != reached.end() && good()) {
      const auto rank = static_cast<int>(missing - reached.begin());
      complain(ProblemCode::kMissing, element, "send", "the tree does not reach {}", name_of(rank));
    }
    forest_.all.push_back(std::move(tree));
  }

  std::optional<int> gpu(const Element& send, const char* attribute) {
    const auto name = xml_.text(send, attribute, problems_);
    if (!name) return std::nullopt;
    const auto found = ranks_.find(*name);
    if (found != ranks_.end()) return found->second;
    complain(ProblemCode::kUnknownName, send, attribute,
             "{}=\"{}\" is not the root of a tree; every GPU must be the root of trees", attribute,
             *name);
    return std::nullopt;
  }

  [[nodiscard]] std::string name_of(int rank) const {
    const auto found = std::find_if(ranks_.begin(), ranks_.end(),
                                    [&](const auto& one) { return one.second == rank; });
    return found->first;
  }

  void count_chunks() {
    std::vector<std::int64_t> chunks(forest_.ranks, 0);
    for (const synthesis::SpanningTree& tree : forest_.all) chunks[tree.root] += tree.copies;
    for (int rank = 0; rank < forest_.ranks; ++rank) {
      if (chunks[rank] == forest_.trees) continue;
      complain(ProblemCode::kConflict, xml_.root(), "nchunkspernode",
               "the trees of {} have {} chunks, but nchunkspernode is {}", name_of(rank),
               chunks[rank], forest_.trees);
    }
  }

  const nccl::XmlText& xml_;
  Problems& problems_;
  std::size_t before_;  ///< number of problems found in the scenario before this file is read
  std::map<std::string, int, ByNumbers> ranks_;
  synthesis::Forest forest_;
};

class ForestText : public AlgorithmText {
 public:
  ForestText(std::shared_ptr<const synthesis::Forest> forest,
             std::shared_ptr<const AlgorithmText> made, std::string file)
      : forest_(std::move(forest)),
        made_(std::move(made)),
        file_(std::move(file)),
        name_(std::filesystem::path(file_).stem().string()) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] CollectiveKind kind() const override { return made_->kind(); }
  [[nodiscard]] std::vector<std::string> parameters() const override { return made_->parameters(); }
  [[nodiscard]] std::shared_ptr<const AlgorithmText> for_collective(
      CollectiveKind kind) const override {
    if (kind != CollectiveKind::kAllGather && kind != CollectiveKind::kReduceScatter &&
        kind != CollectiveKind::kAllReduce)
      return nullptr;
    Problems none;
    return make(forest_, kind, file_, none);
  }
  [[nodiscard]] std::shared_ptr<const CustomAlgorithm> for_shape(
      const AlgorithmShape& shape, const std::vector<AlgorithmParameter>& set,
      Problems& problems) const override {
    if (shape.ranks != forest_->ranks) {
      problems.add({ProblemCode::kConflict}, {file_, 0, 0},
                   "the file describes trees of {} GPUs, but the cluster has {} replicas; use a "
                   "cluster with {}",
                   forest_->ranks, shape.ranks, forest_->ranks);
      return nullptr;
    }
    // Lines of the generated text mean nothing to the user, so they are removed from the problems.
    Problems of_generated;
    auto made = made_->for_shape(shape, set, of_generated);
    if (!of_generated.empty()) {
      const tl::unexpected<Error> error = of_generated.take();
      for (Problem problem : error.value().problems()) {
        problem.where = {file_, 0, 0};
        problems.add(std::move(problem));
      }
    }
    if (!made) return nullptr;
    return std::make_shared<ConvertedAlgorithm>(
        std::move(made),
        fmt::format("{}: messages take the routes of this cluster, and not the paths of the file",
                    file_));
  }

  static std::shared_ptr<const AlgorithmText> make(std::shared_ptr<const synthesis::Forest> forest,
                                                   CollectiveKind kind, const std::string& file,
                                                   Problems& problems) {
    auto made = core::read_algorithm(
        synthesis::text_of(*forest, kind, {.name = "forestcoll", .remarks = {}}), file, problems);
    if (!made) return nullptr;
    return std::make_shared<ForestText>(std::move(forest), std::move(made), file);
  }

 private:
  std::shared_ptr<const synthesis::Forest> forest_;
  std::shared_ptr<const AlgorithmText> made_;
  std::string file_;
  std::string name_;
};

/// Returns the name of the XML document's root element, after any declarations and comments; "" if
/// the text is not XML.
std::string_view root_element(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  constexpr std::pair<std::string_view, std::string_view> kSkipped[] = {
      {"<?", "?>"}, {"<!--", "-->"}, {"<!", ">"}};
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    const auto* const skipped =
        std::find_if(std::begin(kSkipped), std::end(kSkipped),
                     [&](const auto& one) { return text.starts_with(one.first); });
    if (skipped == std::end(kSkipped)) break;
    const std::size_t end = text.find(skipped->second, skipped->first.size());
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + skipped->second.size());
  }
  if (!text.starts_with('<')) return "";
  text.remove_prefix(1);
  return text.substr(0, text.find_first_of(" \t\r\n/>"));
}

}  // namespace

bool is_forestcoll(std::string_view text) { return root_element(text) == "Algo"; }

std::shared_ptr<const AlgorithmText> read_forestcoll(std::string_view text, const std::string& file,
                                                     Problems& problems) {
  const Expected<nccl::XmlText> xml = nccl::XmlText::parse(text, file, "Algo");
  if (!xml) {
    problems.add(xml.error());
    return nullptr;
  }
  auto forest = ForestReader(*xml, problems).read();
  if (!forest) return nullptr;
  return ForestText::make(std::make_shared<const synthesis::Forest>(*std::move(forest)),
                          CollectiveKind::kAllGather, file, problems);
}

}  // namespace tutti::core::custom
