// In the file, offsets and sizes are numbers of chunks; schedule() multiplies them by the elements
// per chunk. All chunks of a file must have the same size, so buffers are padded to a multiple of
// the number of chunks.

#include "core/custom/msccl.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/nccl/topology/xml_text.h"

namespace tutti::core::custom {
namespace {

constexpr std::int64_t kMaxGpus = 1 << 16;
constexpr std::int64_t kMaxBlocks = 1024;
constexpr std::int64_t kMaxChunksOfFile = std::int64_t{1} << 30;

struct MscclKind {
  const char* name;
  CollectiveKind kind;
};
constexpr std::array kMscclKinds{MscclKind{"allreduce", CollectiveKind::kAllReduce},
                                 MscclKind{"allgather", CollectiveKind::kAllGather},
                                 MscclKind{"reduce_scatter", CollectiveKind::kReduceScatter},
                                 MscclKind{"alltoall", CollectiveKind::kAllToAll}};

struct MscclStepType {
  const char* name;
  StepKind kind;
};
constexpr std::array kMscclSteps{MscclStepType{"s", StepKind::kSend},
                                 MscclStepType{"r", StepKind::kReceive},
                                 MscclStepType{"rcs", StepKind::kReceiveSend},
                                 MscclStepType{"rrc", StepKind::kReceiveReduce},
                                 MscclStepType{"rrs", StepKind::kReceiveReduceSend},
                                 MscclStepType{"rrcs", StepKind::kReceiveReduceCopySend},
                                 MscclStepType{"cpy", StepKind::kCopy},
                                 MscclStepType{"re", StepKind::kReduce},
                                 MscclStepType{"nop", StepKind::kNop}};

/// has_source(): true if a step of this kind reads its own rank's memory. has_target(): true if a
/// step of this kind writes it.
bool has_source(StepKind kind) {
  return kind != StepKind::kReceive && kind != StepKind::kReceiveSend && kind != StepKind::kNop;
}
bool has_target(StepKind kind) {
  return kind != StepKind::kSend && kind != StepKind::kReceiveReduceSend && kind != StepKind::kNop;
}

/// A step of the file. The ranges of `step` are in units of chunks. `input_source` is true if the
/// source is in the input buffer; `input_target` is true if the target is.
struct MscclStep {
  Step step;
  bool input_source = false;
  bool input_target = false;
  Location place;
};

struct MscclBlock {
  std::int64_t id = 0;
  std::int32_t send = -1;
  std::int32_t receive = -1;
  std::int64_t channel = 0;
  std::vector<MscclStep> steps;
};

struct MscclGpu {
  std::int64_t scratch = 0;
  std::vector<MscclBlock> blocks;
};

struct MscclProgram {
  std::string name;
  std::string file;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::string protocol;
  bool in_place = false;
  std::int64_t chunks = 1;
  std::vector<MscclGpu> gpus;
};

class MscclSchedule : public Schedule {
 public:
  MscclSchedule(std::shared_ptr<const MscclProgram> program, std::int64_t elements,
                std::int64_t input_shift, Engine engine)
      : program_(std::move(program)),
        chunk_(elements / program_->chunks),
        input_shift_(input_shift),
        engine_(engine) {}

  [[nodiscard]] std::int32_t ranks() const override {
    return static_cast<std::int32_t>(program_->gpus.size());
  }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return static_cast<std::int32_t>(gpu(rank).blocks.size());
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return static_cast<std::int64_t>(block(rank, lane).steps.size());
  }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    return gpu(rank).scratch * chunk_;
  }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const MscclStep& one = block(rank, lane).steps[index];
    Step step = one.step;
    step.source = scaled(step.source, one.input_source);
    step.target = scaled(step.target, one.input_target);
    if (step.source.count > 0 && !(step.kind == StepKind::kCopy && step.source == step.target))
      return step;
    Step nothing;
    nothing.wait = step.wait;
    return nothing;
  }

 private:
  [[nodiscard]] const MscclGpu& gpu(Rank rank) const { return program_->gpus[rank]; }
  [[nodiscard]] const MscclBlock& block(Rank rank, Lane lane) const {
    return gpu(rank).blocks[lane];
  }
  [[nodiscard]] Range scaled(Range range, bool input) const {
    range.offset = range.offset * chunk_ + (input ? input_shift_ : 0);
    range.count *= chunk_;
    return range;
  }

  std::shared_ptr<const MscclProgram> program_;
  std::int64_t chunk_;
  std::int64_t input_shift_;
  Engine engine_;
};

