// Converts TE-CCL's flows to a text in MSCCL XML, which is then read like any MSCCL file. A GPU
// forwards a chunk as soon as it has received the chunk. TE-CCL divides time into epochs. Tutti
// uses epochs only for the order of the flows.

#include "core/custom/teccl.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/custom/converted.h"
#include "core/custom/msccl.h"
#include "core/text/document.h"

namespace tutti::core::custom {
namespace {

using JsonText = tutti::core::Value;

constexpr std::int64_t kMaxNumber = 1 << 20;
constexpr std::size_t kMaxTecclGpus = 1 << 12;

struct Flow {
  std::int64_t chunk = 0;
  std::int64_t source = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t epoch = 0;
  Position at;
};

/// Parses "Chunk 0 from 15 traveled over 15->13 in epoch 0 via switches 0".
std::optional<Flow> parse_flow(std::string_view text) {
  Flow flow;
  const auto word = [&](std::string_view expected) {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
    return true;
  };
  const auto number = [&](std::int64_t& into) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (error != std::errc() || into < 0 || into > kMaxNumber) return false;
    text.remove_prefix(stop - text.data());
    return true;
  };
  const bool whole = word("Chunk ") && number(flow.chunk) && word(" from ") &&
                     number(flow.source) && word(" traveled over ") && number(flow.from) &&
                     word("->") && number(flow.to) && word(" in epoch ") && number(flow.epoch) &&
                     (text.empty() || text.starts_with(" via switches "));
  return whole ? std::optional(flow) : std::nullopt;
}

class TecclText : public AlgorithmText {
 public:
  TecclText(std::shared_ptr<const AlgorithmText> made, std::string file)
      : made_(std::move(made)), file_(std::move(file)) {}
  [[nodiscard]] const std::string& name() const override { return made_->name(); }
  [[nodiscard]] CollectiveKind kind() const override { return made_->kind(); }
  [[nodiscard]] std::vector<std::string> parameters() const override { return {}; }
  [[nodiscard]] std::shared_ptr<const CustomAlgorithm> for_shape(
      const AlgorithmShape& shape, const std::vector<AlgorithmParameter>& set,
      Problems& problems) const override {
    auto made = made_->for_shape(shape, set, problems);
    if (!made) return nullptr;
    return std::make_shared<ConvertedAlgorithm>(
        std::move(made), fmt::format("{}: Tutti uses the epochs of the file only to order "
                                     "messages; the simulation determines the times",
                                     file_));
  }

 private:
  std::shared_ptr<const AlgorithmText> made_;
  std::string file_;
};

class TecclReader {
 public:
  TecclReader(std::string file, Problems& problems) : file_(std::move(file)), problems_(problems) {}

  /// Returns the text in MSCCL XML; "" if there are problems.
  std::string read(std::string_view text) {
    const std::size_t before = problems_.size();
    const Document document = parse_json(text, file_, problems_);
    if (problems_.size() == before) read_flows(document.root);
    if (problems_.size() == before) number_gpus();
    if (problems_.size() == before) make_steps();
    return problems_.size() == before ? xml() : "";
  }

 private:
  template <class... Args>
  void add(ProblemCode code, Position at, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add({code, "7-Flows"}, {file_, at.line, at.column}, format,
                  std::forward<Args>(args)...);
  }

  void read_flows(const JsonText& root) {
    const JsonText* list = nullptr;
    for (const JsonText::Field& field : root.fields) {
      if (field.name == "7-Flows" || field.name == "6-Flows") list = &field.value;
    }
    if (list == nullptr || list->kind != JsonText::Kind::kList)
      return add(ProblemCode::kMissing, root.at,
                 "\"7-Flows\" is missing, or is not a list of flows");
    for (const JsonText& item : list->items) {
      if (problems_.full()) return;
      auto flow = item.kind == JsonText::Kind::kString ? parse_flow(item.text) : std::nullopt;
      if (!flow) {
        add(item.text.find(" with volume ") != std::string::npos ? ProblemCode::kUnsupported
                                                                 : ProblemCode::kSyntax,
            item.at,
            "{}: expected a flow of a whole chunk, such as \"Chunk 0 from 15 traveled over 15->13 "
            "in epoch 0\"",
            describe(item));
        return;
      }
      flow->at = item.at;
      flows_.push_back(*flow);
    }
    if (flows_.empty()) add(ProblemCode::kMissing, list->at, "there are no flows");
    std::stable_sort(flows_.begin(), flows_.end(),
                     [](const Flow& a, const Flow& b) { return a.epoch < b.epoch; });
  }

  void number_gpus() {
    for (const Flow& flow : flows_) {
      ranks_[flow.source] = 0;
      chunks_ = std::max(chunks_, flow.chunk + 1);
    }
    if (ranks_.size() > kMaxTecclGpus || chunks_ > (1 << 16))
      return add(ProblemCode::kTooLarge, flows_.front().at, "{} GPUs with {} chunks each",
                 ranks_.size(), chunks_);
    int next = 0;
    for (auto& [gpu, rank] : ranks_) rank = next++;
  }

