// Reads MSCCL's XML: the head, the steps of each thread block, and the dependencies between thread
// blocks. Afterwards, connect() finds the lane at the other end of each send and receive: the
// thread block of the peer with the same channel.

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/custom/msccl_program.h"

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
    xml_.complain(problems_, code, element, attribute, format, std::forward<Args>(args)...);
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

std::shared_ptr<const MscclProgram> read_msccl_program(const nccl::XmlText& xml,
                                                       const std::string& file,
                                                       Problems& problems) {
  return MscclReader(xml, problems).read(file);
}

}  // namespace tutti::core::custom