class MscclAlgorithm : public CustomAlgorithm {
 public:
  MscclAlgorithm(std::shared_ptr<const MscclProgram> program, const AlgorithmShape& shape)
      : program_(std::move(program)), shape_(shape) {}

  [[nodiscard]] CollectiveKind kind() const override { return program_->kind; }
  [[nodiscard]] const AlgorithmShape& shape() const override { return shape_; }
  [[nodiscard]] bool reads_inputs() const override { return !program_->in_place; }
  [[nodiscard]] std::int64_t padded(std::int64_t elements) const override {
    return (elements + program_->chunks - 1) / program_->chunks * program_->chunks;
  }
  [[nodiscard]] std::string note() const override {
    if (program_->protocol.empty() || program_->protocol == "Simple") return "";
    return fmt::format(
        "{} uses protocol {}, but Tutti simulates its messages with the times of protocol Simple",
        program_->name, program_->protocol);
  }
  [[nodiscard]] std::optional<std::int64_t> even_elements() const override {
    return program_->chunks;
  }
  [[nodiscard]] std::unique_ptr<Schedule> schedule(std::int64_t elements, std::int64_t input_shift,
                                                   Engine engine, std::int64_t) const override {
    return std::make_unique<MscclSchedule>(program_, elements, input_shift, engine);
  }
  [[nodiscard]] std::int64_t total_steps() const override {
    std::int64_t steps = 0;
    for (const MscclGpu& gpu : program_->gpus) {
      for (const MscclBlock& block : gpu.blocks)
        steps += static_cast<std::int64_t>(block.steps.size());
    }
    return steps;
  }
  [[nodiscard]] std::optional<Location> place_of(Rank rank, Lane lane,
                                                 std::int64_t index) const override {
    if (rank < 0 || static_cast<std::size_t>(rank) >= program_->gpus.size()) return std::nullopt;
    const auto& blocks = program_->gpus[rank].blocks;
    if (lane < 0 || static_cast<std::size_t>(lane) >= blocks.size()) return std::nullopt;
    const auto& steps = blocks[lane].steps;
    if (index < 0 || static_cast<std::size_t>(index) >= steps.size()) return std::nullopt;
    return steps[index].place;
  }
  [[nodiscard]] std::string why_not_folded() const override {
    return fmt::format("{}: the file lists the steps of every GPU separately", program_->file);
  }

 private:
  std::shared_ptr<const MscclProgram> program_;
  AlgorithmShape shape_;
};

class MscclText : public AlgorithmText {
 public:
  explicit MscclText(std::shared_ptr<const MscclProgram> program) : program_(std::move(program)) {}
  [[nodiscard]] const std::string& name() const override { return program_->name; }
  [[nodiscard]] CollectiveKind kind() const override { return program_->kind; }
  [[nodiscard]] std::vector<std::string> parameters() const override { return {}; }
  [[nodiscard]] std::shared_ptr<const CustomAlgorithm> for_shape(
      const AlgorithmShape& shape, const std::vector<AlgorithmParameter>& set,
      Problems& problems) const override {
    const Location whole{program_->file, 0, 0};
    if (!set.empty()) {
      problems.add({ProblemCode::kUnknownName}, whole,
                   "MSCCL's XML has no parameters, so \"{}\" cannot be set; remove the field set",
                   set.front().name);
      return nullptr;
    }
    if (static_cast<std::size_t>(shape.ranks) != program_->gpus.size()) {
      problems.add({ProblemCode::kConflict, "algo.ngpus"}, whole,
                   "the file has the steps of {} GPUs, but {} replicas take part; use a cluster of "
                   "that size",
                   program_->gpus.size(), shape.ranks);
      return nullptr;
    }
    return std::make_shared<MscclAlgorithm>(program_, shape);
  }

 private:
  std::shared_ptr<const MscclProgram> program_;
};

class MscclReader {
 public:
  MscclReader(const nccl::XmlText& xml, Problems& problems) : xml_(xml), problems_(problems) {}

  std::shared_ptr<const MscclProgram> read(const std::string& file) {
    const std::size_t before = problems_.size();
    program_->file = file;
    read_head();
    if (problems_.size() == before) read_gpus();
    if (problems_.size() == before) connect();
    return problems_.size() == before ? program_ : nullptr;
  }