  struct OutStep {
    std::int64_t chunk = 0;
    int after_block = -1;
    int after_step = -1;
  };
  struct Block {
    int peer = 0;
    bool sends = false;
    std::vector<OutStep> steps;
  };
  struct Arrival {
    int block = -1;
    int step = -1;
    std::int64_t epoch = -1;
  };

  int block(int rank, int peer, bool sends) {
    auto& blocks = blocks_[rank];
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].peer == peer && blocks[i].sends == sends) return static_cast<int>(i);
    }
    blocks.push_back({peer, sends, {}});
    return static_cast<int>(blocks.size()) - 1;
  }

  void make_steps() {
    blocks_.resize(ranks_.size());
    std::vector<std::map<std::int64_t, Arrival>> arrived(ranks_.size());
    for (const Flow& flow : flows_) {
      if (problems_.full()) return;
      const auto from = ranks_.find(flow.from);
      const auto to = ranks_.find(flow.to);
      if (from == ranks_.end() || to == ranks_.end() || flow.from == flow.to) {
        add(ProblemCode::kUnsupported, flow.at,
            "{}->{}: a flow must connect two different GPUs that contribute chunks", flow.from,
            flow.to);
        continue;
      }
      const std::int64_t chunk = ranks_[flow.source] * chunks_ + flow.chunk;
      OutStep send{chunk};
      if (flow.from != flow.source) {
        const auto& here = arrived[from->second];
        const auto has = here.find(chunk);
        if (has == here.end() || has->second.epoch >= flow.epoch) {
          add(ProblemCode::kConflict, flow.at,
              "GPU {} sends chunk {} of GPU {} in epoch {}, before the chunk has arrived",
              flow.from, flow.chunk, flow.source, flow.epoch);
          continue;
        }
        send.after_block = has->second.block;
        send.after_step = has->second.step;
      }
      const int receiver = block(to->second, from->second, false);
      auto& steps = blocks_[to->second][receiver].steps;
      const Arrival arrival{receiver, static_cast<int>(steps.size()), flow.epoch};
      if (flow.to == flow.source || !arrived[to->second].emplace(chunk, arrival).second) {
        add(ProblemCode::kConflict, flow.at, "GPU {} gets chunk {} of GPU {} again", flow.to,
            flow.chunk, flow.source);
        continue;
      }
      steps.push_back({chunk});
      const int sender = block(from->second, to->second, true);
      blocks_[from->second][sender].steps.push_back(send);
    }
  }

  [[nodiscard]] std::string xml() const {
    const std::size_t gpus = ranks_.size();
    std::string text = fmt::format(
        "<algo name=\"te-ccl\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{}\" ngpus=\"{}\" "
        "coll=\"allgather\" inplace=\"1\">\n",
        static_cast<std::int64_t>(gpus) * chunks_, gpus);
    for (std::size_t rank = 0; rank < gpus; ++rank) {
      text += fmt::format("<gpu id=\"{}\" s_chunks=\"0\">\n", rank);
      for (std::size_t b = 0; b < blocks_[rank].size(); ++b) {
        const Block& one = blocks_[rank][b];
        text += fmt::format("<tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"0\">\n", b,
                            one.sends ? one.peer : -1, one.sends ? -1 : one.peer);
        for (std::size_t s = 0; s < one.steps.size(); ++s) {
          const OutStep& step = one.steps[s];
          text += fmt::format(
              "<step s=\"{}\" type=\"{}\" srcbuf=\"o\" srcoff=\"{}\" dstbuf=\"o\" dstoff=\"{}\" "
              "cnt=\"1\" depid=\"{}\" deps=\"{}\" hasdep=\"0\"/>\n",
              s, one.sends ? "s" : "r", step.chunk, step.chunk, step.after_block, step.after_step);
        }
        text += "</tb>\n";
      }
      text += "</gpu>\n";
    }
    return text + "</algo>\n";
  }

  std::string file_;
  Problems& problems_;
  std::vector<Flow> flows_;
  std::map<std::int64_t, int> ranks_;
  std::int64_t chunks_ = 1;
  std::vector<std::vector<Block>> blocks_;
};

}  // namespace

bool is_teccl(std::string_view text) {
  return text.find("\"7-Flows\"") != std::string_view::npos ||
         text.find("\"6-Flows\"") != std::string_view::npos;
}

std::shared_ptr<const AlgorithmText> read_teccl(std::string_view text, const std::string& file,
                                                Problems& problems) {
  const std::string xml = TecclReader(file, problems).read(text);
  if (xml.empty()) return nullptr;
  auto made = read_msccl(xml, file, problems);
  return made ? std::make_shared<TecclText>(std::move(made), file) : nullptr;
}

}  // namespace tutti::core::custom