 private:
  using Element = pugi::xml_node;

  template <class... Args>
  void complain(ProblemCode code, const Element& element, const char* attribute,
                fmt::format_string<Args...> format, Args&&... args) {
    std::string field = element.name();
    if (*attribute != 0) field += fmt::format(".{}", attribute);
    problems_.add({code, std::move(field)}, xml_.where(element), format,
                  std::forward<Args>(args)...);
  }

  std::int64_t number(const Element& element, const char* attribute, std::int64_t least,
                      std::int64_t most) {
    return xml_.integer(element, attribute, least, most, problems_).value_or(least);
  }
  std::int64_t number(const Element& element, const char* attribute, std::int64_t least,
                      std::int64_t most, std::int64_t missing) {
    return xml_.integer(element, attribute, least, most, missing, problems_).value_or(missing);
  }

  void read_head() {
    const Element algo = xml_.root();
    program_->name = algo.attribute("name").value();
    if (program_->name.empty())
      program_->name = std::filesystem::path(program_->file).stem().string();
    const std::string coll = algo.attribute("coll").value();
    const auto kind = std::find_if(kMscclKinds.begin(), kMscclKinds.end(),
                                   [&](auto& k) { return coll == k.name; });
    if (kind == kMscclKinds.end()) {
      return complain(ProblemCode::kUnsupported, algo, "coll",
                      "coll=\"{}\": expected allreduce, allgather, reduce_scatter or alltoall",
                      coll);
    }
    program_->kind = kind->kind;
    const std::string protocol = algo.attribute("proto").value();
    if (!protocol.empty() && protocol != "Simple" && protocol != "LL" && protocol != "LL128")
      complain(ProblemCode::kUnknownName, algo, "proto",
               "proto=\"{}\": expected Simple, LL or LL128", protocol);
    program_->protocol = protocol;
    const std::string op = algo.attribute("redop").value();
    if (!op.empty() && op != "sum" && reduces(kind->kind))
      complain(ProblemCode::kUnsupported, algo, "redop",
               "redop=\"{}\": the scenario sets the reduction, strategy {{ reduction: … }}; use a "
               "file whose redop is sum",
               op);
    program_->in_place = number(algo, "inplace", 0, 1, 0) == 1;
    program_->chunks = number(algo, "nchunksperloop", 1, kMaxChunksOfFile);
    ngpus_ = number(algo, "ngpus", 1, kMaxGpus);
    if (has_blocks(program_->kind) && program_->chunks % ngpus_ != 0)
      complain(ProblemCode::kConflict, algo, "nchunksperloop",
               "{} chunks cannot be divided into {} blocks, one per GPU", program_->chunks, ngpus_);
  }

  void read_gpus() {
    for (const Element& element : xml_.root().children()) {
      if (problems_.full()) return;
      if (std::string_view(element.name()) != "gpu") {
        complain(ProblemCode::kUnknownField, element, "", "<{}>: expected <gpu>", element.name());
        continue;
      }
      const auto id = number(element, "id", 0, ngpus_ - 1);
      if (id != static_cast<std::int64_t>(program_->gpus.size())) {
        complain(ProblemCode::kConflict, element, "id",
                 "GPUs must be listed in ascending order: expected {}", program_->gpus.size());
        return;
      }
      program_->gpus.emplace_back();
      read_gpu(element, static_cast<Rank>(id));
    }
    if (static_cast<std::int64_t>(program_->gpus.size()) != ngpus_)
      complain(ProblemCode::kConflict, xml_.root(), "ngpus", "ngpus=\"{}\", but the file lists {}",
               ngpus_, program_->gpus.size());
  }

  void read_gpu(const Element& element, Rank rank) {
    MscclGpu& gpu = program_->gpus.back();
    gpu.scratch = number(element, "s_chunks", 0, kMaxChunksOfFile, 0);
    std::map<std::int64_t, Lane> lanes;
    for (const Element& tb : element.children("tb")) {
      MscclBlock block;
      block.id = number(tb, "id", 0, kMaxBlocks - 1);
      block.send = static_cast<std::int32_t>(number(tb, "send", -1, ngpus_ - 1));
      block.receive = static_cast<std::int32_t>(number(tb, "recv", -1, ngpus_ - 1));
      block.channel = number(tb, "chan", 0, kMaxBlocks - 1);
      if (block.send == rank || block.receive == rank)
        complain(ProblemCode::kConflict, tb, "send", "a GPU cannot send to itself; use cpy");
      if (!lanes.emplace(block.id, static_cast<Lane>(gpu.blocks.size())).second)
        complain(ProblemCode::kDuplicate, tb, "id", "thread block {} is listed twice", block.id);
      gpu.blocks.push_back(std::move(block));
    }
    // A step may wait for a step of a later thread block, so waits are read after all thread
    // blocks.
    std::size_t lane = 0;
    for (const Element& tb : element.children("tb")) {
      std::int64_t expected = 0;
      for (const Element& step : tb.children()) {
        if (problems_.full()) return;
        read_step(step, rank, gpu.blocks[lane], expected++, lanes);
      }
      ++lane;
    }
    check_dependencies(element, gpu);
  }

  void read_step(const Element& element, Rank rank, MscclBlock& block, std::int64_t expected,
                 const std::map<std::int64_t, Lane>& lanes) {
    if (std::string_view(element.name()) != "step")
      return complain(
          ProblemCode::kUnsupported, element, "",
          "<{}>: expected <step>; the MSCCL runtimes read no other elements in a thread block",
          element.name());
    if (number(element, "s", 0, kMaxChunksOfFile) != expected)
      return complain(ProblemCode::kConflict, element, "s",
                      "steps must be listed in ascending order: expected {}", expected);
    const std::string type = element.attribute("type").value();
    const auto found = std::find_if(kMscclSteps.begin(), kMscclSteps.end(),
                                    [&](auto& t) { return type == t.name; });
    if (found == kMscclSteps.end())
      return complain(ProblemCode::kUnknownName, element, "type",
                      "type=\"{}\": expected one of s, r, rcs, rrc, rrs, rrcs, cpy, re, nop", type);
    MscclStep one;
    one.place = xml_.where(element);
    Step& step = one.step;
    step.kind = found->kind;
    read_dependency(element, step, lanes);
    if (step.kind != StepKind::kNop) {
      const std::int64_t count = number(element, "cnt", 1, kMaxChunksOfFile);
      if (has_source(step.kind))
        one.input_source = read_place(element, "srcbuf", "srcoff", rank, count, step.source);
      if (has_target(step.kind))
        one.input_target = read_place(element, "dstbuf", "dstoff", rank, count, step.target);
      if (!has_source(step.kind)) step.source = step.target, one.input_source = one.input_target;
      if (!has_target(step.kind)) step.target = step.source, one.input_target = one.input_source;
    }
    if (step.kind == StepKind::kReduce) step.inputs = 1, step.accumulate = true;
    if (sends(step.kind) && block.send < 0)
      complain(ProblemCode::kConflict, element, "type",
               "thread block {} has no peer to send to (send=\"-1\")", block.id);
    if (receives(step.kind) && block.receive < 0)
      complain(ProblemCode::kConflict, element, "type",
               "thread block {} has no peer to receive from (recv=\"-1\")", block.id);
    block.steps.push_back(std::move(one));
  }

  void read_dependency(const Element& element, Step& step,
                       const std::map<std::int64_t, Lane>& lanes) {
    const std::int64_t on = number(element, "depid", -1, kMaxBlocks - 1, -1);
    if (on < 0) return;
    const std::int64_t index = number(element, "deps", 0, kMaxChunksOfFile);
    const auto lane = lanes.find(on);
    if (lane == lanes.end())
      return complain(ProblemCode::kUnknownName, element, "depid", "the GPU has no thread block {}",
                      on);
    step.wait = {lane->second, index + 1};
  }

  void check_dependencies(const Element& element, const MscclGpu& gpu) {
    for (const MscclBlock& block : gpu.blocks) {
      for (const MscclStep& one : block.steps) {
        const Wait& wait = one.step.wait;
        if (wait.lane < 0) continue;
        const auto& awaited = gpu.blocks[wait.lane];
        if (wait.count <= static_cast<std::int64_t>(awaited.steps.size())) continue;
        problems_.add({ProblemCode::kConflict, "step.deps"}, one.place,
                      "thread block {} has {} steps, so step {} does not exist", awaited.id,
                      awaited.steps.size(), wait.count - 1);
      }
    }
    static_cast<void>(element);
  }

  /// Reads a range of chunks. Returns true if the range is in the input buffer.
  bool read_place(const Element& element, const char* buffer, const char* offset, Rank rank,
                  std::int64_t count, Range& range) {
    const std::string name = element.attribute(buffer).value();
    const std::int64_t first = number(element, offset, 0, kMaxChunksOfFile);
    std::int64_t chunks = program_->chunks;
    const std::int64_t block = chunks / ngpus_;
    std::int64_t begin = 0;
    bool input = false;
    if (name == "s") {
      range.buffer = Buffer::kScratch;
      chunks = program_->gpus.back().scratch;
    } else if (name == "i") {
      input = !program_->in_place;
      if (program_->kind == CollectiveKind::kAllGather) begin = rank * block, chunks = block;
    } else if (name == "o") {
      if (program_->kind == CollectiveKind::kReduceScatter) begin = rank * block, chunks = block;
    } else {
      complain(ProblemCode::kUnknownName, element, buffer, "{}=\"{}\": expected i, o or s", buffer,
               name);
      return false;
    }
    if (first + count > chunks) {
      complain(ProblemCode::kTooLarge, element, offset,
               "chunks {} to {} are outside the {} chunks of buffer {}", first, first + count - 1,
               chunks, name);
    }
    range.offset = begin + first;
    range.count = count;
    return input;
  }

  /// Connects the messages. Each channel from one GPU to another has exactly one thread block that
  /// sends and one that receives. The k-th send matches the k-th receive.
  void connect() {
    using Connection = std::array<std::int64_t, 3>;  // from, to, channel
    std::map<Connection, Lane> senders;
    std::map<Connection, Lane> receivers;
    for (std::size_t rank = 0; rank < program_->gpus.size(); ++rank) {
      const auto own = static_cast<std::int64_t>(rank);
      const std::vector<MscclBlock>& blocks = program_->gpus[rank].blocks;
      for (std::size_t lane = 0; lane < blocks.size(); ++lane) {
        const MscclBlock& block = blocks[lane];
        const bool good =
            (block.send < 0 ||
             senders.emplace(Connection{own, block.send, block.channel}, static_cast<Lane>(lane))
                 .second) &&
            (block.receive < 0 ||
             receivers
                 .emplace(Connection{block.receive, own, block.channel}, static_cast<Lane>(lane))
                 .second);
        if (!good)
          problems_.add(
              {ProblemCode::kDuplicate, "tb.chan"}, {program_->file, 0, 0},
              "GPU {}: thread block {} and another thread block have the same peer on channel {}",
              rank, block.id, block.channel);
      }
    }
    for (std::size_t rank = 0; rank < program_->gpus.size(); ++rank) {
      const auto own = static_cast<std::int64_t>(rank);
      for (MscclBlock& block : program_->gpus[rank].blocks) {
        for (MscclStep& one : block.steps) {
          if (sends(one.step.kind))
            find_peer(receivers, {own, block.send, block.channel}, block.send, one, "receives",
                      one.step.to);
          if (receives(one.step.kind))
            find_peer(senders, {block.receive, own, block.channel}, block.receive, one, "sends",
                      one.step.from);
          if (problems_.full()) return;
        }
      }
    }
  }

  void find_peer(const std::map<std::array<std::int64_t, 3>, Lane>& lanes,
                 const std::array<std::int64_t, 3>& connection, std::int32_t rank,
                 const MscclStep& one, const char* does, Peer& peer) {
    const auto found = lanes.find(connection);
    if (found != lanes.end()) {
      peer = Peer::at(rank, found->second);
      return;
    }
    problems_.add({ProblemCode::kConflict, "tb.chan"}, one.place,
                  "no thread block of GPU {} {} on channel {}", rank, does, connection[2]);
  }

  const nccl::XmlText& xml_;
  Problems& problems_;
  std::int64_t ngpus_ = 1;
  std::shared_ptr<MscclProgram> program_ = std::make_shared<MscclProgram>();
};

}  // namespace

bool is_msccl(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

std::shared_ptr<const AlgorithmText> read_msccl(std::string_view text, const std::string& file,
                                                Problems& problems) {
  const Expected<nccl::XmlText> xml = nccl::XmlText::parse(text, file, "algo");
  if (!xml) {
    problems.add(xml.error());
    return nullptr;
  }
  auto program = MscclReader(*xml, problems).read(file);
  return program ? std::make_shared<MscclText>(std::move(program)) : nullptr;
}

}  // namespace tutti::core::custom
